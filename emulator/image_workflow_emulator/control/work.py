"""What was made, for the page and for people: work with its slots and outcomes, and all Assets with their pictures.

Requests here are not in the journal, take no Request-Id of the service, and match no rule of a scenario.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from starlette.responses import Response

from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.describing import describe_rule, shown
from image_workflow_emulator.control.dispatch import ControlCall
from image_workflow_emulator.control.teams import account_of_query, describe_owner
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.resources import Asset, Generation, Operation
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.sandbox import DEFAULT_SANDBOX_ID, Sandbox
from image_workflow_emulator.service.sandbox.store import Collection

# Assets and pictures --------------------------------------------------------------------------------------------------


_CONTENT_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")
_AGE: Final = attrgetter("created_at", "id")


def list_all_assets(call: ControlCall) -> dict[str, Any]:
    """GET /assets: of all Teams, newest first."""
    newest = sorted(call.sandbox.store.assets.items.values(), key=_AGE, reverse=True)[: call.query["limit"]]
    return {"data": [_describe(call.sandbox, asset) for asset in newest]}


async def create_asset(call: ControlCall) -> dict[str, Any]:
    """POST /assets: the file in the body becomes an Asset, as an upload does, of the Team that the query names."""
    sandbox, account = call.sandbox, account_of_query(call)
    content_type = call.head.headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if content_type not in _CONTENT_TYPES:
        expected = f"one of {', '.join(_CONTENT_TYPES)}"
        raise Problem("invalid_request", f"Content-Type: found {excerpt(content_type)}; expected {expected}")
    decoded = await call.plane.pictures.decode(call.body, content_type, sandbox.readings)
    call.check_unchanged()
    if decoded.refusal is not None:
        raise Problem("invalid_input", f"(body): {decoded.refusal}", check=Check.RULES)
    sandbox.check_memory(len(decoded.data))
    asset = add_asset(sandbox, account.team.id, decoded, call.now)
    return _describe(sandbox, asset)


async def get_picture(call: ControlCall) -> Response:
    """GET /pictures/{picture}: the file of an Asset or a picture of an ingredient, drawn now if it was not before."""
    key, images = call.parameters["picture"], call.sandbox.images
    picture = images.public(key)
    if picture is None:
        raise Problem("not_found", f"{excerpt(key)}: there is no such picture")
    data = await call.plane.pictures.data(images, key)
    asset = call.sandbox.store.assets.items.get(key)
    headers = {"Cache-Control": "private, no-cache"}  # the page shows it again without another request
    return Response(data, headers=headers, media_type=f"image/{asset.format if asset else 'png'}")


def picture_url(sandbox: Sandbox, key: str | None) -> str | None:
    """Return the address of a picture from the root of the server; None if there is none yet, or it was deleted."""
    if key is None or sandbox.images.public(key) is None:
        return None
    prefix = PREFIX if sandbox.id == DEFAULT_SANDBOX_ID else f"{PREFIX}/sandboxes/{sandbox.id}"
    return f"{prefix}/pictures/{key}"


def _describe(sandbox: Sandbox, asset: Asset) -> dict[str, Any]:
    return {
        **shown(asset, "id", "source", "source_generation_id", "format", "width", "height", "created_at"),
        "team": describe_owner(sandbox, asset.team_id),
        "size_bytes": sandbox.images.pictures[asset.id].content.size_bytes,
        "url": picture_url(sandbox, asset.id),
    }


# Operations and Generations -------------------------------------------------------------------------------------------


def list_work(call: ControlCall) -> dict[str, Any]:
    """GET /work: newest first."""
    store = call.sandbox.store
    all_work: list[Operation | Generation] = [*store.operations.items.values(), *store.generations.items.values()]
    newest = sorted(all_work, key=_AGE, reverse=True)[: call.query["limit"]]
    admissions = {request.work_id: request for request in call.sandbox.journal.requests if request.work_id}
    return {"data": [describe_work(call, work, admissions.get(work.id)) for work in newest]}


def describe_work(call: ControlCall, work: Operation | Generation, admitted: RequestRecord | None) -> dict[str, Any]:
    """Return a piece of work as JSON; `admitted` is the request that admitted it."""
    sandbox = call.sandbox
    described = {
        "object": "operation" if isinstance(work, Operation) else "generation",
        "team": describe_owner(sandbox, work.team_id),
        "credits": {"reserved": work.reserved_credits, "charged": work.charged_credits},
        "request": admitted.sequence if admitted else None,
        "rule": describe_rule(admitted.work_rule) if admitted and admitted.work_rule else None,
        "body": work.request,
        "names": _names_in(sandbox, work.request),
        **shown(work, "id", "status", "created_at", "started_at", "finished_at"),
    }
    return described | (_of_operation(sandbox, work) if isinstance(work, Operation) else _of_generation(sandbox, work))


def _of_operation(sandbox: Sandbox, operation: Operation) -> dict[str, Any]:
    ingredient = sandbox.store.ingredients[operation.ingredient_kind].items.get(operation.result_id or "")
    pictures = [picture_url(sandbox, key) for key in ingredient.picture_keys] if ingredient else []
    times = shown(operation.outcome, "starts_at", "finishes_at")
    return {**shown(operation, "type", "error", "result_id"), **times, "pictures": pictures}


def _of_generation(sandbox: Sandbox, generation: Generation) -> dict[str, Any]:
    outputs = [
        {
            "slot": slot,
            "url": picture_url(sandbox, output.asset_id),
            **shown(output, "status", "asset_id", "error"),
            **shown(planned, "finishes_at"),
        }
        for slot, (output, planned) in enumerate(zip(generation.outputs, generation.plan, strict=True), start=1)
    ]
    return {**shown(generation, "workflow", "starts_at"), "outputs": outputs}


def _names_in(sandbox: Sandbox, value: Any) -> dict[str, str]:
    """Return the names of the Products and ingredients whose ids are in a value, by id; deleted ones are left out."""
    if isinstance(value, str):
        collections: tuple[Collection[Any], ...] = (sandbox.store.products, *sandbox.store.ingredients.values())
        found = next((each.items[value] for each in collections if value in each.items), None)
        return {} if found is None else {value: found.name}
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return {identifier: name for part in parts for identifier, name in _names_in(sandbox, part).items()}
