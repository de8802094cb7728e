"""The tour with the Python client that openapi-generator makes."""

from collections.abc import Mapping
from datetime import timedelta

import around
import service_client as service
from service_client.exceptions import UnprocessableEntityException

client = service.ApiClient(service.Configuration(host=around.BASE_URL, access_token=around.API_KEY))
generations = service.GenerationsApi(client)
models = service.FashionModelsApi(client)


def retry_after(headers: Mapping[str, str] | None) -> str | None:
    """Find the header; this client keeps their names as they were sent, and they are sent in lower case."""
    return {name.lower(): value for name, value in (headers or {}).items()}.get("retry-after")


def result_of(operation: service.Operation) -> service.FashionModel:
    """Wait for an Operation; return the fashion model that came of it."""

    def look() -> tuple[service.Operation, str | None]:
        answer = service.OperationsApi(client).get_operation_with_http_info(operation.id)
        return answer.data, retry_after(answer.headers)

    done, _ = around.wait_for(look)
    assert done.status is service.OperationStatus.COMPLETED
    assert done.result is not None
    return models.get_fashion_model(done.result.id)


# Upload a photo, and group it.
uploads = service.UploadsApi(client)
announced = service.CreateUpload(content_type=service.UploadContentType("image/jpeg"), size_bytes=len(around.PHOTO))
session = uploads.create_upload("upload", announced)
recipe = session.upload
token = around.send_bytes(recipe.method, recipe.url, recipe.headers, around.PHOTO)
photo = uploads.complete_upload(session.id, "complete", service.CompleteUpload(upload_token=token))
assert photo.created_at.utcoffset() == timedelta(0)
shirt = service.ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
product = service.ProductsApi(client).create_product("product", shirt)

# Have a fashion model made, and change it at once and by an Operation.
kim = service.FashionModelWrite(
    name="Kim", age_range=service.AgeRange("25-35"), gender=service.Gender.FEMALE, asset_ids=[photo.id]
)
operation = models.create_fashion_model("fashion model", kim)
assert operation.started_at is None
model = result_of(operation)
renamed = models.update_fashion_model(model.id, "rename", service.FashionModelPatch(name="Kim Lee")).actual_instance
assert isinstance(renamed, service.FashionModel)
remake = service.FashionModelPatch(asset_ids=[photo.id])
admitted = models.update_fashion_model(model.id, "remake", remake).actual_instance
assert isinstance(admitted, service.Operation)
model = result_of(admitted)

# Order a photoshoot twice with one key, wait for it, and download its pictures.
order = service.ProductPhotography(
    output_mode=service.OutputMode.PHOTOSHOOT,
    product_ids=[product.id],
    fashion_model=service.FashionModelSelection(
        service.SelectedFashionModel(type="selected", fashion_model_id=model.id)
    ),
    background=service.BackgroundSelection(service.TransparentBackground(type="transparent")),
    aspect_ratio=service.AspectRatio("4:5"),
    output_format=service.ImageFormat.WEBP,
)
ordered = generations.create_product_photography_generation("photoshoot", order)
assert ordered == generations.create_product_photography_generation("photoshoot", order)


def look_at_pictures() -> tuple[service.Generation, str | None]:
    answer = generations.get_generation_with_http_info(ordered.id)
    return answer.data, retry_after(answer.headers)


generation, polls = around.wait_for(look_at_pictures)
assert generation.status is service.GenerationStatus.COMPLETED
assert generation.request is not None
assets = [service.AssetsApi(client).get_asset(output.asset.id) for output in generation.outputs if output.asset]

# Order what cannot be.
order.image_count = 3
try:
    generations.create_product_photography_generation("too few", order)
except UnprocessableEntityException as refusal:
    problem = refusal.data
assert isinstance(problem, service.UnprocessableWriteProblem)
assert problem.code is service.UnprocessableWriteCode.INVALID_INPUT

around.tell(
    photo=[photo.format.value, photo.width, photo.height],
    product_photos=len(product.asset_ids),
    fashion_model=model.name,
    changes=[renamed.object, admitted.object],
    echo=generation.request["output_mode"],
    pictures=[[one.format.value, one.width, one.height, around.is_whole(one.url, one.size_bytes)] for one in assets],
    polls=polls,
    problem=problem.code.value,
    credits=service.TeamApi(client).get_team().credits,
)
