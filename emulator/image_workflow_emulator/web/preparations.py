"""The image work that an admission waits for, while its key is in progress (D13)."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from image_workflow_emulator.service.resources import authoring, uploads
from image_workflow_emulator.web.exchange import Exchange


async def _decode_upload(exchange: Exchange) -> None:
    """Decode the session's bytes, if the completion is going to get that far."""
    upload = uploads.to_decode(exchange.call)
    if upload is not None:
        data, content_type = upload
        readings = exchange.sandbox.readings
        decoded = await exchange.pictures.decode(data, content_type, readings)
        exchange.call.decoded = decoded


async def _examine_background(exchange: Exchange) -> None:
    """Examine the source of a Background, on which its price depends (D30)."""
    asset_id = authoring.source_to_examine(exchange.call)
    if asset_id is not None:
        await exchange.pictures.examine(exchange.sandbox.images, asset_id)


PREPARATIONS: Final[Mapping[str, Callable[[Exchange], Awaitable[None]]]] = {
    "completeUpload": _decode_upload,
    "createBackground": _examine_background,
    "updateBackground": _examine_background,
}
"""By operation id; most operations wait for nothing."""
