"""The tour with the client that openapi-python-client makes.

Raw bytes to and from signed addresses, and the waits, are done beside the client: they
are not in the contract.
"""

import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from service_client import AuthenticatedClient, models
from service_client.api.assets import get_asset
from service_client.api.fashion_models import (
    create_fashion_model,
    get_fashion_model,
    update_fashion_model,
)
from service_client.api.generations import (
    create_product_photography_generation,
    get_generation,
)
from service_client.api.operations import get_operation
from service_client.api.products import create_product
from service_client.api.team import get_team
from service_client.api.uploads import complete_upload, create_upload

PHOTO = Path(os.environ["TOUR_PHOTO"]).read_bytes()
MAX_POLLS = 50
SomeWork = TypeVar("SomeWork", models.Operation, models.Generation)

client = AuthenticatedClient(
    base_url=os.environ["IMAGE_WORKFLOW_BASE_URL"],
    token=os.environ["IMAGE_WORKFLOW_API_KEY"],
    raise_on_unexpected_status=True,
)


def send_bytes(
    method: str,
    url: str,
    headers: Mapping[str, str],
    data: bytes,
) -> str:
    """Send raw bytes as an Upload Session asks; return the upload token."""
    request = urllib.request.Request(url, data, dict(headers), method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["upload_token"])


def is_whole(url: str, size_bytes: int) -> bool:
    """Fetch a public file; tell whether it is as large as was said."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        return len(answer.read()) == size_bytes


def wait_for(look: Callable[[], tuple[SomeWork, str | None]]) -> tuple[SomeWork, int]:
    """Poll work as its Retry-After says until it is completed.

    Returns it, and the number of polls.
    """
    for polls in range(1, MAX_POLLS):
        work, retry_after = look()
        if work.status.value == "completed":
            return work, polls
        assert retry_after is not None, (
            "unfinished work does not say when to look again"
        )
        time.sleep(int(retry_after))
    raise AssertionError("the work does not end")


def result_of(ordered: models.Operation) -> models.FashionModel:
    """Wait for an Operation; return the fashion model that came of it."""

    def look() -> tuple[models.Operation, str | None]:
        answer = get_operation.sync_detailed(ordered.id, client=client)
        assert isinstance(answer.parsed, models.Operation)
        return answer.parsed, answer.headers.get("Retry-After")

    operation, _ = wait_for(look)
    assert operation.status is models.OperationStatus.COMPLETED
    assert operation.result is not None
    model = get_fashion_model.sync(operation.result.id, client=client)
    assert isinstance(model, models.FashionModel)
    return model


# Upload a photo, and group it.
announced = models.CreateUpload(
    content_type=models.UploadContentType("image/jpeg"),
    size_bytes=len(PHOTO),
)
session = create_upload.sync(
    client=client,
    body=announced,
    idempotency_key="upload",
)
assert isinstance(session, models.UploadSession)
recipe = session.upload
token = send_bytes(
    recipe.method,
    recipe.url,
    recipe.headers.additional_properties,
    PHOTO,
)
exchange = models.CompleteUpload(upload_token=token)
photo = complete_upload.sync(
    session.id,
    client=client,
    body=exchange,
    idempotency_key="complete",
)
assert isinstance(photo, models.Asset)
assert photo.created_at.utcoffset() == timedelta(0)
shirt = models.ProductWrite(
    name="Shirt",
    asset_ids=[photo.id],
    primary_asset_id=photo.id,
)
product = create_product.sync(
    client=client,
    body=shirt,
    idempotency_key="product",
)
assert isinstance(product, models.Product)

# Have a fashion model made, and change it at once and by an Operation.
kim = models.FashionModelWrite(
    name="Kim",
    age_range=models.AgeRange("25-35"),
    gender=models.Gender.FEMALE,
    asset_ids=[photo.id],
)
operation = create_fashion_model.sync(
    client=client,
    body=kim,
    idempotency_key="fashion model",
)
assert isinstance(operation, models.Operation)
assert operation.started_at is None
model = result_of(operation)
rename = models.FashionModelPatch(name="Kim Lee")
renamed = update_fashion_model.sync(
    model.id,
    client=client,
    body=rename,
    idempotency_key="rename",
)
assert isinstance(renamed, models.FashionModel)
remake = models.FashionModelPatch(asset_ids=[photo.id])
admitted = update_fashion_model.sync(
    model.id,
    client=client,
    body=remake,
    idempotency_key="remake",
)
assert isinstance(admitted, models.Operation)
model = result_of(admitted)

# Order a photoshoot twice with one key, wait for it, and download its pictures.
order = models.ProductPhotography(
    output_mode=models.OutputMode.PHOTOSHOOT,
    product_ids=[product.id],
    fashion_model=models.SelectedFashionModel(
        type_="selected",
        fashion_model_id=model.id,
    ),
    background=models.TransparentBackground(type_="transparent"),
    aspect_ratio=models.AspectRatio("4:5"),
    output_format=models.ImageFormat.WEBP,
)
ordered = create_product_photography_generation.sync(
    client=client,
    body=order,
    idempotency_key="photoshoot",
)
assert isinstance(ordered, models.Generation)
again = create_product_photography_generation.sync(
    client=client,
    body=order,
    idempotency_key="photoshoot",
)
assert again == ordered
generation_id = ordered.id


def look_at_pictures() -> tuple[models.Generation, str | None]:
    answer = get_generation.sync_detailed(generation_id, client=client)
    assert isinstance(answer.parsed, models.Generation)
    return answer.parsed, answer.headers.get("Retry-After")


generation, polls = wait_for(look_at_pictures)
assert generation.status is models.GenerationStatus.COMPLETED
pictures: list[list[object]] = []
for output in generation.outputs:
    assert output.asset is not None
    asset = get_asset.sync(output.asset.id, client=client)
    assert isinstance(asset, models.Asset)
    pictures.append(
        [
            asset.format_.value,
            asset.width,
            asset.height,
            is_whole(asset.url, asset.size_bytes),
        ]
    )

# Order what cannot be.
order.image_count = 3
problem = create_product_photography_generation.sync(
    client=client,
    body=order,
    idempotency_key="too few",
)
assert isinstance(problem, models.UnprocessableWriteProblem)
assert problem.code is models.UnprocessableWriteCode.INVALID_INPUT

team = get_team.sync(client=client)
assert isinstance(team, models.Team)
report = {
    "photo": [photo.format_.value, photo.width, photo.height],
    "product_photos": len(product.asset_ids),
    "fashion_model": model.name,
    "changes": [renamed.object_, admitted.object_],
    "echo": generation.request["output_mode"],
    "pictures": pictures,
    "polls": polls,
    "problem": str(problem.code),
    "credits": team.credits_,
}
sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")
