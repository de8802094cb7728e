"""The requests that players of scenarios send again and again."""

from typing import Final

from tests.support.emulator_client import FULL, Call, Json, control_call
from tests.support.every_operation import FORM
from tests.support.pictures import picture

UPLOAD: Final = {"content_type": "image/png", "size_bytes": len(picture())}
"""A body that opens an Upload Session for `picture()`."""
WORKFLOWS: Final = ("product-photography", "edit-images", "upscale")


def generation_call(workflow: str, asset_id: str, idempotency_key: str, key: str = FULL) -> Call:
    """Return a request for one output, for 1 Credit."""
    bodies: dict[str, Json] = {
        "product-photography": {"output_mode": "single_shots", "asset_ids": [asset_id]},
        "edit-images": {"asset_ids": [asset_id], "instructions": "Put it on a table."} | FORM,
        "upscale": {"asset_id": asset_id, "target_resolution": "2k", "output_format": "png"},
    }
    return Call("POST", f"/generations/{workflow}", bodies[workflow], key=key, idempotency_key=idempotency_key)


def upscale_call(asset_id: str, idempotency_key: str, key: str = FULL) -> Call:
    """Return a request for the plainest work."""
    return generation_call("upscale", asset_id, idempotency_key, key)


def advance_call(seconds: float) -> Call:
    """Return a request that moves the clock, to be sent together with others."""
    return control_call("POST", "/clock/advance", {"seconds": seconds})


def errors_of(generation: Json) -> list[str | None]:
    """Return the code of each output's error, None where there is none."""
    return [output["error"] and output["error"]["code"] for output in generation["outputs"]]
