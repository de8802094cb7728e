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


def result_of(ordered: service.Operation) -> service.FashionModel:
    """Wait for an Operation; return the fashion model that came of it."""
    operation, _ = around.wait_for(lambda: read(service.Operation, f"/operations/{ordered.id}"))
    assert operation.status is service.OperationStatus.completed
    assert operation.result is not None
    return read(service.FashionModel, f"/fashion-models/{operation.result.id}")[0]


# Upload a photo, and group it.
announced = service.CreateUpload(content_type=service.UploadContentType.image_jpeg, size_bytes=len(around.PHOTO))
session = send(service.UploadSession, "POST", "/uploads", announced, "upload")
recipe = session.upload
token = around.send_bytes(recipe.method, str(recipe.url), recipe.headers.root, around.PHOTO)
exchange = service.CompleteUpload(upload_token=token)
photo = send(service.Asset, "POST", f"/uploads/{session.id}/complete", exchange, "complete")
assert photo.created_at.root.utcoffset() == timedelta(0)
shirt = service.ProductWrite(name="Shirt", asset_ids=[photo.id], primary_asset_id=photo.id)
product = send(service.Product, "POST", "/products", shirt, "product")

# Have a fashion model made, and change it at once and by an Operation.
kim = service.FashionModelWrite(
    name="Kim", age_range=service.AgeRange.AGE_25_TO_35, gender=service.Gender.female, asset_ids=[photo.id]
)
model = result_of(send(service.Operation, "POST", "/fashion-models", kim, "fashion model"))
changes = [
    send(service.FashionModelOrOperation, "PATCH", f"/fashion-models/{model.id}", patch, key).root
    for patch, key in (
        (service.FashionModelPatch(name="Kim Lee"), "rename"),
        (service.FashionModelPatch(asset_ids=[photo.id]), "remake"),
    )
]
renamed, admitted = changes
assert isinstance(renamed, service.FashionModel)
assert isinstance(admitted, service.Operation)
model = result_of(admitted)

# Order a photoshoot twice with one key, wait for it, and download its pictures.
order = service.ProductPhotography(
    output_mode=service.OutputMode.photoshoot,
    product_ids=[product.id],
    fashion_model=service.FashionModelSelection(
        service.SelectedFashionModel(type="selected", fashion_model_id=model.id)
    ),
    background=service.BackgroundSelection(service.TransparentBackground(type="transparent")),
    aspect_ratio=service.AspectRatio.RATIO_4_TO_5,
    output_format=service.ImageFormat.webp,
)
path = "/generations/product-photography"
ordered = send(service.Generation, "POST", path, order, "photoshoot")
assert ordered == send(service.Generation, "POST", path, order, "photoshoot")
generation, polls = around.wait_for(lambda: read(service.Generation, f"/generations/{ordered.id}"))
assert generation.status is service.GenerationStatus.completed
assets = [read(service.Asset, f"/assets/{output.asset.id}")[0] for output in generation.outputs if output.asset]

# Order what cannot be.
order.image_count = 3
problem = send(service.UnprocessableWriteProblem, "POST", path, order, "too few")

around.tell(
    photo=[photo.format.value, photo.width, photo.height],
    product_photos=len(product.asset_ids),
    fashion_model=model.name,
    changes=[renamed.object, admitted.object],
    echo=generation.request["output_mode"],
    pictures=[
        [one.format.value, one.width, one.height, around.is_whole(str(one.url), one.size_bytes)] for one in assets
    ],
    polls=polls,
    problem=problem.code.value,
    credits=read(service.Team, "/team")[0].credits,
)
