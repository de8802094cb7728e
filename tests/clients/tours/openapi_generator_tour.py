"""The tour with the Python client that openapi-generator makes."""

import time
from collections.abc import Mapping
from datetime import timedelta

import around
from service_client.api.assets_api import AssetsApi
from service_client.api.fashion_models_api import FashionModelsApi
from service_client.api.generations_api import GenerationsApi
from service_client.api.operations_api import OperationsApi
from service_client.api.products_api import ProductsApi
from service_client.api.team_api import TeamApi
from service_client.api.uploads_api import UploadsApi
from service_client.api_client import ApiClient
from service_client.configuration import Configuration
from service_client.exceptions import UnprocessableEntityException
from service_client.models.age_range import AgeRange
from service_client.models.aspect_ratio import AspectRatio
from service_client.models.asset import Asset
from service_client.models.background_selection import BackgroundSelection
from service_client.models.complete_upload import CompleteUpload
from service_client.models.create_upload import CreateUpload
from service_client.models.fashion_model import FashionModel
from service_client.models.fashion_model_patch import FashionModelPatch
from service_client.models.fashion_model_selection import FashionModelSelection
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
from service_client.models.transparent_background import TransparentBackground
from service_client.models.unprocessable_write_code import UnprocessableWriteCode
from service_client.models.unprocessable_write_problem import UnprocessableWriteProblem
from service_client.models.upload_content_type import UploadContentType

client = ApiClient(Configuration(host=around.BASE_URL, access_token=around.API_KEY))
generations = GenerationsApi(client)
models = FashionModelsApi(client)


def header(headers: Mapping[str, str] | None, name: str) -> str | None:
    """Find a header; this client keeps their names as they were sent, and they are sent in lower case."""
    found = {known.lower(): value for known, value in (headers or {}).items()}
    return found.get(name.lower())


def bring_in_photo() -> Asset:
    """Upload the photo."""
    uploads = UploadsApi(client)
    announced = CreateUpload(content_type=UploadContentType("image/jpeg"), size_bytes=len(around.PHOTO))
    session = uploads.create_upload("upload", announced)
    recipe = session.upload
    token = around.send_bytes(recipe.method, recipe.url, recipe.headers, around.PHOTO)
    asset = uploads.complete_upload(session.id, "complete", CompleteUpload(upload_token=token))
    assert asset.created_at.utcoffset() == timedelta(0)
    return asset


def make_product(photo: Asset) -> Product:
    """Make a Product of the photo."""
    body = ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
    return ProductsApi(client).create_product("product", body)


def make_fashion_model(photo: Asset) -> FashionModel:
    """Have a fashion model made."""
    body = FashionModelWrite(name="Kim", age_range=AgeRange("25-35"), gender=Gender.FEMALE, asset_ids=[photo.id])
    operation = models.create_fashion_model("fashion model", body)
    assert operation.started_at is None
    return result_of(operation)


def result_of(operation: Operation) -> FashionModel:
    """Wait for an Operation as long as Retry-After says; return the fashion model that came of it."""
    operations = OperationsApi(client)
    for _ in range(around.MOST_POLLS):
        answer = operations.get_operation_with_http_info(operation.id)
        operation = answer.data
        if operation.status in (OperationStatus.COMPLETED, OperationStatus.FAILED):
            break
        time.sleep(around.seconds_to_wait(header(answer.headers, "Retry-After")))
    assert operation.status is OperationStatus.COMPLETED
    assert operation.result is not None
    return models.get_fashion_model(operation.result.id)


def change(model: FashionModel, photo: Asset) -> tuple[FashionModel, list[str]]:
    """Change a fashion model at once, and then by an Operation; tell what each change was answered with."""
    renamed = models.update_fashion_model(model.id, "rename", FashionModelPatch(name="Kim Lee")).actual_instance
    assert isinstance(renamed, FashionModel)
    admitted = models.update_fashion_model(model.id, "remake", FashionModelPatch(asset_ids=[photo.id])).actual_instance
    assert isinstance(admitted, Operation)
    return result_of(admitted), [renamed.object, admitted.object]


def photoshoot(product: Product, model: FashionModel) -> ProductPhotography:
    """Return the order of a photoshoot."""
    return ProductPhotography(
        output_mode=OutputMode.PHOTOSHOOT,
        product_ids=[product.id],
        fashion_model=FashionModelSelection(SelectedFashionModel(type="selected", fashion_model_id=model.id)),
        background=BackgroundSelection(TransparentBackground(type="transparent")),
        aspect_ratio=AspectRatio("4:5"),
        output_format=ImageFormat.WEBP,
    )


def take_pictures(order: ProductPhotography) -> tuple[Generation, int]:
    """Have the photoshoot made, and wait for it as long as Retry-After says; tell how often it was looked at."""
    generation = generations.create_product_photography_generation("photoshoot", order)
    again = generations.create_product_photography_generation("photoshoot", order)
    assert again == generation
    for polls in range(1, around.MOST_POLLS):
        answer = generations.get_generation_with_http_info(generation.id)
        generation = answer.data
        if generation.status in (GenerationStatus.COMPLETED, GenerationStatus.FAILED):
            assert generation.status is GenerationStatus.COMPLETED
            return generation, polls
        time.sleep(around.seconds_to_wait(header(answer.headers, "Retry-After")))
    raise AssertionError("the photoshoot does not end")


def download_pictures(generation: Generation) -> list[list[object]]:
    """Fetch the picture of each slot; return format, size in pixels and whether the file is as large as was said."""
    pictures: list[list[object]] = []
    for output in generation.outputs:
        assert output.asset is not None
        asset = AssetsApi(client).get_asset(output.asset.id)
        is_whole = len(around.download(asset.url)) == asset.size_bytes
        pictures.append([asset.format.value, asset.width, asset.height, is_whole])
    return pictures


def provoke(order: ProductPhotography) -> str:
    """Order what cannot be, and tell the code of the problem."""
    order.image_count = 3
    try:
        generations.create_product_photography_generation("too few", order)
    except UnprocessableEntityException as refusal:
        problem = refusal.data
    assert isinstance(problem, UnprocessableWriteProblem)
    assert problem.code is UnprocessableWriteCode.INVALID_INPUT
    return str(problem.code.value)


def main() -> None:
    """Take the tour."""
    photo = bring_in_photo()
    product = make_product(photo)
    model, changes = change(make_fashion_model(photo), photo)
    order = photoshoot(product, model)
    generation, polls = take_pictures(order)
    pictures = download_pictures(generation)
    code = provoke(order)
    assert generation.request.output_mode is not None
    around.tell(
        photo=[photo.format.value, photo.width, photo.height],
        product_photos=len(product.asset_ids),
        fashion_model=model.name,
        changes=changes,
        echo=generation.request.output_mode.value,
        pictures=pictures,
        polls=polls,
        problem=code,
        credits=TeamApi(client).get_team().credits,
    )


main()
