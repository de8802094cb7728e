"""The problems that a scenario asks for, with the answer that the service itself would
give now (D42, D47).
"""

from typing import Final

from image_workflow_emulator.domain.limits import NOTHING_DUE_MS
from image_workflow_emulator.domain.problems import CATALOGUE, Problem
from image_workflow_emulator.kernel.timestamps import SECOND_MS, seconds_up
from image_workflow_emulator.service.sandbox.calls import Caller
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

_RATE_RETRY_SECONDS: Final = 5
_REFUSED_READ: Final = "wait for Retry-After, then retry"
"""What to do after a read that is refused: of itself, service_unavailable means a pause
of new writes."""


def injected_problem(
    sandbox: Sandbox,
    caller: Caller | None,
    now: int,
    code: str,
    detail: str | None,
    retry_after: int | None,
    is_read: bool,
) -> Problem:
    """Return the problem of a code.

    `detail` and `retry_after` (seconds): None for the service's own.
    """
    kind = CATALOGUE[code]
    wait_ms = 0
    if retry_after is None and kind.status in (429, 503):
        wait_ms = _wait_ms(sandbox, caller, now, code)
        retry_after = max(seconds_up(wait_ms), 1)
    if detail is None:
        recovery = kind.recovery
        if is_read and code == "service_unavailable":
            recovery = _REFUSED_READ
        detail = (
            f"this answer was injected, whatever the state of the service: {recovery}"
        )
    active_operation_id = None
    if code == "resource_operation_in_progress":
        active_operation_id = _active_operation_id(sandbox, caller)
    return Problem(
        code,
        detail,
        retry_after=retry_after,
        retry_wait_ms=wait_ms,
        active_operation_id=active_operation_id,
        is_injected=True,
    )


def _wait_ms(
    sandbox: Sandbox,
    caller: Caller | None,
    now: int,
    code: str,
) -> int:
    """Return how long the service itself would let a client wait."""
    if code == "rate_limited":
        return _RATE_RETRY_SECONDS * SECOND_MS
    if code == "service_unavailable":
        pause = sandbox.pause
        if caller is not None and caller.account.pause.paused:
            pause = caller.account.pause
        return pause.retry_after * SECOND_MS
    if caller is None:
        return NOTHING_DUE_MS
    return caller.account.budget.wait_ms(now)


def _active_operation_id(sandbox: Sandbox, caller: Caller | None) -> str:
    """Return an Operation to poll: the Team's newest unfinished one, else its newest;
    an unknown id if it has none.
    """
    if caller is not None:
        operations = sandbox.store.operations
        for work_id in reversed(caller.account.budget.finishes_at):
            if work_id in operations.items:
                return work_id
        finished = operations.ids(caller.team_id)
        if finished:
            return finished[-1]
    # An id of a kind of its own: those of Operations to come stay what they are (D09).
    return "op" + sandbox.identifiers.next("fault").removeprefix("fault")
