"""The tour with the client that openapi-python-client makes."""

import time
from datetime import timedelta

import around
from service_client import AuthenticatedClient
from service_client.api.assets import get_asset
from service_client.api.fashion_models import create_fashion_model, get_fashion_model, update_fashion_model
from service_client.api.generations import create_product_photography_generation, get_generation
from service_client.api.operations import get_operation
from service_client.api.products import create_product
from service_client.api.team import get_team
from service_client.api.uploads import complete_upload, create_upload
from service_client.models.age_range import AgeRange
from service_client.models.aspect_ratio import AspectRatio
from service_client.models.asset import Asset
from service_client.models.complete_upload import CompleteUpload
from service_client.models.create_upload import CreateUpload
from service_client.models.fashion_model import FashionModel
from service_client.models.fashion_model_patch import FashionModelPatch
from service_client.models.fashion_model_write import FashionModelWrite
from service_client.models.gender import Gender
from service_client.models.generation import Generation
from service_client.models.generation_status import GenerationStatus
from service_client.models.image_format import ImageFormat
from service_client.models.operation import Operation
from service_client.models.operation_status import OperationStatus
from service_client.models.output_mode import OutputMode
from service_client.models.product import Product
from service_client.models.product_photography import ProductPhotography
from service_client.models.product_write import ProductWrite
from service_client.models.selected_fashion_model import SelectedFashionModel
from service_client.models.team import Team
from service_client.models.transparent_background import TransparentBackground
from service_client.models.unprocessable_write_code import UnprocessableWriteCode
from service_client.models.unprocessable_write_problem import UnprocessableWriteProblem
from service_client.models.upload_content_type import UploadContentType
from service_client.models.upload_session import UploadSession

client = AuthenticatedClient(base_url=around.BASE_URL, token=around.API_KEY, raise_on_unexpected_status=True)


def bring_in_photo() -> Asset:
    """Upload the photo."""
    announced = CreateUpload(content_type=UploadContentType("image/jpeg"), size_bytes=len(around.PHOTO))
    session = create_upload.sync(client=client, body=announced, idempotency_key="upload")
    assert isinstance(session, UploadSession)
    recipe = session.upload
    token = around.send_bytes(recipe.method, recipe.url, recipe.headers.additional_properties, around.PHOTO)
    asset = complete_upload.sync(
        session.id, client=client, body=CompleteUpload(upload_token=token), idempotency_key="complete"
    )
    assert isinstance(asset, Asset)
    assert asset.created_at.utcoffset() == timedelta(0)
    return asset


def make_product(photo: Asset) -> Product:
    """Make a Product of the photo."""
    body = ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
    product = create_product.sync(client=client, body=body, idempotency_key="product")
    assert isinstance(product, Product)
    return product


def make_fashion_model(photo: Asset) -> FashionModel:
    """Have a fashion model made."""
    body = FashionModelWrite(name="Kim", age_range=AgeRange("25-35"), gender=Gender.FEMALE, asset_ids=[photo.id])
    operation = create_fashion_model.sync(client=client, body=body, idempotency_key="fashion model")
    assert isinstance(operation, Operation)
    assert operation.started_at is None
    return result_of(operation)


def result_of(ordered: Operation) -> FashionModel:
    """Wait for an Operation as long as Retry-After says; return the fashion model that came of it."""
    for _ in range(around.MOST_POLLS):
        answer = get_operation.sync_detailed(ordered.id, client=client)
        operation = answer.parsed
        assert isinstance(operation, Operation)
        if operation.status in (OperationStatus.COMPLETED, OperationStatus.FAILED):
            return made_by(operation)
        time.sleep(around.seconds_to_wait(answer.headers.get("Retry-After")))
    raise AssertionError("the fashion model does not come to be")


def made_by(operation: Operation) -> FashionModel:
    """Return the fashion model that an Operation has made."""
    assert operation.status is OperationStatus.COMPLETED
    assert operation.result is not None
    model = get_fashion_model.sync(operation.result.id, client=client)
    assert isinstance(model, FashionModel)
    return model


def change(model: FashionModel, photo: Asset) -> tuple[FashionModel, list[str]]:
    """Change a fashion model at once, and then by an Operation; tell what each change was answered with."""
    body = FashionModelPatch(name="Kim Lee")
    renamed = update_fashion_model.sync(model.id, client=client, body=body, idempotency_key="rename")
    assert isinstance(renamed, FashionModel)
    body = FashionModelPatch(asset_ids=[photo.id])
    admitted = update_fashion_model.sync(model.id, client=client, body=body, idempotency_key="remake")
    assert isinstance(admitted, Operation)
    return result_of(admitted), [renamed.object_, admitted.object_]


def photoshoot(product: Product, model: FashionModel) -> ProductPhotography:
    """Return the order of a photoshoot."""
    return ProductPhotography(
        output_mode=OutputMode.PHOTOSHOOT,
        product_ids=[product.id],
        fashion_model=SelectedFashionModel(type_="selected", fashion_model_id=model.id),
        background=TransparentBackground(type_="transparent"),
        aspect_ratio=AspectRatio("4:5"),
        output_format=ImageFormat.WEBP,
    )


def take_pictures(order: ProductPhotography) -> tuple[Generation, int]:
    """Have the photoshoot made, and wait for it as long as Retry-After says; tell how often it was looked at."""
    ordered = create_product_photography_generation.sync(client=client, body=order, idempotency_key="photoshoot")
    again = create_product_photography_generation.sync(client=client, body=order, idempotency_key="photoshoot")
    assert isinstance(ordered, Generation)
    assert again == ordered
    for polls in range(1, around.MOST_POLLS):
        answer = get_generation.sync_detailed(ordered.id, client=client)
        generation = answer.parsed
        assert isinstance(generation, Generation)
        if generation.status in (GenerationStatus.COMPLETED, GenerationStatus.FAILED):
            assert generation.status is GenerationStatus.COMPLETED
            return generation, polls
        time.sleep(around.seconds_to_wait(answer.headers.get("Retry-After")))
    raise AssertionError("the photoshoot does not end")


def download_pictures(generation: Generation) -> list[list[object]]:
    """Fetch the picture of each slot; return format, size in pixels and whether the file is as large as was said."""
    pictures: list[list[object]] = []
    for output in generation.outputs:
        assert output.asset is not None
        asset = get_asset.sync(output.asset.id, client=client)
        assert isinstance(asset, Asset)
        is_whole = len(around.download(asset.url)) == asset.size_bytes
        pictures.append([asset.format_.value, asset.width, asset.height, is_whole])
    return pictures


def provoke(order: ProductPhotography) -> str:
    """Order what cannot be, and tell the code of the problem."""
    order.image_count = 3
    problem = create_product_photography_generation.sync(client=client, body=order, idempotency_key="too few")
    assert isinstance(problem, UnprocessableWriteProblem)
    assert problem.code is UnprocessableWriteCode.INVALID_INPUT
    return str(problem.code)


def main() -> None:
    """Take the tour."""
    photo = bring_in_photo()
    product = make_product(photo)
    model, changes = change(make_fashion_model(photo), photo)
    order = photoshoot(product, model)
    generation, polls = take_pictures(order)
    pictures = download_pictures(generation)
    code = provoke(order)
    team = get_team.sync(client=client)
    assert isinstance(team, Team)
    assert isinstance(generation.request.output_mode, OutputMode)
    around.tell(
        photo=[photo.format_.value, photo.width, photo.height],
        product_photos=len(product.asset_ids),
        fashion_model=model.name,
        changes=changes,
        echo=generation.request.output_mode.value,
        pictures=pictures,
        polls=polls,
        problem=code,
        credits=team.credits_,
    )


main()
