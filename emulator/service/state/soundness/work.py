"""Operations and Generations: their states, their requests, and what was decided at their admission."""

from typing import TypeVar

from emulator.contract import Contract
from emulator.domain.intents import Intent, intent_of
from emulator.domain.ledger import LedgerError
from emulator.domain.lifecycles import TERMINAL, generation_status
from emulator.domain.problems import Problem
from emulator.domain.resources import OPERATION_TYPES, Generation, Ingredient, Operation, operation_admitting
from emulator.service.authoring import AUTHORING
from emulator.service.generations import BY_WORKFLOW
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.pictures import is_drawable
from emulator.service.state.soundness.rows import (
    Row,
    StateError,
    check_assets,
    check_instants,
    check_pictures,
    expect,
    numbered,
    owned,
)

Work = TypeVar("Work", Operation, Generation)


def check_work(sandbox: Sandbox, contract: Contract) -> None:
    """Check Operations and Generations, and enter what they reserve, use and wait for. Raises StateError."""
    for operation in owned(sandbox, "operations", "op", sandbox.store.operations):
        _check_progress(sandbox, operation)
        _check_operation(sandbox, operation, contract)
        _take_over(sandbox, operation, operation.item.outcome.finishes_at)
    for generation in owned(sandbox, "generations", "gen", sandbox.store.generations):
        _check_progress(sandbox, generation)
        _check_generation(generation, contract)
        _check_outputs(sandbox, generation)
        _take_over(sandbox, generation, generation.item.plan[-1].finishes_at)


def _take_over(sandbox: Sandbox, row: Row[Work], finishes_at: int | None) -> None:
    """Restore reservations and concurrency of unfinished work; count the charges of finished work."""
    work = row.item
    account = sandbox.accounts[work.team_id]
    try:
        account.ledger.restore(work.id, work.reserved_credits, work.charged_credits)
    except LedgerError as error:
        raise StateError(f"{row.where}/reserved_credits: {error}") from None
    if work.status not in TERMINAL:
        account.budget.take(work.id, finishes_at)


def _check_progress(sandbox: Sandbox, row: Row[Work]) -> None:
    """A state must agree with the instants and the charge that it brings."""
    work, is_done = row.item, row.item.status in TERMINAL
    expected = f"what {work.status} work has"
    row.expect_only(work.status != "queued", "started_at", expected)
    row.expect_only(is_done, "finished_at", expected)
    row.expect_only(is_done, "charged_credits", expected)
    row.expect((work.charged_credits or 0) <= work.reserved_credits, "charged_credits", "no more than reserved")
    instants = [work.created_at, work.started_at or work.created_at, work.finished_at or work.updated_at]
    check_instants(sandbox, row.where, instants)


def _check_intent(where: str, work: str, request: Intent, contract: Contract) -> None:
    """Check the request of work against the body of the operation that admits it."""
    name = contract.operations[operation_admitting(work)].body
    assert name is not None, "what admits work has a body"
    violations = contract.violations(name, request, first_only=True)
    if violations:
        raise StateError(f"{where}{violations[0].where}: expected {violations[0].expected}")
    try:
        expect(intent_of(name, request) == request, where, request, "a request in its normal form")
    except Problem as problem:
        raise StateError(f"{where}{problem.detail}") from None


def _check_operation(sandbox: Sandbox, row: Row[Operation], contract: Contract) -> None:
    store, operation = sandbox.store, row.item
    row.expect(operation.type in OPERATION_TYPES, "type", f"one of {', '.join(OPERATION_TYPES)}")
    kind, is_update = operation.ingredient_kind, operation.type.endswith(".update")
    _check_intent(f"{row.where}/request", operation.type, operation.request, contract)
    sources = operation.request.get(AUTHORING[kind].sources, ())
    sources = (sources,) if isinstance(sources, str) else tuple(sources)
    row.expect(sources and sources == operation.outcome.source_keys, "outcome/source_keys", "those of the request")
    row.expect(operation.outcome.charge <= operation.reserved_credits, "outcome/charge", "no more than reserved")
    row.expect_only(is_update, "target_id", "what an update has")
    row.expect_only(operation.status == "failed", "error", "that of failed work")
    row.expect_only(operation.status == "completed", "result_id", "that of completed work")
    if operation.status in TERMINAL:
        return
    check_assets(sandbox, f"{row.where}/outcome/source_keys", operation.team_id, sources)
    if operation.target_id is not None:
        target: Ingredient | None = store.ingredients[kind].items.get(operation.target_id)
        is_own = target is not None and target.team_id == operation.team_id
        is_free = is_own and operation.target_id not in store.operation_on_target
        row.expect(is_free, "target_id", "an ingredient that nothing else replaces")
    store.index_operation(operation)


def _check_generation(row: Row[Generation], contract: Contract) -> None:
    generation = row.item
    row.expect(generation.workflow in BY_WORKFLOW, "workflow", f"one of {', '.join(BY_WORKFLOW)}")
    _check_intent(f"{row.where}/request", generation.workflow, generation.request, contract)
    slots = generation.request.get("image_count", 1)
    is_planned = len(generation.plan) == len(generation.outputs) == slots
    expect(is_planned, f"{row.where}/plan", len(generation.plan), f"a plan for each of {slots} outputs")
    row.expect(generation.reserved_credits > 0, "reserved_credits", "what its admission reserved")


def _check_outputs(sandbox: Sandbox, row: Row[Generation]) -> None:
    """The outputs must agree with the state of their Generation, and with the plan."""
    generation, recipe_type = row.item, BY_WORKFLOW[row.item.workflow].recipe
    for slot in numbered(f"{row.where}/outputs", generation.outputs):
        slot.expect_only(slot.item.status == "completed", "asset_id", "that of a completed output")
        slot.expect_only(slot.item.status == "failed", "error", "that of a failed output")
        is_waiting = slot.item.status == "pending"
        slot.expect(is_waiting == (generation.status == "queued"), "status", f"what {generation.status} work has")
    status = generation_status(generation.status, generation.outputs)
    is_done = all(output.status in TERMINAL for output in generation.outputs)
    is_agreed = status == generation.status and is_done == (status in TERMINAL)
    row.expect(is_agreed, "status", f"{status}, as its outputs are")
    for planned, output in zip(numbered(f"{row.where}/plan", generation.plan), generation.outputs, strict=True):
        recipe = planned.item.picture
        is_fit = isinstance(recipe, recipe_type) and is_drawable(recipe)
        planned.expect(is_fit, "picture/inputs", f"a recipe of {generation.workflow}")
        if output.status not in TERMINAL:
            check_pictures(sandbox, f"{planned.where}/picture/inputs", recipe.inputs)
