"""Work for the page and for people: the Operations and Generations of all Teams, with their slots and outcomes."""

from collections.abc import Mapping
from typing import Any, Final

from emulator.control.calls import ControlCall, JsonResponse
from emulator.control.explanations import describe_rule
from emulator.control.gallery import picture_url
from emulator.control.teams import account_of_query, describe_owner
from emulator.domain.intents import intent_of
from emulator.domain.problems import Problem
from emulator.domain.recipes import PremadeRecipe
from emulator.domain.resources import Asset, Generation, Operation, WorkError
from emulator.kernel.timestamps import format_timestamp, timestamp_or_none
from emulator.service import admission, generations
from emulator.service.callers import full_keys
from emulator.service.calls import Call
from emulator.service.record import RequestData
from emulator.service.sandbox import Sandbox
from emulator.service.store import Collection

_SAMPLE_EDGE: Final = 1024
_FIRST_PHOTOSHOOT: Final = {"output_mode": "photoshoot"}


def list_work(call: ControlCall) -> dict[str, Any]:
    """GET /work: newest first."""
    store = call.sandbox.store
    all_work: list[Operation | Generation] = [*store.operations.items.values(), *store.generations.items.values()]
    newest = sorted(all_work, key=lambda work: (work.created_at, work.id), reverse=True)[: call.query["limit"]]
    admissions = {request.work_id: request for request in call.sandbox.journal.requests if request.work_id}
    return {"data": [_describe_work(call, work, admissions.get(work.id)) for work in newest]}


def start_first_photoshoot(call: ControlCall) -> JsonResponse:
    """POST /first-photoshoot: four pictures of the newest uploaded picture of a Team, or of a sample if it has none.

    It costs Credits and takes its place in the budget as any work, and a scenario's rules for work apply to it.

    Raises:
        Problem: what refuses the request under /v1 too, such as insufficient_credits.
    """
    call.fields("Reset")
    sandbox, account = call.sandbox, account_of_query(call)
    keys = full_keys(sandbox, account.team.id, call.now)
    caller = call.plane.sandboxes.find_caller(keys[0]) if keys else None
    if caller is None:
        raise Problem("invalid_request", f"the Team {account.team.name!r} has no full and active credential; add one")
    assets = sandbox.store.assets
    uploads = [one for one in assets.ids(account.team.id) if assets.items[one].source == "upload"]
    asset_id = uploads[-1] if uploads else add_sample(sandbox, account.team.id, call.now)
    intent = intent_of("ProductPhotography", {**_FIRST_PHOTOSHOOT, "asset_ids": [asset_id]})
    service_call = Call(sandbox, caller, call.now, [], intent=intent)
    admission.check_pause(service_call)
    admission.check_subscription(service_call)
    commit = generations.create(service_call, "product_photography")
    generation = commit()
    if service_call.work_rule is not None:
        call.plane.photoshoot_rules.setdefault(sandbox.store, {})[generation.id] = service_call.work_rule
    return JsonResponse(_describe_work(call, generation, None), 201)


def _describe_work(call: ControlCall, work: Operation | Generation, admitted: RequestData | None) -> dict[str, Any]:
    """Return a piece of work as JSON; `admitted` is the request that admitted it."""
    sandbox = call.sandbox
    photoshoot_rules = call.plane.photoshoot_rules.get(sandbox.store, {})
    rule = admitted.work_rule if admitted else photoshoot_rules.get(work.id)
    shown = {
        "object": "operation" if isinstance(work, Operation) else "generation",
        "id": work.id,
        "team": describe_owner(sandbox, work.team_id),
        "status": work.status,
        "credits": {"reserved": work.reserved_credits, "charged": work.charged_credits},
        "request": admitted.sequence if admitted else None,
        "rule": describe_rule(rule) if rule else None,
        "created_at": format_timestamp(work.created_at),
        "started_at": timestamp_or_none(work.started_at),
        "finished_at": timestamp_or_none(work.finished_at),
        "body": work.request,
        "names": _names_in(sandbox, work.request),
    }
    return shown | (_of_operation(sandbox, work) if isinstance(work, Operation) else _of_generation(sandbox, work))


def _of_operation(sandbox: Sandbox, operation: Operation) -> dict[str, Any]:
    ingredient = sandbox.store.ingredients[operation.ingredient_kind].items.get(operation.result_id or "")
    return {
        "type": operation.type,
        "starts_at": timestamp_or_none(operation.outcome.starts_at),
        "finishes_at": timestamp_or_none(operation.outcome.finishes_at),
        "error": _describe_error(operation.error),
        "result_id": operation.result_id,
        "pictures": [picture_url(sandbox, key) for key in ingredient.picture_keys] if ingredient else [],
    }


def _of_generation(sandbox: Sandbox, generation: Generation) -> dict[str, Any]:
    outputs = [
        {
            "slot": slot,
            "status": output.status,
            "finishes_at": timestamp_or_none(planned.finishes_at),
            "asset_id": output.asset_id,
            "url": _url(sandbox, output.asset_id),
            "error": _describe_error(output.error),
        }
        for slot, (output, planned) in enumerate(zip(generation.outputs, generation.plan, strict=True), start=1)
    ]
    return {
        "workflow": generation.workflow,
        "starts_at": timestamp_or_none(generation.starts_at),
        "outputs": outputs,
    }


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


def _describe_error(error: WorkError | None) -> dict[str, Any] | None:
    return None if error is None else {"code": error.code, "message": error.message, "retryable": error.retryable}


def add_sample(sandbox: Sandbox, team_id: str, now: int, name: str = "Sample") -> str:
    """Add a sample Asset without an upload, drawn like a premade picture of this name; return its id."""
    asset = Asset(
        id=sandbox.identifiers.next("ast"),
        team_id=team_id,
        source="upload",
        source_generation_id=None,
        format="png",
        width=_SAMPLE_EDGE,
        height=_SAMPLE_EDGE,
        created_at=now,
    )
    recipe = PremadeRecipe(kind="photography_style", name=name, width=_SAMPLE_EDGE, height=_SAMPLE_EDGE, format="png")
    sandbox.images.plan(asset.id, recipe)
    sandbox.store.assets.add(asset)
    return asset.id
