"""The life of work, which Operations and Generations share: admitted, started,
finished, with its place and its Credits.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar

from msgspec import structs

from image_workflow_emulator.domain.lifecycles import WORK
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Operation, Work, WorkError
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.scenario.matching import Facts
from image_workflow_emulator.scenario.outcomes import FailureCode, WorkOutcome
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.admission import Order
from image_workflow_emulator.service.sandbox.calls import Call
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

SomeWork = TypeVar("SomeWork", bound=Work)

FAILURES: Final[Mapping[FailureCode, WorkError]] = {
    "processing_failed": WorkError(
        code="processing_failed",
        message="The work could not be completed.",
        retryable=True,
    ),
    "timed_out": WorkError(
        code="timed_out",
        message="The work took too long and was given up.",
        retryable=True,
    ),
    "content_rejected": WorkError(
        code="content_rejected",
        message="The content was rejected by a safety check.",
        retryable=False,
    ),
}
"""The errors of failed work and of failed outputs, by code (D31)."""


def skips_queue(sandbox: Sandbox) -> bool:
    """Tell whether work starts with its admission (D71)."""
    return sandbox.readings.first_status == "skips"


def queue_ms(sandbox: Sandbox) -> int:
    """Return how long admitted work is queued."""
    if skips_queue(sandbox):
        return 0
    return sandbox.timings.queue_ms


def decide(
    call: Call,
    kind: str,
    outputs: int = 1,
) -> WorkOutcome:
    """Ask the running scenarios, once, for the outcome of work that is being admitted;
    note the rule that decides it.
    """
    team = call.caller.account.team
    facts = Facts("work", kind, team.id, team.name, outputs=outputs)
    decision = scenarios.decide(call.sandbox, facts, call.now)
    call.record.work_rule = decision.rule
    return decision.outcome


def unfinished_operations(call: Call) -> list[Operation]:
    """Return the Team's unfinished Operations, in the order of their admission."""
    operations = call.sandbox.store.operations.items
    return [
        operations[work_id]
        for work_id in call.caller.account.budget.places
        if work_id in operations
    ]


def operation_in_progress(
    where: str,
    why: str,
    operation: Operation,
) -> Problem:
    """Return the refusal of what an unfinished Operation is in the way of, and say what
    to do about it.
    """
    remedy = f"reset the sandbox: a scenario stalls {operation.id} for ever"
    finishes_at = operation.outcome.finishes_at
    if finishes_at is not None:
        end = format_timestamp(finishes_at)
        remedy = f"wait until {operation.id} has finished, at {end}"
    return Problem(
        "resource_operation_in_progress",
        f"{where}: {why}",
        active_operation_id=operation.id,
        remedy=remedy,
    )


def queued(call: Call, price: int) -> dict[str, Any]:
    """Return the fields that all work has when it is admitted."""
    return {
        "team_id": call.team_id,
        "request": call.intent,
        "reserved_credits": price,
        "created_at": call.now,
        "updated_at": call.now,
    }


def admit(
    call: Call,
    work_id: str,
    order: Order,
    finishes_at: int | None,
) -> None:
    """Reserve the Credits and take the place (D40). `finishes_at` is None for work that
    never finishes.
    """
    account = call.caller.account
    call.record.work_id = work_id
    account.ledger.reserve(work_id, order.price, call.now)
    account.budget.take(work_id, finishes_at, order.places)
    call.sandbox.feed.note("work", (work_id, "queued"))
    call.sandbox.feed.note("team", call.team_id)


def started(work: SomeWork, now: int) -> SomeWork:
    """Return work whose time in the queue is over."""
    status = WORK.after(work.status, "started")
    return structs.replace(
        work,
        status=status,
        started_at=now,
        updated_at=now,
    )


def finished(
    sandbox: Sandbox,
    work: SomeWork,
    event: Literal["succeeded", "failed"],
    charge: int,
    now: int,
) -> SomeWork:
    """Return work that has ended, its Credits settled and its place free."""
    status = WORK.after(work.status, event)
    account = sandbox.accounts[work.team_id]
    account.ledger.settle(work.id, charge, now)
    account.budget.give_back(work.id)
    return structs.replace(
        work,
        status=status,
        charged_credits=charge,
        updated_at=now,
        finished_at=now,
    )
