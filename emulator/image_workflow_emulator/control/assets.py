"""Assets and pictures of all Teams, for the page and for people."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final, TypeVar

from starlette.responses import Response

from image_workflow_emulator.control import PREFIX, JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.teams import describe_owner, find_account
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.resources import Asset, Generation, Operation
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox

_CONTENT_TYPES: Final = (
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "image/avif",
)
"""What POST /assets takes."""
_AGE: Final = attrgetter("created_at", "id")

Resource = TypeVar("Resource", bound=Asset | Operation | Generation)


def list_all_assets(call: ControlCall) -> JsonObject:
    """GET /assets: of all Teams, newest first."""
    sandbox = call.sandbox
    assets = sandbox.store.assets.items.values()
    listed = newest(assets, call.query["limit"])
    return {"data": [_describe_asset(sandbox, asset) for asset in listed]}


def newest(resources: Iterable[Resource], limit: int) -> list[Resource]:
    """Return the newest of some resources, the newest first."""
    by_age = sorted(resources, key=_AGE, reverse=True)
    return by_age[:limit]


async def create_asset(call: ControlCall) -> JsonObject:
    """POST /assets: the file in the body becomes an Asset, as an upload does, of the
    Team that the query names.
    """
    sandbox = call.sandbox
    account = find_account(sandbox, call.query["team"])
    content_type = _content_type(call)
    decoded = await call.plane.decode(call.body, content_type, sandbox.readings)
    call.check_unchanged()
    if decoded.refusal is not None:
        detail = f"(body): {decoded.refusal}"
        raise Problem("invalid_input", detail, check=Check.RULES)
    sandbox.check_memory(len(decoded.data))
    asset = add_asset(sandbox, account.team.id, decoded, call.now)
    return _describe_asset(sandbox, asset)


def _content_type(call: ControlCall) -> str:
    """Return the media type of the file in the body. Raises Problem invalid_request."""
    header = call.request.headers.get("content-type", "")
    media_type, _, _ = header.partition(";")
    content_type = media_type.strip().lower()
    if content_type not in _CONTENT_TYPES:
        found = excerpt(content_type)
        expected = f"one of {', '.join(_CONTENT_TYPES)}"
        detail = f"Content-Type: found {found}; expected {expected}"
        raise Problem("invalid_request", detail)
    return content_type


async def get_picture(call: ControlCall) -> Response:
    """GET /pictures/{picture}: the file of an Asset or a picture of an ingredient,
    drawn now if it was not before.

    Raises:
        Problem: not_found.
    """
    key = call.parameters["picture"]
    images = call.sandbox.images
    if images.public(key) is None:
        raise Problem("not_found", f"{excerpt(key)}: there is no such picture")
    data = await call.plane.picture_data(images, key)
    asset = call.sandbox.store.assets.items.get(key)
    picture_format = "png"
    if asset is not None:
        picture_format = asset.format
    # The page shows it again without another request.
    headers = {"Cache-Control": "private, no-cache"}
    media_type = f"image/{picture_format}"
    return Response(data, headers=headers, media_type=media_type)


def picture_url(sandbox: Sandbox, key: str | None) -> str | None:
    """Return the address of a picture from the root of the server; None if there is
    none yet, or it was deleted.
    """
    if key is None or sandbox.images.public(key) is None:
        return None
    prefix = PREFIX
    if sandbox.id != DEFAULT_SANDBOX_ID:
        prefix = f"{PREFIX}/sandboxes/{sandbox.id}"
    return f"{prefix}/pictures/{key}"


def _describe_asset(sandbox: Sandbox, asset: Asset) -> JsonObject:
    picture = sandbox.images.pictures[asset.id]
    return {
        "id": asset.id,
        "source": asset.source,
        "source_generation_id": asset.source_generation_id,
        "format": asset.format,
        "width": asset.width,
        "height": asset.height,
        "created_at": format_timestamp(asset.created_at),
        "team": describe_owner(sandbox, asset.team_id),
        "size_bytes": picture.content.size_bytes,
        "url": picture_url(sandbox, asset.id),
    }
