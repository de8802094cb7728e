"""The tour with the pydantic models that datamodel-code-generator makes, and httpx to send them."""

import time
from datetime import timedelta
from typing import TypeVar

import around
import httpx
from pydantic import BaseModel
from service_client import (
    AgeRange,
    AspectRatio,
    Asset,
    BackgroundSelection,
    CompleteUpload,
    CreateUpload,
    FashionModel,
    FashionModelOrOperation,
    FashionModelPatch,
    FashionModelSelection,
    FashionModelWrite,
    Gender,
    Generation,
    GenerationStatus,
    ImageFormat,
    Operation,
    OperationStatus,
    OutputMode,
    Product,
    ProductPhotography,
    ProductWrite,
    SelectedFashionModel,
    Team,
    TransparentBackground,
    UnprocessableWriteProblem,
    UploadContentType,
    UploadSession,
)

Answer = TypeVar("Answer", bound=BaseModel)

client = httpx.Client(
    base_url=around.BASE_URL, headers={"Authorization": f"Bearer {around.API_KEY}"}, trust_env=False, timeout=30
)


def read(kind: type[Answer], path: str) -> tuple[Answer, str | None]:
    """GET; return what was read, and its Retry-After."""
    response = client.get(path).raise_for_status()
    return kind.model_validate_json(response.content), response.headers.get("Retry-After")


def send(kind: type[Answer], method: str, path: str, body: BaseModel, key: str) -> Answer:
    """POST or PATCH a body."""
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    content = body.model_dump_json(exclude_unset=True)
    return kind.model_validate_json(client.request(method, path, content=content, headers=headers).content)


def bring_in_photo() -> Asset:
    """Upload the photo."""
    announced = CreateUpload(content_type=UploadContentType.image_jpeg, size_bytes=len(around.PHOTO))
    session = send(UploadSession, "POST", "/uploads", announced, "upload")
    recipe = session.upload
    token = around.send_bytes(recipe.method, str(recipe.url), recipe.headers.root, around.PHOTO)
    path = f"/uploads/{session.id}/complete"
    asset = send(Asset, "POST", path, CompleteUpload(upload_token=token), "complete")
    assert asset.created_at.root.utcoffset() == timedelta(0)
    return asset


def make_product(photo: Asset) -> Product:
    """Make a Product of the photo."""
    body = ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
    return send(Product, "POST", "/products", body, "product")


def make_fashion_model(photo: Asset) -> FashionModel:
    """Have a fashion model made."""
    body = FashionModelWrite(name="Kim", age_range=AgeRange.AGE_25_TO_35, gender=Gender.female, asset_ids=[photo.id])
    return result_of(send(Operation, "POST", "/fashion-models", body, "fashion model"))


def result_of(operation: Operation) -> FashionModel:
    """Wait for an Operation as long as Retry-After says; return the fashion model that came of it."""
    for _ in range(around.MOST_POLLS):
        operation, retry_after = read(Operation, f"/operations/{operation.id}")
        if operation.status is OperationStatus.completed and operation.result is not None:
            return read(FashionModel, f"/fashion-models/{operation.result.id}")[0]
        time.sleep(around.seconds_to_wait(retry_after))
    raise AssertionError("the fashion model does not come to be")


def change(model: FashionModel, photo: Asset) -> tuple[FashionModel, list[str]]:
    """Change a fashion model at once, and then by an Operation; tell what each change was answered with."""
    path = f"/fashion-models/{model.id}"
    renamed = send(FashionModelOrOperation, "PATCH", path, FashionModelPatch(name="Kim Lee"), "rename").root
    admitted = send(FashionModelOrOperation, "PATCH", path, FashionModelPatch(asset_ids=[photo.id]), "remake").root
    assert isinstance(renamed, FashionModel)
    assert isinstance(admitted, Operation)
    return result_of(admitted), [renamed.object, admitted.object]


def photoshoot(product: Product, model: FashionModel) -> ProductPhotography:
    """Return the order of a photoshoot."""
    return ProductPhotography(
        output_mode=OutputMode.photoshoot,
        product_ids=[product.id],
        fashion_model=FashionModelSelection(SelectedFashionModel(type="selected", fashion_model_id=model.id)),
        background=BackgroundSelection(TransparentBackground(type="transparent")),
        aspect_ratio=AspectRatio.RATIO_4_TO_5,
        output_format=ImageFormat.webp,
    )


def take_pictures(order: ProductPhotography) -> tuple[Generation, int]:
    """Have the photoshoot made, and wait for it as long as Retry-After says; tell how often it was looked at."""
    path = "/generations/product-photography"
    ordered = send(Generation, "POST", path, order, "photoshoot")
    assert ordered == send(Generation, "POST", path, order, "photoshoot")
    for polls in range(1, around.MOST_POLLS):
        generation, retry_after = read(Generation, f"/generations/{ordered.id}")
        if generation.status is GenerationStatus.completed:
            return generation, polls
        time.sleep(around.seconds_to_wait(retry_after))
    raise AssertionError("the photoshoot does not end")


def download_pictures(generation: Generation) -> list[list[object]]:
    """Fetch the picture of each slot; return format, size in pixels and whether the file is as large as was said."""
    pictures: list[list[object]] = []
    for output in generation.outputs:
        assert output.asset is not None
        asset, _ = read(Asset, f"/assets/{output.asset.id}")
        is_whole = len(around.download(str(asset.url))) == asset.size_bytes
        pictures.append([asset.format.value, asset.width, asset.height, is_whole])
    return pictures


def provoke(order: ProductPhotography) -> str:
    """Order what cannot be, and tell the code of the problem."""
    order.image_count = 3
    path = "/generations/product-photography"
    return send(UnprocessableWriteProblem, "POST", path, order, "too few").code.value


def main() -> None:
    """Take the tour."""
    photo = bring_in_photo()
    product = make_product(photo)
    model, changes = change(make_fashion_model(photo), photo)
    order = photoshoot(product, model)
    generation, polls = take_pictures(order)
    pictures = download_pictures(generation)
    assert generation.request.output_mode is not None
    around.tell(
        photo=[photo.format.value, photo.width, photo.height],
        product_photos=len(product.asset_ids),
        fashion_model=model.name,
        changes=changes,
        echo=generation.request.output_mode.value,
        pictures=pictures,
        polls=polls,
        problem=provoke(order),
        credits=read(Team, "/team")[0].credits,
    )


main()
