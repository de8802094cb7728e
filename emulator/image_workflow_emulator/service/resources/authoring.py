"""Reusable ingredients and the Operations that author them (sections 2 to 4, D20, D21, D25, D27 to D31).

The four kinds differ in their fields and in what is charged; all else is the same and written once. This file owns both
ends of an Operation's life: its admission, and the ingredient that it makes.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import structs

from image_workflow_emulator.domain.intents import Intent
from image_workflow_emulator.domain.orders import AUTHORING_PRICES
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.recipes import CardRecipe
from image_workflow_emulator.domain.resources import (
    INGREDIENT_TYPES,
    Ingredient,
    Operation,
    OperationOutcome,
)
from image_workflow_emulator.scenario.scenario import WorkOutcome
from image_workflow_emulator.service.resources import work
from image_workflow_emulator.service.resources.lookups import (
    ASSET,
    INGREDIENTS,
    found_by_path,
    refer,
    refer_to_all,
)
from image_workflow_emulator.service.sandbox.admission import (
    Order,
    check_budget,
    check_credits,
)
from image_workflow_emulator.service.sandbox.calls import Call, Handler
from image_workflow_emulator.service.sandbox.premade import plan_pictures
from image_workflow_emulator.service.sandbox.sandbox import Sandbox


class Change(Order, frozen=True):
    """What a write asks for: a new ingredient where there is no target, and new metadata alone where there are no
    sources.
    """

    kind: str
    target: Ingredient | None
    source_ids: tuple[str, ...]


def _check_read_only(call: Call, ingredient: Ingredient) -> Ingredient:
    """403: the ingredient is the Team's own (D21)."""
    if ingredient.scope == "global":
        raise Problem(
            "permission_denied",
            f"{ingredient.kind}_id: {ingredient.id} is premade and read-only; expected one of the Team's own",
            check=Check.READ_ONLY,
            remedy=f"use the id of a {ingredient.kind.replace('_', ' ')} of the Team's own",
        )
    return ingredient


def _check_state(call: Call, ingredient: Ingredient) -> Ingredient:
    """409: no unfinished work replaces its sources."""
    for operation in work.unfinished_operations(call):
        if operation.target_id == ingredient.id:
            replaces = f"the unfinished Operation {operation.id} replaces the sources of {ingredient.id}"
            raise work.operation_in_progress(
                f"{ingredient.kind}_id", replaces, operation
            )
    return ingredient


def _check_sources(kind: str, call: Call, target: Ingredient | None) -> Change:
    """422: the Assets that the work is made from are there."""
    if "asset_id" in call.intent:
        source_ids = [refer(call, ASSET, "/asset_id", call.intent["asset_id"]).id]
    else:
        source_ids = [
            asset.id
            for asset in refer_to_all(
                call, ASSET, "/asset_ids", call.intent.get("asset_ids", ())
            )
        ]
    price, places = (AUTHORING_PRICES[kind], 1) if source_ids else (0, 0)
    return Change(price, places, kind, target, tuple(source_ids))


def _metadata(intent: Intent) -> dict[str, Any]:
    """Return the attributes that a body sets: its fields, the sources aside."""
    return {
        "background_kind" if field == "kind" else field: tuple(value)
        if isinstance(value, list)
        else value
        for field, value in intent.items()
        if field not in ("asset_id", "asset_ids")
    }


def source_to_examine(call: Call) -> str | None:
    """Return the Asset whose scene a Background's admission must know (D30), if it is not known yet."""
    asset_id = call.intent.get("asset_id")
    if (
        asset_id is None
        or call.sandbox.store.assets.visible(call.team_id, asset_id) is None
    ):
        return None
    return None if call.sandbox.images.pictures[asset_id].scene else str(asset_id)


def _change(call: Call, change: Change) -> Ingredient | Operation:
    """Change metadata at once, or admit the replacement of the sources (section 4; metadata sent along waits, D25)."""
    if change.source_ids or change.target is None:
        return _admit(call, change)
    changed = structs.replace(
        change.target, updated_at=call.now, **_metadata(call.intent)
    )
    call.sandbox.store.ingredients[change.kind].replace(changed)
    return changed


def _delete(call: Call, ingredient: Ingredient) -> None:
    """Delete a Team's ingredient for good; admitted Generations captured what they need of it."""
    call.sandbox.store.ingredients[ingredient.kind].remove(ingredient)
    call.sandbox.images.withdraw(ingredient.picture_keys)


def _admit(call: Call, change: Change) -> Operation:
    """Admit the making of an ingredient; until it succeeds there is no trace of it (section 3, rule 3)."""
    sandbox, target, source_ids = call.sandbox, change.target, change.source_ids
    operation_type = f"{change.kind}.{'create' if target is None else 'update'}"
    outcome = _plan(call, change, work.decide(call, operation_type))
    operation = Operation(
        id=sandbox.identifiers.next("op"),
        type=operation_type,
        target_id=target.id if target else _target_of_create(sandbox, change.kind),
        outcome=outcome,
        **work.queued(call, change.price),
    )
    work.admit(call, operation.id, change, outcome.finishes_at)
    sandbox.store.operations.add(operation)
    sandbox.images.hold(source_ids)
    if work.skips_queue(sandbox):
        start_operation(sandbox, operation.id, call.now)
    else:
        sandbox.timeline.schedule(outcome.starts_at, "operation_started", operation.id)
    if work.skips_queue(sandbox) and outcome.finishes_at == call.now:
        finish_operation(sandbox, operation.id, call.now)
    elif outcome.finishes_at is not None:
        sandbox.timeline.schedule(
            outcome.finishes_at, "operation_finished", operation.id
        )
    return sandbox.store.operations.items[operation.id]


def _target_of_create(sandbox: Sandbox, kind: str) -> str | None:
    """Return the target that the Operation of a create names before it exists: none, unless D27 is read otherwise."""
    is_known = sandbox.readings.target == "target-at-once"
    return sandbox.identifiers.next(INGREDIENT_TYPES[kind].prefix) if is_known else None


def _plan(call: Call, change: Change, planned: WorkOutcome) -> OperationOutcome:
    """Decide the outcome of the work at admission, from the scenario and the scene of the source (D30)."""
    sandbox, kind, charge = call.sandbox, change.kind, change.price
    if (
        kind == "background"
        and (planned.scene or sandbox.images.pictures[change.source_ids[0]].scene)
        != "foreground"
    ):
        charge = 0
    duration_ms = (
        getattr(sandbox.timings, f"{kind}_ms")
        if planned.duration_ms is None
        else planned.duration_ms
    )
    if (
        work.skips_queue(sandbox) and change.price == 0 and planned.duration_ms is None
    ):  # D71
        duration_ms = 0
    starts_at = call.now + work.queue_ms(sandbox)
    finishes_at = None if planned.stall else starts_at + duration_ms
    failed = work.failure(planned.fail) if planned.fail else None
    return OperationOutcome(
        starts_at, finishes_at, failed, 0 if failed else charge, change.source_ids
    )


def start_operation(sandbox: Sandbox, operation_id: str, now: int) -> None:
    """Start an Operation: its time in the queue is over."""
    operations = sandbox.store.operations
    operations.replace(work.started(operations.items[operation_id], now))


def finish_operation(sandbox: Sandbox, operation_id: str, now: int) -> None:
    """Finish an Operation: write its ingredient, or leave everything unchanged (section 3, rule 3)."""
    store = sandbox.store
    operation = store.operations.items[operation_id]
    outcome = operation.outcome
    result_id = (
        None if outcome.failure else _write_ingredient(sandbox, operation, now).id
    )
    ended = work.finished(
        sandbox,
        operation,
        "failed" if outcome.failure else "succeeded",
        outcome.charge,
        now,
    )
    store.operations.replace(
        structs.replace(ended, result_id=result_id, error=outcome.failure)
    )
    sandbox.images.release(outcome.source_keys)


def _write_ingredient(sandbox: Sandbox, operation: Operation, now: int) -> Ingredient:
    """Create the ingredient of an Operation, or replace it by its new version."""
    resource = INGREDIENT_TYPES[operation.ingredient_kind]
    collection = sandbox.store.ingredients[resource.kind]
    changes = _metadata(operation.request)
    sources = operation.outcome.source_keys
    if operation.target_id not in collection.items:
        ingredient = resource(
            id=operation.target_id or sandbox.identifiers.next(resource.prefix),
            team_id=operation.team_id,
            source_asset_ids=sources,
            created_at=now,
            updated_at=now,
            **changes,
        )
        collection.add(ingredient)
    else:
        previous = collection.items[operation.target_id]
        sandbox.images.withdraw(previous.picture_keys)
        ingredient = structs.replace(
            previous,
            source_asset_ids=sources,
            updated_at=now,
            version=previous.version + 1,
            **changes,
        )
        collection.replace(ingredient)
    plan_pictures(sandbox.images, ingredient, partial(CardRecipe, inputs=sources))
    return ingredient


def _handlers(kind: str) -> tuple[Handler, Handler, Handler]:
    changeable = (
        found_by_path(INGREDIENTS[kind]),
        (Check.READ_ONLY, _check_read_only),
        (Check.STATE, _check_state),
    )
    admission = (
        (Check.REFERENCES, partial(_check_sources, kind)),
        (Check.CONCURRENCY, check_budget),
        (Check.CREDITS, check_credits),
    )
    return (
        Handler(checks=admission, commit=_change),
        Handler(checks=(*changeable, *admission), commit=_change),
        Handler(checks=changeable, commit=_delete),
    )


HANDLERS: Mapping[str, tuple[Handler, Handler, Handler]] = {
    kind: _handlers(kind) for kind in INGREDIENT_TYPES
}
"""By kind: how one is created, updated and deleted."""
