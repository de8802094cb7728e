"""`retries-without-end`: a request is repeated again and again after the same kind of failure.

Theory of operation. Whoever has tried 20 times, or for an hour, has to tell somebody. The time that Retry-After asked for
does not count for the hour, nor does any time on an auto clock. What has no key and comes again after ten minutes of
emulator time is a new attempt, as of a job that runs now and then.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from emulator.domain.problems import MENDED_BY_TIME
from emulator.examiner.history import PATIENCE_MS, History, is_wait_measured
from emulator.examiner.reading import loss_of, retry_after_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.kernel.timestamps import HOUR_MS, SECOND_MS
from emulator.service.record import RequestRecord

MAX_REPETITIONS: Final = 20
MAX_SPAN_MS: Final = HOUR_MS


def _examine(history: History) -> Iterator[Verdict]:
    for records in history.requests:
        for row in _rows(records):
            if len(row) > 1:
                is_endless = len(row) - 1 > MAX_REPETITIONS or _span_ms(row) > MAX_SPAN_MS
                yield _breach(row) if is_endless else KEPT


def _rows(records: Sequence[RequestRecord]) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over the failures of one kind in a row, each with the repetition that ended it."""
    row: list[RequestRecord] = []
    for record in records:
        if row:
            is_new = record.idempotency_key is None and _pause_ms(row[-1], record) >= PATIENCE_MS
            if is_new or _kind(record) != _kind(row[-1]):
                yield row if is_new else [*row, record]
                row = []
        if _kind(record) is not None:
            row.append(record)
    yield row


def _kind(record: RequestRecord) -> str | None:
    """Return the kind of a failure that a repetition may mend; None for any other answer."""
    return loss_of(record) or (record.code if record.code in MENDED_BY_TIME else None)


def _pause_ms(earlier: RequestRecord, later: RequestRecord) -> int:
    """Return the pause between two requests by the emulator's clock, but for what was asked for."""
    asked_ms = (retry_after_of(earlier) or 0) * SECOND_MS
    return max(later.at - earlier.left_at - asked_ms, 0) if is_wait_measured(earlier, later) else 0


def _span_ms(row: Sequence[RequestRecord]) -> int:
    return sum(_pause_ms(*pair) for pair in pairwise(row))


def _breach(row: Sequence[RequestRecord]) -> Breach:
    how = "its answer was lost" if loss_of(row[0]) else f"{row[0].status} {row[0].code}"
    message = f"{title_of(row[0])} was repeated {len(row) - 1} times after the same failure: {how}"
    return Breach(tuple(record.sequence for record in row), message)


RULE: Final = ConductRule(
    name="retries-without-end",
    severity="warning",
    source="Section 7: internal_error, retry transient failures; service_unavailable and rate_limited, honor Retry-After.",
    remedy="limit the number of attempts and their time, keep the Idempotency-Key, and tell somebody when they are used up",
    examine=_examine,
)
