"""The tour with the Python client that openapi-generator makes."""

from collections.abc import Mapping
from datetime import timedelta

import around
import service_client as service
from service_client.exceptions import UnprocessableEntityException

client = service.ApiClient(service.Configuration(host=around.BASE_URL, access_token=around.API_KEY))
generations = service.GenerationsApi(client)
models = service.FashionModelsApi(client)


def header(headers: Mapping[str, str] | None, name: str) -> str | None:
    """Find a header; this client keeps their names as they were sent, and they are sent in lower case."""
    found = {known.lower(): value for known, value in (headers or {}).items()}
    return found.get(name.lower())


def bring_in_photo() -> service.Asset:
    uploads = service.UploadsApi(client)
    announced = service.CreateUpload(content_type=service.UploadContentType("image/jpeg"), size_bytes=len(around.PHOTO))
    session = uploads.create_upload("upload", announced)
    recipe = session.upload
    token = around.send_bytes(recipe.method, recipe.url, recipe.headers, around.PHOTO)
    asset = uploads.complete_upload(session.id, "complete", service.CompleteUpload(upload_token=token))
    assert asset.created_at.utcoffset() == timedelta(0)
    return asset


def make_product(photo: service.Asset) -> service.Product:
    body = service.ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
    return service.ProductsApi(client).create_product("product", body)


def make_fashion_model(photo: service.Asset) -> service.FashionModel:
    body = service.FashionModelWrite(
        name="Kim", age_range=service.AgeRange("25-35"), gender=service.Gender.FEMALE, asset_ids=[photo.id]
    )
    operation = models.create_fashion_model("fashion model", body)
    assert operation.started_at is None
    return result_of(operation)


def result_of(operation: service.Operation) -> service.FashionModel:
    """Wait for an Operation; return the fashion model that came of it."""

    def look() -> tuple[service.Operation, str | None]:
        answer = service.OperationsApi(client).get_operation_with_http_info(operation.id)
        return answer.data, header(answer.headers, "Retry-After")

    done, _ = around.wait_for(look)
    assert done.status is service.OperationStatus.COMPLETED
    assert done.result is not None
    return models.get_fashion_model(done.result.id)


def change(model: service.FashionModel, photo: service.Asset) -> tuple[service.FashionModel, list[str]]:
    """Change a fashion model at once, and then by an Operation; tell what each change was answered with."""
    renamed = models.update_fashion_model(model.id, "rename", service.FashionModelPatch(name="Kim Lee")).actual_instance
    assert isinstance(renamed, service.FashionModel)
    admitted = models.update_fashion_model(
        model.id, "remake", service.FashionModelPatch(asset_ids=[photo.id])
    ).actual_instance
    assert isinstance(admitted, service.Operation)
    return result_of(admitted), [renamed.object, admitted.object]


def photoshoot(product: service.Product, model: service.FashionModel) -> service.ProductPhotography:
    return service.ProductPhotography(
        output_mode=service.OutputMode.PHOTOSHOOT,
        product_ids=[product.id],
        fashion_model=service.FashionModelSelection(
            service.SelectedFashionModel(type="selected", fashion_model_id=model.id)
        ),
        background=service.BackgroundSelection(service.TransparentBackground(type="transparent")),
        aspect_ratio=service.AspectRatio("4:5"),
        output_format=service.ImageFormat.WEBP,
    )


def take_pictures(order: service.ProductPhotography) -> tuple[service.Generation, int]:
    """Have the photoshoot made, and wait for it; tell how often it was looked at."""
    generation = generations.create_product_photography_generation("photoshoot", order)
    assert generation == generations.create_product_photography_generation("photoshoot", order)

    def look() -> tuple[service.Generation, str | None]:
        answer = generations.get_generation_with_http_info(generation.id)
        return answer.data, header(answer.headers, "Retry-After")

    done, polls = around.wait_for(look)
    assert done.status is service.GenerationStatus.COMPLETED
    return done, polls


def download_pictures(generation: service.Generation) -> list[list[object]]:
    """Fetch the picture of each slot; return format, size in pixels and whether the file is as large as was said."""
    pictures: list[list[object]] = []
    for output in generation.outputs:
        assert output.asset is not None
        asset = service.AssetsApi(client).get_asset(output.asset.id)
        is_whole = around.is_whole(asset.url, asset.size_bytes)
        pictures.append([asset.format.value, asset.width, asset.height, is_whole])
    return pictures


def provoke(order: service.ProductPhotography) -> str:
    """Order what cannot be, and tell the code of the problem."""
    order.image_count = 3
    try:
        generations.create_product_photography_generation("too few", order)
    except UnprocessableEntityException as refusal:
        problem = refusal.data
    assert isinstance(problem, service.UnprocessableWriteProblem)
    assert problem.code is service.UnprocessableWriteCode.INVALID_INPUT
    return str(problem.code.value)


photo = bring_in_photo()
product = make_product(photo)
model, changes = change(make_fashion_model(photo), photo)
order = photoshoot(product, model)
generation, polls = take_pictures(order)
pictures = download_pictures(generation)
code = provoke(order)
assert generation.request is not None
around.tell(
    photo=[photo.format.value, photo.width, photo.height],
    product_photos=len(product.asset_ids),
    fashion_model=model.name,
    changes=changes,
    echo=generation.request["output_mode"],
    pictures=pictures,
    polls=polls,
    problem=code,
    credits=service.TeamApi(client).get_team().credits,
)
