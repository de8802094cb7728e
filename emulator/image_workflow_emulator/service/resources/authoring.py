"""Reusable ingredients and the Operations that author them (sections 2 to 4, D20, D21,
D25, D27 to D31).

The four kinds differ in their fields and in what is charged; all else is the same and
written once. This file owns both ends of an Operation's life: its admission, and the
ingredient that it makes.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NamedTuple

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
from image_workflow_emulator.scenario.outcomes import WorkOutcome
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
    """What a write asks for: a new ingredient where there is no target, and new
    metadata alone where there are no sources.
    """

    kind: str
    target: Ingredient | None
    source_ids: tuple[str, ...]


def _check_read_only(call: Call, ingredient: Ingredient) -> Ingredient:
    """403: the ingredient is the Team's own (D21)."""
    if ingredient.scope == "global":
        kind = ingredient.kind.replace("_", " ")
        raise Problem(
            "permission_denied",
            f"{ingredient.kind}_id: {ingredient.id} is premade and read-only; expected "
            "one of the Team's own",
            check=Check.READ_ONLY,
            remedy=f"use the id of a {kind} of the Team's own",
        )
    return ingredient


def _check_state(call: Call, ingredient: Ingredient) -> Ingredient:
    """409: no unfinished work replaces its sources."""
    for operation in work.unfinished_operations(call):
        if operation.target_id == ingredient.id:
            where = f"{ingredient.kind}_id"
            reason = (
                f"the unfinished Operation {operation.id} replaces the sources of "
                f"{ingredient.id}"
            )
            raise work.operation_in_progress(where, reason, operation)
    return ingredient


def _check_sources(
    kind: str,
    call: Call,
    target: Ingredient | None,
) -> Change:
    """422: the Assets that the work is made from are there."""
    intent = call.intent
    if "asset_id" in intent:
        source = refer(call, ASSET, "/asset_id", intent["asset_id"])
        sources = [source]
    else:
        asset_ids = intent.get("asset_ids", ())
        sources = refer_to_all(call, ASSET, "/asset_ids", asset_ids)
    price = 0
    places = 0
    if sources:
        price = AUTHORING_PRICES[kind]
        places = 1
    return Change(
        price=price,
        places=places,
        kind=kind,
        target=target,
        source_ids=tuple(asset.id for asset in sources),
    )


def _attributes(intent: Intent) -> dict[str, Any]:
    """Return the attributes that a body sets: its fields, the sources aside."""
    attributes: dict[str, Any] = {}
    for field, value in intent.items():
        if field in ("asset_id", "asset_ids"):
            continue
        if isinstance(value, list):
            attributes[field] = tuple(value)
        else:
            attributes[field] = value
    if "kind" in attributes:
        attributes["background_kind"] = attributes.pop("kind")
    return attributes


def source_to_examine(call: Call) -> str | None:
    """Return the Asset whose scene a Background's admission must know (D30), if it is
    not known yet.
    """
    asset_id = call.intent.get("asset_id")
    if asset_id is None:
        return None
    asset = call.sandbox.store.assets.visible(call.team_id, asset_id)
    if asset is None:
        return None
    picture = call.sandbox.images.pictures[asset_id]
    if picture.scene:
        return None
    return str(asset_id)


# Changes ------------------------------------------------------------------------------


def _change(call: Call, change: Change) -> Ingredient | Operation:
    """Change metadata at once, or admit the replacement of the sources (section 4;
    metadata sent along waits, D25).
    """
    if change.source_ids or change.target is None:
        return _admit(call, change)
    attributes = _attributes(call.intent)
    changed = structs.replace(change.target, updated_at=call.now, **attributes)
    collection = call.sandbox.store.ingredients[change.kind]
    collection.replace(changed)
    return changed


def _delete(call: Call, ingredient: Ingredient) -> None:
    """Delete a Team's ingredient for good; admitted Generations captured what they need
    of it.
    """
    collection = call.sandbox.store.ingredients[ingredient.kind]
    collection.remove(ingredient)
    call.sandbox.images.withdraw(ingredient.picture_keys)


# Operations ---------------------------------------------------------------------------


def _admit(call: Call, change: Change) -> Operation:
    """Admit the making of an ingredient; until it succeeds there is no trace of it
    (section 3, rule 3).
    """
    sandbox = call.sandbox
    target = change.target
    if target is None:
        operation_type = f"{change.kind}.create"
        target_id = _target_of_create(sandbox, change.kind)
    else:
        operation_type = f"{change.kind}.update"
        target_id = target.id
    planned = work.decide(call, operation_type)
    outcome = _plan(call, change, planned)
    operation = Operation(
        id=sandbox.identifiers.next("op"),
        type=operation_type,
        target_id=target_id,
        outcome=outcome,
        **work.queued(call, change.price),
    )
    work.admit(call, operation.id, change, outcome.finishes_at)
    sandbox.store.operations.add(operation)
    sandbox.images.hold(change.source_ids)
    _schedule(sandbox, operation, call.now)
    return sandbox.store.operations.items[operation.id]


def _schedule(
    sandbox: Sandbox,
    operation: Operation,
    now: int,
) -> None:
    """Schedule the start and the end of an Operation; what is due now happens now."""
    outcome = operation.outcome
    if work.skips_queue(sandbox):
        start_operation(sandbox, operation.id, now)
        if outcome.finishes_at == now:
            finish_operation(sandbox, operation.id, now)
            return
    else:
        sandbox.timeline.schedule(outcome.starts_at, "operation_started", operation.id)
    if outcome.finishes_at is not None:
        due = outcome.finishes_at
        sandbox.timeline.schedule(due, "operation_finished", operation.id)


def _target_of_create(sandbox: Sandbox, kind: str) -> str | None:
    """Return the target that the Operation of a create names before it exists: none,
    unless D27 is read otherwise.
    """
    if sandbox.readings.target != "target-at-once":
        return None
    return sandbox.identifiers.next(INGREDIENT_TYPES[kind].prefix)


def _plan(
    call: Call,
    change: Change,
    planned: WorkOutcome,
) -> OperationOutcome:
    """Decide the outcome of the work at admission, from the scenario and the scene of
    the source (D30).
    """
    sandbox = call.sandbox
    starts_at = call.now + work.queue_ms(sandbox)
    finishes_at = None
    if not planned.stall:
        finishes_at = starts_at + _duration_ms(sandbox, change, planned)
    failure = None
    charge = _charge(sandbox, change, planned)
    if planned.fail:
        failure = work.FAILURES[planned.fail]
        charge = 0
    return OperationOutcome(
        starts_at=starts_at,
        finishes_at=finishes_at,
        failure=failure,
        charge=charge,
        source_keys=change.source_ids,
    )


def _charge(
    sandbox: Sandbox,
    change: Change,
    planned: WorkOutcome,
) -> int:
    """Return what successful work costs: a Background is charged only for a foreground
    that is removed (D30).
    """
    if change.kind == "background":
        picture = sandbox.images.pictures[change.source_ids[0]]
        scene = planned.scene or picture.scene
        if scene != "foreground":
            return 0
    return change.price


def _duration_ms(
    sandbox: Sandbox,
    change: Change,
    planned: WorkOutcome,
) -> int:
    if planned.duration_ms is not None:
        return planned.duration_ms
    if work.skips_queue(sandbox) and change.price == 0:  # D71
        return 0
    timings = sandbox.timings
    durations_ms = {
        "photography_style": timings.photography_style_ms,
        "background": timings.background_ms,
        "pose": timings.pose_ms,
        "fashion_model": timings.fashion_model_ms,
    }
    return durations_ms[change.kind]


def start_operation(
    sandbox: Sandbox,
    operation_id: str,
    now: int,
) -> None:
    """Start an Operation: its time in the queue is over."""
    operations = sandbox.store.operations
    operation = operations.items[operation_id]
    operations.replace(work.started(operation, now))


def finish_operation(
    sandbox: Sandbox,
    operation_id: str,
    now: int,
) -> None:
    """Finish an Operation: write its ingredient, or leave everything unchanged (section
    3, rule 3).
    """
    store = sandbox.store
    operation = store.operations.items[operation_id]
    outcome = operation.outcome
    if outcome.failure is None:
        ingredient = _write_ingredient(sandbox, operation, now)
        ended = work.finished(sandbox, operation, "succeeded", outcome.charge, now)
        ended = structs.replace(ended, result_id=ingredient.id)
    else:
        ended = work.finished(sandbox, operation, "failed", outcome.charge, now)
        ended = structs.replace(ended, error=outcome.failure)
    store.operations.replace(ended)
    sandbox.images.release(outcome.source_keys)


def _write_ingredient(
    sandbox: Sandbox,
    operation: Operation,
    now: int,
) -> Ingredient:
    """Create the ingredient of an Operation, or replace it by its new version."""
    resource = INGREDIENT_TYPES[operation.ingredient_kind]
    collection = sandbox.store.ingredients[resource.kind]
    attributes = _attributes(operation.request)
    source_ids = operation.outcome.source_keys
    if operation.target_id in collection.items:
        previous = collection.items[operation.target_id]
        sandbox.images.withdraw(previous.picture_keys)
        ingredient = structs.replace(
            previous,
            source_asset_ids=source_ids,
            updated_at=now,
            version=previous.version + 1,
            **attributes,
        )
        collection.replace(ingredient)
    else:
        ingredient = resource(
            id=operation.target_id or sandbox.identifiers.next(resource.prefix),
            team_id=operation.team_id,
            source_asset_ids=source_ids,
            created_at=now,
            updated_at=now,
            **attributes,
        )
        collection.add(ingredient)
    card_recipe = partial(CardRecipe, inputs=source_ids)
    plan_pictures(sandbox.images, ingredient, card_recipe)
    return ingredient


# The operations of a kind -------------------------------------------------------------


class IngredientHandlers(NamedTuple):
    """How ingredients of a kind are created, updated and deleted."""

    create: Handler
    update: Handler
    delete: Handler


def _handlers(kind: str) -> IngredientHandlers:
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
    return IngredientHandlers(
        create=Handler(checks=admission, commit=_change),
        update=Handler(checks=(*changeable, *admission), commit=_change),
        delete=Handler(checks=changeable, commit=_delete),
    )


HANDLERS: Final[Mapping[str, IngredientHandlers]] = {
    kind: _handlers(kind) for kind in INGREDIENT_TYPES
}
"""By kind of ingredient."""
