"""`retry-of-the-hopeless`: a request is repeated after an answer that cannot change.

Theory of operation. 401, 403, 404, 410 and 422 say that the request will be refused until something else is done first;
so does 402, as long as the Team's Credits are what they were. One repetition may be a mistake; the second is a loop.
Counted are repetitions that follow each other directly, without another request of the client in between (but for
reads, between writes): a test that asks for what is missing, now and again, is no loop. A pause of ten minutes of
emulator time is a new attempt.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import PATIENCE_MS, History
from emulator.examiner.reading import client_of, is_answered, is_success, subject_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

HARMLESS: Final = 1
_HOPELESS: Final = (401, 402, 403, 404, 410, 422)


def _examine(history: History) -> Iterator[Verdict]:
    clients = {client_of(record) for record in history.failures if is_answered(record, *_HOPELESS)}
    for client, records in history.by_client.items() if clients else ():
        if client not in clients:
            continue
        for row in _rows(history, records):
            yield from [KEPT] * min(len(row) - 1, HARMLESS)
            if len(row) > HARMLESS + 1:
                yield _breach(row)


def _rows(history: History, records: Sequence[RequestRecord]) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over the requests that cannot succeed, each with its repetitions."""
    row: list[RequestRecord] = []
    for record in records:
        if row and _repeats(history, record, row[-1]):
            row.append(record)
        elif not (row and row[0].method != "GET" and record.method == "GET" and is_success(record)):
            yield row
            row = [record] if is_answered(record, *_HOPELESS) else []
    yield row


def _repeats(history: History, record: RequestRecord, last: RequestRecord) -> bool:
    return (
        is_answered(record, *_HOPELESS)
        and (record.status, record.available_credits) == (last.status, last.available_credits)
        and history.have_same_intent(record, last)
        and history.knows(record, last)
        and record.at - last.left_at < PATIENCE_MS
    )


def _breach(row: Sequence[RequestRecord]) -> Breach:
    first, repetitions = row[0], row[HARMLESS + 1 :]
    message = f"{title_of(first)} was repeated though {first.status} {first.code} cannot change by itself"
    requests = (first.sequence, *(record.sequence for record in repetitions))
    return Breach(f"{subject_of(first)}|{first.sequence}", requests, message, times=len(repetitions))


RULE: Final = ConductRule(
    name="retry-of-the-hopeless",
    severity="warning",
    source="Section 7, recovery: supply a valid credential; add Credits; treat as unavailable; correct the fields.",
    remedy="do what the code asks for first, or tell who can; do not send the same request again",
    examine=_examine,
)
