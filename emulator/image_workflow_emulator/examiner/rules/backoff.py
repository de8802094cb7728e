"""The rule about pauses between failures: they grow.

Owns how pauses are judged: whether they are next to nothing, or equally long.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from image_workflow_emulator.domain.problems import MENDED_BY_TIME
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import HUNG_UP
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import title_of
from image_workflow_emulator.examiner.request import Request, Requests
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import (
    Row,
    is_wait_measured,
    pause_ms,
    rows_of,
)

_BLOCKED: Final = "resource_operation_in_progress"
_SHORTEST_ROW: Final = 4
"""From so many failures in a row on, the pauses are judged."""
_MOST_PAUSES: Final = 12
"""Limit of the pauses of a row that are judged."""
_GROWN: Final = 1.3
"""Pauses grow if their last third is at least as long as this times the first."""
_SPREADS: Final[Mapping[int, float]] = {
    4: 1.02,
    5: 1.06,
    6: 1.12,
    7: 1.15,
    8: 1.18,
    9: 1.27,
    10: 1.35,
    11: 1.4,
    12: 1.4,
}
"""By what factor the longest pause differs from the shortest if all are equal."""


class _Burst(NamedTuple):
    """Some successive pauses that are none, if their sum is within a limit."""

    pauses: int
    limit_ms: float


_BURSTS: Final = (
    _Burst(pauses=3, limit_ms=6),
    _Burst(pauses=4, limit_ms=40),
    _Burst(pauses=6, limit_ms=200),
    _Burst(pauses=8, limit_ms=400),
)


def no_backoff(history: History) -> Verdicts:
    """A request fails again and again, and is sent again each time after pauses that do
    not grow, or none.

    The failures that count are those that a repetition can cure and that have no
    Retry-After: a 500, a broken connection, half an answer, garbage. From four of them
    in a row on, the pauses after them are judged, the one before the answer that ended
    the row included; a pause is measured by the clock that moved farther, the
    emulator's or the host's. The rule is broken if their sum is next to nothing, or if
    those of the last third are no longer than those of the first, and all but the
    longest lie as close together as chance hardly ever brings them: where jitter leaves
    it open, nothing is said. A sound client, whatever its jitter, is accused less than
    once in 10,000 times (tests/examiner/test_false_alarms.py). A 409 counts as well,
    but only by the sum: a client that polls the Operation in the way may do so at equal
    intervals, and with a new key (D10). A stalled connection ends the row, since it is
    not known when its client gave up.
    """
    for requests in _repeated_requests(history):
        for row in _rows_of_failures(history, requests):
            if len(row.requests) < _SHORTEST_ROW:
                continue
            if _has_backoff(history, row):
                yield KEPT
            else:
                title = title_of(row.requests[0])
                message = (
                    f"{title} failed {len(row.requests)} times in a row, "
                    "and the pauses between did not grow"
                )
                yield breach(message, *row.requests)


NO_BACKOFF: Final = ConductRule(
    name="no-backoff",
    examine=no_backoff,
    is_timed=True,
    is_about_retries=True,
    source=(
        "Section 8: Clients must honor Retry-After on 429 "
        "and use exponential backoff with jitter."
    ),
    remedy=("double the pause with every failure, add jitter, and stop after a few"),
)


def _repeated_requests(history: History) -> Iterator[Requests]:
    """Iterate over the requests with their repetitions.

    Where an Operation was in the way, a repetition may have another key.
    """
    blocked: set[int] = set()
    for requests in history.by_intent.values():
        if any(request.code == _BLOCKED for request in requests):
            blocked.update(request.sequence for request in requests)
            yield requests
    for attempts in history.attempts:
        if attempts[0].sequence not in blocked:
            yield attempts


def _rows_of_failures(history: History, requests: Requests) -> Iterator[Row]:
    if len(requests) < _SHORTEST_ROW:
        return

    def is_over(last: Request, request: Request) -> bool:
        return not (_is_failure(request) and _follows(history, last, request))

    yield from rows_of(requests, _is_failure, is_over)


def _follows(
    history: History,
    last: Request,
    request: Request,
) -> bool:
    return history.knows(request, last) and is_wait_measured(last, request)


def _is_failure(request: Request) -> bool:
    loss = facts.loss_of(request)
    if loss is not None:
        return loss not in ("stall", HUNG_UP)
    return request.code in MENDED_BY_TIME and facts.retry_after(request) is None


def _has_backoff(history: History, row: Row) -> bool:
    failures = list(row.requests)
    requests = list(failures)
    if row.end is not None and _follows(history, failures[-1], row.end):
        requests.append(row.end)
    pauses = _pauses(requests)
    if has_no_pause(pauses):
        return False
    is_blocked = any(request.status == 409 for request in failures)
    return is_blocked or not does_not_grow(pauses)


def _pauses(requests: Requests) -> list[float]:
    return [pause_ms(earlier, later) for earlier, later in pairwise(requests)]


# How pauses are judged ----------------------------------------------------------------


def does_not_grow(pauses: Sequence[float]) -> bool:
    """Whether successive pauses are those of a client that always waits equally long.

    Pauses are in milliseconds. A busy machine only makes a pause longer: of six and
    more, the longest quarter does not count.
    """
    pauses = pauses[:_MOST_PAUSES]
    spread = _SPREADS.get(len(pauses))
    if spread is None:
        return False
    late_count = 0
    if len(pauses) > 5:
        late_count = len(pauses) // 4
    by_length = sorted(pauses)
    longest = by_length[-1 - late_count]
    punctual = [pause for pause in pauses if pause <= longest]
    third = len(punctual) // 3
    first_third_ms = sum(punctual[:third])
    last_third_ms = sum(punctual[-third:])
    has_grown = last_third_ms >= first_third_ms * _GROWN
    return not has_grown and longest <= min(punctual) * spread


def has_no_pause(pauses: Sequence[float]) -> bool:
    """Whether successive pauses, in milliseconds, are next to nothing together."""
    return any(_has_burst(pauses, burst) for burst in _BURSTS)


def _has_burst(pauses: Sequence[float], burst: _Burst) -> bool:
    last_start = len(pauses) - burst.pauses
    for start in range(last_start + 1):
        end = start + burst.pauses
        if sum(pauses[start:end]) <= burst.limit_ms:
            return True
    return False
