"""Pictures for the page and for people: all Assets with the addresses of their files here, and a way to add one.

Requests here are not in the journal, take no Request-Id of the service, and match no rule of a scenario.
"""

from typing import Any, Final

from starlette.responses import Response

from emulator.control import PREFIX
from emulator.control.calls import ControlCall, JsonResponse
from emulator.control.shown import shown
from emulator.control.teams import account_of_query, describe_owner
from emulator.domain.problems import Check, Problem
from emulator.domain.resources import Asset
from emulator.domain.stamps import stamped
from emulator.kernel.wording import excerpt
from emulator.service.library import add_asset
from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox

_CONTENT_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")


def list_assets(call: ControlCall) -> dict[str, Any]:
    """GET /assets: of all Teams, newest first."""
    newest = sorted(
        call.sandbox.store.assets.items.values(), key=lambda asset: (asset.created_at, asset.id), reverse=True
    )
    return {"data": [_describe(call.sandbox, asset) for asset in newest[: call.query["limit"]]]}


async def create_asset(call: ControlCall) -> JsonResponse:
    """POST /assets: the file in the body becomes an Asset, as an upload does, of the Team that the query names."""
    sandbox, account = call.sandbox, account_of_query(call)
    content_type = (call.request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if content_type not in _CONTENT_TYPES:
        expected = f"one of {', '.join(_CONTENT_TYPES)}"
        raise Problem("invalid_request", f"Content-Type: found {excerpt(content_type)}; expected {expected}")
    decoded = await call.plane.pictures.decode(call.body, content_type, sandbox.readings)
    call.check_unchanged()
    if decoded.refusal is not None:
        raise Problem("invalid_input", f"(body): {decoded.refusal}", check=Check.RULES)
    sandbox.check_memory(len(decoded.data))
    asset = add_asset(sandbox, account.team.id, decoded, call.now)
    return JsonResponse(_describe(sandbox, asset), 201)


async def show_picture(call: ControlCall) -> Response:
    """GET /pictures/{picture}: the file of an Asset, or a picture of an ingredient; drawn now if it was not drawn before."""
    key, images = call.parameters["picture"], call.sandbox.images
    picture = images.public(key)
    if picture is None:
        raise Problem("not_found", f"{excerpt(key)}: there is no such picture")
    images.hold([key])
    try:
        data = await call.plane.pictures.data(images, key)
    finally:
        images.release([key])
    asset = call.sandbox.store.assets.items.get(key)
    data = stamped(data, asset.source_generation_id if asset else None)
    # Its bytes never change: a page need not fetch it again, and learns of a reset by an event.
    headers = {"Cache-Control": "private, no-cache", "ETag": f'"{call.sandbox.signer.sign("etag", key)}"'}
    return Response(data, headers=headers, media_type=f"image/{asset.format if asset else 'png'}")


def picture_url(sandbox: Sandbox, key: str) -> str:
    """Return the address of a picture below the control plane, from the root of the server."""
    prefix = PREFIX if sandbox.id == DEFAULT_SANDBOX_ID else f"{PREFIX}/sandboxes/{sandbox.id}"
    return f"{prefix}/pictures/{key}"


def _describe(sandbox: Sandbox, asset: Asset) -> dict[str, Any]:
    return {
        **shown(asset, "id", "source", "source_generation_id", "format", "width", "height", "created_at"),
        "team": describe_owner(sandbox, asset.team_id),
        "size_bytes": sandbox.images.pictures[asset.id].content.size_bytes,
        "url": picture_url(sandbox, asset.id),
    }
