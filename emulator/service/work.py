"""What Operations and Generations share: admission to the concurrency budget and the ledger, failures, and their end."""

from emulator.domain.admission import NOTHING_DUE_RETRY_SECONDS
from emulator.domain.problems import Problem, count_of
from emulator.domain.resources import Operation, WorkError
from emulator.kernel.timestamps import SECOND_MS, format_timestamp, seconds_up
from emulator.scenario.rules import WorkRule
from emulator.service.accounts import Caller
from emulator.service.teams import TeamAccount

_FAILURES = {
    "processing_failed": ("The work could not be completed.", True),
    "timed_out": ("The work took too long and was given up.", True),
    "content_rejected": ("The content was rejected by a safety check.", False),
}


def failure(code: str) -> WorkError:
    """Return the error of failed work or of a failed output (D31)."""
    message, retryable = _FAILURES[code]
    return WorkError(code, message, retryable)


def remedy_for_work(operation: Operation) -> str:
    """Say what to do about an Operation that is in the way."""
    if operation.outcome.finishes_at is None:
        return f"reset the sandbox: a scenario stalls {operation.id} for ever"
    return f"wait until {operation.id} has finished, at {format_timestamp(operation.outcome.finishes_at)}"


def check_budget(caller: Caller, now: int) -> None:
    """Let no more unfinished work in than the Team's budget has places (section 8, D40, D42).

    Raises:
        Problem: concurrency_limit_reached.
    """
    budget, limit = caller.account.budget, caller.account.team.concurrency_limit
    if budget.used < limit:
        return
    wait_ms = budget.wait_ms(now)
    if wait_ms is None:
        wait_ms = NOTHING_DUE_RETRY_SECONDS * SECOND_MS  # D47
    raise Problem(
        "concurrency_limit_reached",
        f"the Team {caller.account.team.name!r}: found {count_of(budget.used, 'piece')} of creative work in progress; "
        f"expected fewer than {limit}",
        retry_after=max(seconds_up(wait_ms), 1),
        retry_wait_ms=wait_ms,
        remedy="wait until some of it has finished",
    )


def check_credits(caller: Caller, price: int) -> None:
    """Let only work in that the Team can pay in full (section 4).

    Raises:
        Problem: insufficient_credits.
    """
    available = caller.account.ledger.available
    if available < price:
        raise Problem(
            "insufficient_credits",
            f"the Team {caller.account.team.name!r}: found {count_of(available, 'Credit')} available; "
            f"expected at least {price}, the full price of this request",
            remedy=f"add {count_of(price - available, 'Credit')}",
        )


def admit(
    caller: Caller, work_id: str, price: int, finishes_at: int | None, now: int, rule: WorkRule | None = None
) -> None:
    """Reserve the Credits and take the place; everything was checked before, so nothing can fail here.

    `rule` is the one of a scenario that decided what becomes of the work: the journal tells it.
    """
    if rule is not None:
        caller.sandbox.journal.note_work_rule(work_id, rule)
    caller.account.ledger.reserve(now, work_id, price)
    caller.account.budget.take(work_id, finishes_at)
    caller.sandbox.feed.note("work", (work_id, "queued"))
    caller.sandbox.feed.note("team", caller.team_id)


def finish(account: TeamAccount, work_id: str, charge: int, now: int) -> None:
    """Charge what is due, give back the rest and the place."""
    account.ledger.settle(now, work_id, charge)
    account.budget.give_back(work_id)
