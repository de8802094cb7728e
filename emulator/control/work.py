"""Work for the page and for people: the Operations and Generations of all Teams, with their slots and outcomes."""

from collections.abc import Mapping
from typing import Any

from emulator.control.calls import ControlCall
from emulator.control.explanations import describe_rule
from emulator.control.gallery import picture_url
from emulator.control.shown import shown
from emulator.control.teams import describe_owner
from emulator.domain.resources import Generation, Operation
from emulator.service.record import RequestData
from emulator.service.sandbox import Sandbox
from emulator.service.store import Collection


def list_work(call: ControlCall) -> dict[str, Any]:
    """GET /work: newest first."""
    store = call.sandbox.store
    all_work: list[Operation | Generation] = [*store.operations.items.values(), *store.generations.items.values()]
    newest = sorted(all_work, key=lambda work: (work.created_at, work.id), reverse=True)[: call.query["limit"]]
    admissions = {request.work_id: request for request in call.sandbox.journal.requests if request.work_id}
    return {"data": [describe_work(call, work, admissions.get(work.id)) for work in newest]}


def describe_work(call: ControlCall, work: Operation | Generation, admitted: RequestData | None) -> dict[str, Any]:
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
            "url": _url(sandbox, output.asset_id),
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


def _url(sandbox: Sandbox, asset_id: str | None) -> str | None:
    """Return the address of a slot's picture; None if there is none yet, or it was deleted."""
    if asset_id is None or sandbox.images.public(asset_id) is None:
        return None
    return picture_url(sandbox, asset_id)
