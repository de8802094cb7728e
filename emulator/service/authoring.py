"""Reusable ingredients and the Operations that author them (sections 2 to 4, D20, D21, D25, D27 to D31).

The four kinds differ in their fields and in what is charged; all else is the same and written once. This file owns both
ends of an Operation's life: its admission, and the commit of what it made.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from emulator.domain import lifecycles
from emulator.domain.intents import Intent
from emulator.domain.pricing import AUTHORING_RESERVATION
from emulator.domain.problems import Check, Problem, excerpt, invalid_reference
from emulator.domain.recipes import CardRecipe
from emulator.domain.resources import (
    Background,
    FashionModel,
    Ingredient,
    Operation,
    OperationOutcome,
    PhotographyStyle,
    Pose,
)
from emulator.scenario.faults import WorkOutcome
from emulator.service import scenarios, work
from emulator.service.accounts import Caller
from emulator.service.library import check_assets, remedy_for_asset
from emulator.service.premade import CARD_SIZE
from emulator.service.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class IngredientKind:
    """One kind: its class, the prefix of its ids, its source field, and how the other fields of a body become its own."""

    resource: Callable[..., Ingredient]
    prefix: str
    sources: str
    fields: Mapping[str, str]
    described_as: str = ""


KINDS: Mapping[str, IngredientKind] = {
    "photography_style": IngredientKind(
        PhotographyStyle, "sty", "asset_ids", {"name": "name", "description": "description"}
    ),
    "background": IngredientKind(
        Background, "bkg", "asset_id", {"name": "name", "kind": "background_kind"}, "A background made from a picture."
    ),
    "pose": IngredientKind(
        Pose,
        "pos",
        "asset_id",
        {"name": "name", "supported_camera_distances": "supported_camera_distances"},
        "A pose read from a picture.",
    ),
    "fashion_model": IngredientKind(
        FashionModel, "fmd", "asset_ids", {"name": "name", "age_range": "age_range", "gender": "gender"}
    ),
}


def get(caller: Caller, kind: str, identifier: str) -> Ingredient:
    """Return a usable ingredient, the Team's or a global one. Raises Problem not_found."""
    ingredient = caller.sandbox.store.ingredients[kind].visible(caller.team_id, identifier)
    if ingredient is None:
        words = kind.replace("_", " ")
        raise Problem(
            "not_found",
            f"{kind}_id: found {excerpt(identifier)}; expected a {words} that the Team can use",
            remedy=remedy_for_ingredient(caller, kind, identifier),
        )
    return ingredient


def remedy_for_ingredient(caller: Caller, kind: str, identifier: str) -> str:
    """Say what to do about an ingredient that is absent to the Team."""
    item = caller.sandbox.store.ingredients[kind].items.get(identifier)
    return caller.remedy_for_absent(item, f"use the id of one that GET /{kind.replace('_', '-')}s lists")


def create(caller: Caller, kind: str, intent: Intent, now: int) -> Operation:
    """Admit the making of an ingredient; until it succeeds there is no trace of it (section 3, rule 3).

    Raises:
        Problem: invalid_reference, concurrency_limit_reached, insufficient_credits.
    """
    return _admit(caller, kind, None, intent, now)


def update(caller: Caller, kind: str, identifier: str, intent: Intent, now: int) -> Ingredient | Operation:
    """Change metadata at once, or admit the replacement of the sources (section 4; metadata sent along waits, D25).

    Raises:
        Problem: not_found, permission_denied, resource_operation_in_progress, and those of `create`.
    """
    ingredient = _changeable(caller, kind, identifier)
    if KINDS[kind].sources in intent:
        return _admit(caller, kind, ingredient, intent, now)
    caller.before_commit()
    changed = dataclasses.replace(ingredient, updated_at=now, **_metadata(kind, intent))
    caller.sandbox.store.ingredients[kind].replace(changed)
    return changed


def delete(caller: Caller, kind: str, identifier: str) -> None:
    """Delete a Team's ingredient for good; admitted Generations captured what they need of it.

    Raises:
        Problem: not_found, permission_denied, resource_operation_in_progress.
    """
    ingredient = _changeable(caller, kind, identifier)
    caller.before_commit()
    caller.sandbox.store.ingredients[kind].remove(ingredient)
    for key in ingredient.picture_keys:
        caller.sandbox.images.withdraw(key)


def get_operation(caller: Caller, operation_id: str) -> Operation:
    """Return an Operation of the Team. Raises Problem not_found."""
    operation = caller.sandbox.store.operations.visible(caller.team_id, operation_id)
    if operation is None:
        item = caller.sandbox.store.operations.items.get(operation_id)
        raise Problem(
            "not_found",
            f"operation_id: found {excerpt(operation_id)}; expected an Operation of this Team",
            remedy=caller.remedy_for_absent(item, "use the id of an Operation that GET /operations lists"),
        )
    return operation


def _changeable(caller: Caller, kind: str, identifier: str) -> Ingredient:
    """Return an ingredient that may be changed now: the Team's own (D21), with no source-changing work on it."""
    ingredient = get(caller, kind, identifier)
    if ingredient.scope == "global":
        raise Problem(
            "permission_denied",
            f"{kind}_id: {identifier} is premade and read-only; expected one of the Team's own",
            check=Check.READ_ONLY,
            remedy=f"create a {kind.replace('_', ' ')} of the Team's own, and use its id",
        )
    operation_id = caller.sandbox.store.operation_on_target.get(identifier)
    if operation_id is not None:
        raise Problem(
            "resource_operation_in_progress",
            f"{kind}_id: found {identifier}, whose sources the unfinished Operation {operation_id} replaces; "
            "expected it to be finished",
            active_operation_id=operation_id,
            remedy=work.remedy_for_work(caller.sandbox.store.operations.items[operation_id]),
        )
    return ingredient


def _source_ids(kind: str, intent: Intent) -> list[str]:
    sources = intent[KINDS[kind].sources]
    return [sources] if isinstance(sources, str) else sources


def _check_sources(caller: Caller, kind: str, intent: Intent) -> None:
    field = KINDS[kind].sources
    if field == "asset_ids":
        check_assets(caller, "/asset_ids", intent[field])
    elif caller.sandbox.store.assets.visible(caller.team_id, intent[field]) is None:
        remedy = remedy_for_asset(caller, intent[field])
        raise invalid_reference(f"/{field}", intent[field], "a live Asset of this Team", remedy)


def _metadata(kind: str, intent: Intent) -> dict[str, Any]:
    return {
        attribute: tuple(intent[field]) if isinstance(intent[field], list) else intent[field]
        for field, attribute in KINDS[kind].fields.items()
        if field in intent
    }


def source_to_examine(caller: Caller, intent: Intent) -> str | None:
    """Return the Asset whose scene a Background's admission must know (D30), if it is not known yet."""
    asset_id = intent.get("asset_id")
    if asset_id is None or caller.sandbox.store.assets.visible(caller.team_id, asset_id) is None:
        return None
    return None if caller.sandbox.images.pictures[asset_id].scene else str(asset_id)


def _admit(caller: Caller, kind: str, target: Ingredient | None, intent: Intent, now: int) -> Operation:
    sandbox = caller.sandbox
    _check_sources(caller, kind, intent)
    work.check_budget(caller, now)
    price = AUTHORING_RESERVATION[kind]
    work.check_credits(caller, price)
    caller.before_commit()

    source_ids = tuple(_source_ids(kind, intent))
    operation_type = f"{kind}.{'create' if target is None else 'update'}"
    decision = scenarios.decide_work(caller, operation_type, now)
    outcome = _plan(caller, kind, decision.outcome, source_ids, now)
    operation = Operation(
        id=sandbox.identifiers.next("op"),
        team_id=caller.team_id,
        type=operation_type,
        status="queued",
        request=intent,
        target_id=target.id if target else None,
        result_id=None,
        error=None,
        reserved_credits=price,
        charged_credits=None,
        created_at=now,
        updated_at=now,
        started_at=None,
        finished_at=None,
        outcome=outcome,
    )
    work.admit(caller, operation.id, price, outcome.finishes_at, now, decision.rule)
    store = sandbox.store
    store.operations.add(operation)
    store.index_operation(operation)
    sandbox.images.hold(source_ids)
    sandbox.timeline.schedule(now + sandbox.timings.queue_ms, "operation_started", operation.id)
    if outcome.finishes_at is not None:
        sandbox.timeline.schedule(outcome.finishes_at, "operation_finished", operation.id)
    return operation


def _plan(caller: Caller, kind: str, planned: WorkOutcome, source_ids: tuple[str, ...], now: int) -> OperationOutcome:
    """Decide at admission what the work will come to, from the scenario and a look at the source (D30)."""
    sandbox = caller.sandbox
    charge = AUTHORING_RESERVATION[kind]
    if kind == "background":
        scene = planned.scene or sandbox.images.pictures[source_ids[0]].scene
        charge = 1 if scene == "foreground" else 0
    duration_ms = getattr(sandbox.timings, f"{kind}_ms") if planned.duration_ms is None else planned.duration_ms
    finishes_at = None if planned.stall else now + sandbox.timings.queue_ms + duration_ms
    failed = work.failure(planned.fail) if planned.fail else None
    return OperationOutcome(finishes_at, failed, 0 if failed else charge, source_ids)


def start_operation(sandbox: Sandbox, operation_id: str, now: int) -> None:
    """The queue has let an Operation through."""
    operation = sandbox.store.operations.items[operation_id]
    sandbox.store.operations.replace(
        dataclasses.replace(
            operation,
            status=lifecycles.move(lifecycles.WORK, operation.status, "started"),
            started_at=now,
            updated_at=now,
        )
    )


def finish_operation(sandbox: Sandbox, operation_id: str, now: int) -> None:
    """An Operation has come to its end: commit what it made, or leave everything as it was (section 3, rule 3)."""
    store = sandbox.store
    operation = store.operations.items[operation_id]
    outcome = operation.outcome
    result_id = None if outcome.failure else _commit(sandbox, operation, now)
    store.operations.replace(
        dataclasses.replace(
            operation,
            status=lifecycles.move(lifecycles.WORK, operation.status, "failed" if outcome.failure else "succeeded"),
            result_id=result_id,
            error=outcome.failure,
            charged_credits=outcome.charge,
            updated_at=now,
            finished_at=now,
        )
    )
    store.unindex_operation(operation)
    sandbox.images.release(outcome.source_keys)
    work.finish(sandbox.accounts[operation.team_id], operation.id, outcome.charge, now)


def _commit(sandbox: Sandbox, operation: Operation, now: int) -> str:
    """Create the ingredient, or put its new version in place of the old one."""
    kind_name = operation.ingredient_kind
    kind = KINDS[kind_name]
    collection = sandbox.store.ingredients[kind_name]
    changes = _metadata(kind_name, operation.request)
    sources = operation.outcome.source_keys
    if operation.target_id is None:
        if kind.described_as:
            changes["description"] = kind.described_as
        ingredient = kind.resource(
            id=sandbox.identifiers.next(kind.prefix),
            team_id=operation.team_id,
            source_asset_ids=sources,
            created_at=now,
            updated_at=now,
            version=1,
            **changes,
        )
        collection.add(ingredient)
    else:
        previous = collection.items[operation.target_id]
        for key in previous.picture_keys:
            sandbox.images.withdraw(key)
        ingredient = dataclasses.replace(
            previous, source_asset_ids=sources, updated_at=now, version=previous.version + 1, **changes
        )
        collection.replace(ingredient)
    for index, key in enumerate(ingredient.picture_keys):
        width, height = CARD_SIZE
        card = CardRecipe(
            kind=kind_name,  # type: ignore[arg-type]  # one of the four kinds
            name=ingredient.name,
            index=index,
            width=width,
            height=height,
            format="png",
            inputs=sources,
        )
        sandbox.images.plan(key, card)
    return ingredient.id
