"""The problems that a scenario asks for, with the answer that the service itself would give now (D42, D47)."""

from emulator.domain.admission import NOTHING_DUE_MS
from emulator.domain.problems import CATALOGUE, Problem
from emulator.kernel.timestamps import SECOND_MS, seconds_up
from emulator.service.calls import Caller
from emulator.service.sandbox import Sandbox

_RATE_RETRY_SECONDS = 5
_REFUSED_READ = "the service cannot answer reads: wait for Retry-After, then retry"
"""The detail where a pause of new writes, which is what service_unavailable means of itself, would not be the cause."""


def injected_problem(
    sandbox: Sandbox,
    caller: Caller | None,
    now: int,
    code: str,
    detail: str | None,
    retry_after: int | None,
    is_read: bool,
) -> Problem:
    """Return the problem of a code. `detail` and `retry_after` (seconds): None for the service's own."""
    kind, wait_ms = CATALOGUE[code], 0
    if retry_after is None and kind.status in (429, 503):
        wait_ms = _wait_ms(sandbox, caller, now, code)
        retry_after = max(seconds_up(wait_ms), 1)
    own_detail = f"{kind.title.lower()}: {kind.recovery}"
    if is_read and code == "service_unavailable":
        own_detail = _REFUSED_READ
    return Problem(
        code,
        detail or own_detail,
        retry_after=retry_after,
        retry_wait_ms=wait_ms,
        active_operation_id=_active_operation_id(sandbox, caller) if code == "resource_operation_in_progress" else None,
        is_injected=True,
    )


def _wait_ms(sandbox: Sandbox, caller: Caller | None, now: int, code: str) -> int:
    if code == "rate_limited":
        return _RATE_RETRY_SECONDS * SECOND_MS
    if code == "service_unavailable":
        pause = caller.account.pause if caller is not None and caller.account.pause.paused else sandbox.pause
        return pause.retry_after * SECOND_MS
    return NOTHING_DUE_MS if caller is None else caller.account.budget.wait_ms(now)


def _active_operation_id(sandbox: Sandbox, caller: Caller | None) -> str:
    """Return an Operation to be polled: the Team's newest, an unfinished one first; if it has none, an unknown id."""
    operations = sandbox.store.operations
    found = [] if caller is None else [work for work in caller.account.budget.finishes_at if work in operations.items]
    if not found and caller is not None:
        found = list(operations.ids(caller.team_id)[-1:])
    # An id of a kind of its own, so that those of Operations to come stay what they are (D09).
    return found[-1] if found else "op" + sandbox.identifiers.next("fault").removeprefix("fault")
