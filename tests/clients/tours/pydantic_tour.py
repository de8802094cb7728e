"""The tour with the pydantic models that datamodel-code-generator makes, and httpx to send them."""

from datetime import timedelta
from typing import TypeVar

import around
import httpx
import service_client as service
from pydantic import BaseModel

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


def bring_in_photo() -> service.Asset:
    announced = service.CreateUpload(content_type=service.UploadContentType.image_jpeg, size_bytes=len(around.PHOTO))
    session = send(service.UploadSession, "POST", "/uploads", announced, "upload")
    recipe = session.upload
    token = around.send_bytes(recipe.method, str(recipe.url), recipe.headers.root, around.PHOTO)
    path = f"/uploads/{session.id}/complete"
    asset = send(service.Asset, "POST", path, service.CompleteUpload(upload_token=token), "complete")
    assert asset.created_at.root.utcoffset() == timedelta(0)
    return asset


def make_product(photo: service.Asset) -> service.Product:
    body = service.ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
    return send(service.Product, "POST", "/products", body, "product")


def make_fashion_model(photo: service.Asset) -> service.FashionModel:
    body = service.FashionModelWrite(
        name="Kim", age_range=service.AgeRange.AGE_25_TO_35, gender=service.Gender.female, asset_ids=[photo.id]
    )
    return result_of(send(service.Operation, "POST", "/fashion-models", body, "fashion model"))


def result_of(ordered: service.Operation) -> service.FashionModel:
    """Wait for an Operation; return the fashion model that came of it."""
    operation, _ = around.wait_for(lambda: read(service.Operation, f"/operations/{ordered.id}"))
    assert operation.status is service.OperationStatus.completed
    assert operation.result is not None
    return read(service.FashionModel, f"/fashion-models/{operation.result.id}")[0]


def change(model: service.FashionModel, photo: service.Asset) -> tuple[service.FashionModel, list[str]]:
    """Change a fashion model at once, and then by an Operation; tell what each change was answered with."""
    path = f"/fashion-models/{model.id}"
    renamed = send(
        service.FashionModelOrOperation, "PATCH", path, service.FashionModelPatch(name="Kim Lee"), "rename"
    ).root
    admitted = send(
        service.FashionModelOrOperation, "PATCH", path, service.FashionModelPatch(asset_ids=[photo.id]), "remake"
    ).root
    assert isinstance(renamed, service.FashionModel)
    assert isinstance(admitted, service.Operation)
    return result_of(admitted), [renamed.object, admitted.object]


def photoshoot(product: service.Product, model: service.FashionModel) -> service.ProductPhotography:
    return service.ProductPhotography(
        output_mode=service.OutputMode.photoshoot,
        product_ids=[product.id],
        fashion_model=service.FashionModelSelection(
            service.SelectedFashionModel(type="selected", fashion_model_id=model.id)
        ),
        background=service.BackgroundSelection(service.TransparentBackground(type="transparent")),
        aspect_ratio=service.AspectRatio.RATIO_4_TO_5,
        output_format=service.ImageFormat.webp,
    )


def take_pictures(order: service.ProductPhotography) -> tuple[service.Generation, int]:
    """Have the photoshoot made, and wait for it; tell how often it was looked at."""
    path = "/generations/product-photography"
    ordered = send(service.Generation, "POST", path, order, "photoshoot")
    assert ordered == send(service.Generation, "POST", path, order, "photoshoot")
    generation, polls = around.wait_for(lambda: read(service.Generation, f"/generations/{ordered.id}"))
    assert generation.status is service.GenerationStatus.completed
    return generation, polls


def download_pictures(generation: service.Generation) -> list[list[object]]:
    """Fetch the picture of each slot; return format, size in pixels and whether the file is as large as was said."""
    pictures: list[list[object]] = []
    for output in generation.outputs:
        assert output.asset is not None
        asset, _ = read(service.Asset, f"/assets/{output.asset.id}")
        is_whole = around.is_whole(str(asset.url), asset.size_bytes)
        pictures.append([asset.format.value, asset.width, asset.height, is_whole])
    return pictures


def provoke(order: service.ProductPhotography) -> str:
    """Order what cannot be, and tell the code of the problem."""
    order.image_count = 3
    path = "/generations/product-photography"
    return send(service.UnprocessableWriteProblem, "POST", path, order, "too few").code.value


photo = bring_in_photo()
product = make_product(photo)
model, changes = change(make_fashion_model(photo), photo)
order = photoshoot(product, model)
generation, polls = take_pictures(order)
pictures = download_pictures(generation)
around.tell(
    photo=[photo.format.value, photo.width, photo.height],
    product_photos=len(product.asset_ids),
    fashion_model=model.name,
    changes=changes,
    echo=generation.request["output_mode"],
    pictures=pictures,
    polls=polls,
    problem=provoke(order),
    credits=read(service.Team, "/team")[0].credits,
)
