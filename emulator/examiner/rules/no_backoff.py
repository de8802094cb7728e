"""`no-backoff`: a request fails again and again, and is sent again each time after the same pause, or none.

Theory of operation. The failures that count are those that a repetition can cure and that have no Retry-After: a 500, a
broken connection, half an answer, garbage. From four of them in a row on, the pauses after them are judged, the one
before the answer that ended the row included; a pause is measured by the clock that moved farther, the emulator's or the
host's. Jitter makes pauses unequal, and a cap makes late ones equal: so the rule is broken if the pauses are nearly equal
from the first on, or from the second on after a first one that was slower, and no later one is longer. The fewer pauses
there are, the more equal they must be: a sound client, whatever its jitter, has such a row less than once in 10,000
(tests/examiner/test_backoff.py). On a busy machine no pause at all takes some milliseconds: the longer the row, the more
of them are nothing. A 409 counts as well, but only the pauses that are none: a client that polls the Operation in the
way may do so at equal intervals, and with a new key. A stalled connection ends the row, since it is not known when its
client gave up.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from emulator.domain.problems import MENDED_BY_TIME
from emulator.examiner.history import History, is_wait_measured, pauses_ms
from emulator.examiner.reading import loss_of, retry_after_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

ROW: Final = 4
_SPREADS: Final = ((6, 1.08), (5, 1.06), (4, 1.02))
"""Numbers of pauses, each with how many times the shortest the longest is at most, if that many or more are equal."""
_GROWN: Final = 1.3
"""A later pause so many times the equal ones shows that they grow."""
_NOTHING_MS: Final = ((3, 4), (4, 10), (6, 25), (8, 60))
"""Numbers of successive pauses, each with the limit in milliseconds up to which all of them count as no pause."""


def _examine(history: History) -> Iterator[Verdict]:
    for records in _requests(history):
        if len(records) >= ROW:
            for row in _rows(history, records):
                failed = [record for record in row if _is_failure(record)]
                if len(failed) >= ROW:
                    yield _breach(failed) if _is_even(row) else KEPT


def _requests(history: History) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over the requests with their repetitions, those with a new key after an Operation in the way too (D10)."""
    blocked = [records for records in history.by_intent.values() if any(map(_is_blocked, records))]
    yield from blocked
    known = {record.sequence for records in blocked for record in records}
    yield from (records for records in history.requests if records[0].sequence not in known)


def _is_blocked(record: RequestRecord) -> bool:
    return record.code == "resource_operation_in_progress"


def _rows(history: History, records: Sequence[RequestRecord]) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over failures in a row, each row with the request that ended it, if it knew of them."""
    row: list[RequestRecord] = []
    for record in records:
        follows = row and history.knows(record, row[-1]) and is_wait_measured(row[-1], record)
        if row and not (follows and _is_failure(record)):
            yield [*row, record] if follows else row
            row = []
        if _is_failure(record):
            row.append(record)
    yield row


def _is_failure(record: RequestRecord) -> bool:
    loss = loss_of(record)
    if loss is not None:
        return loss not in ("stall", "abandoned")
    return record.code in MENDED_BY_TIME and retry_after_of(record) is None


def _is_even(row: Sequence[RequestRecord]) -> bool:
    pauses = [max(pauses_ms(*pair)) for pair in pairwise(row)]
    return has_no_pause(pauses) or (all(record.status != 409 for record in row) and does_not_grow(pauses))


def does_not_grow(pauses: Sequence[float]) -> bool:
    """Whether successive pauses, in milliseconds, are nearly equal, maybe after a first one that was longer."""
    return _are_equal(pauses) or (pauses[0] > pauses[1] and _are_equal(pauses[1:]))


def has_no_pause(pauses: Sequence[float]) -> bool:
    """Whether enough successive pauses, in milliseconds, are nothing."""
    return any(
        max(pauses[start : start + length]) <= limit_ms
        for length, limit_ms in _NOTHING_MS
        for start in range(len(pauses) - length + 1)
    )


def _are_equal(pauses: Sequence[float]) -> bool:
    if not pauses or max(pauses) > min(pauses) * _GROWN:
        return False
    return any(
        len(pauses) >= least and max(pauses[:least]) <= min(pauses[:least]) * spread for least, spread in _SPREADS
    )


def _breach(row: Sequence[RequestRecord]) -> Breach:
    message = f"{title_of(row[0])} failed {len(row)} times in a row, and the pauses between did not grow"
    return Breach(tuple(record.sequence for record in row), message)


RULE: Final = ConductRule(
    name="no-backoff",
    severity="warning",
    source="Section 8: Clients must honor Retry-After on 429 and use exponential backoff with jitter.",
    remedy="double the pause with every failure, add jitter, and stop after a few",
    examine=_examine,
    is_timed=True,
)
