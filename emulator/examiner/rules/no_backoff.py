"""`no-backoff`: a request fails again and again, and is sent again each time after the same pause, or none.

Theory of operation. The failures that count are those that a repetition can cure and that have no Retry-After: a 500, a
broken connection, half an answer, garbage. From the fourth in a row on, the pauses between them must have grown; a
pause is measured by the clock that moved farther, the emulator's or the host's. Jitter makes pauses unequal, so only
pauses that are nearly equal break the rule; a cap keeps long ones equal, so the first pauses of a row count, and later
ones only where there is no pause at all. On a busy machine no pause at all takes some milliseconds, and not the same
number of them: the longer the row, the more of them are nothing. A 409 counts as well, but only the pauses that are
none: a client that polls the Operation in the way may do so at equal intervals, and with a new key. A stalled connection ends the row,
since it is not known when its client gave up.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from emulator.domain.problems import MENDED_BY_TIME
from emulator.examiner.history import History, is_wait_measured, pauses_ms
from emulator.examiner.reading import loss_of, retry_after_of, subject_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

ROW: Final = 4
_EQUAL: Final = 1.25
_UNEVENNESS_MS: Final = 5
"""Pauses are equal if the longest is at most so many times the shortest, and some milliseconds more."""
_NOTHING_MS: Final = ((3, 20), (4, 40), (5, 60), (7, 100))
"""Numbers of successive pauses, each with the limit in milliseconds up to which all of them count as no pause."""


def _examine(history: History) -> Iterator[Verdict]:
    for records in _requests(history):
        if len(records) >= ROW:
            for row in _rows(history, records):
                yield _breach(row) if _is_even(row) else KEPT


def _requests(history: History) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over the requests with their repetitions, those with a new key after an Operation in the way too (D10)."""
    blocked = [records for records in history.by_intent.values() if any(map(_is_blocked, records))]
    yield from blocked
    known = {record.sequence for records in blocked for record in records}
    yield from (records for records in history.requests if records[0].sequence not in known)


def _is_blocked(record: RequestRecord) -> bool:
    return record.code == "resource_operation_in_progress"


def _rows(history: History, records: Sequence[RequestRecord]) -> Iterator[Sequence[RequestRecord]]:
    row: list[RequestRecord] = []
    for record in records:
        if not _is_failure(record) or (
            row and not (history.knows(record, row[-1]) and is_wait_measured(row[-1], record))
        ):
            if len(row) >= ROW:
                yield row
            row = []
        if _is_failure(record):
            row.append(record)
    if len(row) >= ROW:
        yield row


def _is_failure(record: RequestRecord) -> bool:
    loss = loss_of(record)
    if loss is not None:
        return loss not in ("stall", "abandoned")
    return record.code in MENDED_BY_TIME and retry_after_of(record) is None


def _is_even(row: Sequence[RequestRecord]) -> bool:
    pauses = [max(pauses_ms(*pair)) for pair in pairwise(row)]
    first = pauses[: ROW - 1]
    are_equal = max(first) <= min(first) * _EQUAL + _UNEVENNESS_MS
    has_conflict = any(record.status == 409 for record in row)
    return (are_equal and not has_conflict) or any(_has_nothing(pauses, *least) for least in _NOTHING_MS)


def _has_nothing(pauses: Sequence[float], length: int, limit_ms: int) -> bool:
    """Whether so many pauses follow each other of which none is longer than the limit."""
    return any(max(pauses[start : start + length]) <= limit_ms for start in range(len(pauses) - length + 1))


def _breach(row: Sequence[RequestRecord]) -> Breach:
    message = f"{title_of(row[0])} failed {len(row)} times in a row, and the pauses between did not grow"
    return Breach(subject_of(row[0]), tuple(record.sequence for record in row), message)


RULE: Final = ConductRule(
    name="no-backoff",
    severity="warning",
    source="Section 8: Clients must honor Retry-After on 429 and use exponential backoff with jitter.",
    remedy="double the pause with every failure, add jitter, and stop after a few",
    examine=_examine,
    is_timed=True,
)
