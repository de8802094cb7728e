"""The tour with the client that openapi-python-client makes."""

from datetime import timedelta

import around
from service_client import AuthenticatedClient, models
from service_client.api.assets import get_asset
from service_client.api.fashion_models import create_fashion_model, get_fashion_model, update_fashion_model
from service_client.api.generations import create_product_photography_generation, get_generation
from service_client.api.operations import get_operation
from service_client.api.products import create_product
from service_client.api.team import get_team
from service_client.api.uploads import complete_upload, create_upload

client = AuthenticatedClient(base_url=around.BASE_URL, token=around.API_KEY, raise_on_unexpected_status=True)


def bring_in_photo() -> models.Asset:
    announced = models.CreateUpload(content_type=models.UploadContentType("image/jpeg"), size_bytes=len(around.PHOTO))
    session = create_upload.sync(client=client, body=announced, idempotency_key="upload")
    assert isinstance(session, models.UploadSession)
    recipe = session.upload
    token = around.send_bytes(recipe.method, recipe.url, recipe.headers.additional_properties, around.PHOTO)
    asset = complete_upload.sync(
        session.id, client=client, body=models.CompleteUpload(upload_token=token), idempotency_key="complete"
    )
    assert isinstance(asset, models.Asset)
    assert asset.created_at.utcoffset() == timedelta(0)
    return asset


def make_product(photo: models.Asset) -> models.Product:
    body = models.ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
    product = create_product.sync(client=client, body=body, idempotency_key="product")
    assert isinstance(product, models.Product)
    return product


def make_fashion_model(photo: models.Asset) -> models.FashionModel:
    body = models.FashionModelWrite(
        name="Kim", age_range=models.AgeRange("25-35"), gender=models.Gender.FEMALE, asset_ids=[photo.id]
    )
    operation = create_fashion_model.sync(client=client, body=body, idempotency_key="fashion model")
    assert isinstance(operation, models.Operation)
    assert operation.started_at is None
    return result_of(operation)


def result_of(ordered: models.Operation) -> models.FashionModel:
    """Wait for an Operation; return the fashion model that came of it."""

    def look() -> tuple[models.Operation, str | None]:
        answer = get_operation.sync_detailed(ordered.id, client=client)
        assert isinstance(answer.parsed, models.Operation)
        return answer.parsed, answer.headers.get("Retry-After")

    operation, _ = around.wait_for(look)
    assert operation.status is models.OperationStatus.COMPLETED
    assert operation.result is not None
    model = get_fashion_model.sync(operation.result.id, client=client)
    assert isinstance(model, models.FashionModel)
    return model


def change(model: models.FashionModel, photo: models.Asset) -> tuple[models.FashionModel, list[str]]:
    """Change a fashion model at once, and then by an Operation; tell what each change was answered with."""
    body = models.FashionModelPatch(name="Kim Lee")
    renamed = update_fashion_model.sync(model.id, client=client, body=body, idempotency_key="rename")
    assert isinstance(renamed, models.FashionModel)
    body = models.FashionModelPatch(asset_ids=[photo.id])
    admitted = update_fashion_model.sync(model.id, client=client, body=body, idempotency_key="remake")
    assert isinstance(admitted, models.Operation)
    return result_of(admitted), [renamed.object_, admitted.object_]


def photoshoot(product: models.Product, model: models.FashionModel) -> models.ProductPhotography:
    return models.ProductPhotography(
        output_mode=models.OutputMode.PHOTOSHOOT,
        product_ids=[product.id],
        fashion_model=models.SelectedFashionModel(type_="selected", fashion_model_id=model.id),
        background=models.TransparentBackground(type_="transparent"),
        aspect_ratio=models.AspectRatio("4:5"),
        output_format=models.ImageFormat.WEBP,
    )


def take_pictures(order: models.ProductPhotography) -> tuple[models.Generation, int]:
    """Have the photoshoot made, and wait for it; tell how often it was looked at."""
    ordered = create_product_photography_generation.sync(client=client, body=order, idempotency_key="photoshoot")
    again = create_product_photography_generation.sync(client=client, body=order, idempotency_key="photoshoot")
    assert isinstance(ordered, models.Generation)
    assert again == ordered
    identifier = ordered.id

    def look() -> tuple[models.Generation, str | None]:
        answer = get_generation.sync_detailed(identifier, client=client)
        assert isinstance(answer.parsed, models.Generation)
        return answer.parsed, answer.headers.get("Retry-After")

    generation, polls = around.wait_for(look)
    assert generation.status is models.GenerationStatus.COMPLETED
    return generation, polls


def download_pictures(generation: models.Generation) -> list[list[object]]:
    """Fetch the picture of each slot; return format, size in pixels and whether the file is as large as was said."""
    pictures: list[list[object]] = []
    for output in generation.outputs:
        assert output.asset is not None
        asset = get_asset.sync(output.asset.id, client=client)
        assert isinstance(asset, models.Asset)
        is_whole = around.is_whole(asset.url, asset.size_bytes)
        pictures.append([asset.format_.value, asset.width, asset.height, is_whole])
    return pictures


def provoke(order: models.ProductPhotography) -> str:
    """Order what cannot be, and tell the code of the problem."""
    order.image_count = 3
    problem = create_product_photography_generation.sync(client=client, body=order, idempotency_key="too few")
    assert isinstance(problem, models.UnprocessableWriteProblem)
    assert problem.code is models.UnprocessableWriteCode.INVALID_INPUT
    return str(problem.code)


photo = bring_in_photo()
product = make_product(photo)
model, changes = change(make_fashion_model(photo), photo)
order = photoshoot(product, model)
generation, polls = take_pictures(order)
pictures = download_pictures(generation)
code = provoke(order)
team = get_team.sync(client=client)
assert isinstance(team, models.Team)
around.tell(
    photo=[photo.format_.value, photo.width, photo.height],
    product_photos=len(product.asset_ids),
    fashion_model=model.name,
    changes=changes,
    echo=generation.request["output_mode"],
    pictures=pictures,
    polls=polls,
    problem=code,
    credits=team.credits_,
)
