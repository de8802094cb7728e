"""`retry-of-the-hopeless`: a request is repeated after an answer that cannot change.

Theory of operation. 400, 401, 403, 404, 410, 422 and upload_bytes_conflict say that the request will be refused until
something else is done first; so does 402, as long as the Team's Credits are what they were. One repetition may be a
mistake; the second is a loop. The workers of a client are judged together, but a repetition counts only where it is sure
to be one: it has the key of a refused request, or the address of its upload, or its connection. So several jobs that
each ask once for what is missing are no loop; nor is a test that asks for it now and again: on a connection, nothing
but such refusals comes in between (and reads, between writes). A pause of ten minutes of emulator time is a new attempt.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import PATIENCE_MS, History
from emulator.examiner.reading import is_answered, is_success, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

HARMLESS: Final = 1
_HOPELESS: Final = (400, 401, 402, 403, 404, 410, 422)


def _examine(history: History) -> Iterator[Verdict]:
    for records in history.by_intent.values():
        for row in _rows(records):
            repetitions = _repetitions(history, row)
            yield from [KEPT] * min(len(repetitions), HARMLESS)
            if len(repetitions) > HARMLESS:
                yield _breach(row[0], repetitions[HARMLESS:])


def _rows(records: Sequence[RequestRecord]) -> Iterator[Sequence[RequestRecord]]:
    """Iterate over the requests that cannot succeed, each with those that follow with the same intent."""
    row: list[RequestRecord] = []
    for record in records:
        if row and not (_is_hopeless(record) and _has_not_changed(row[-1], record)):
            yield row
            row = []
        if _is_hopeless(record):
            row.append(record)
    yield row


def _is_hopeless(record: RequestRecord) -> bool:
    return is_answered(record, *_HOPELESS) or (record.code == "upload_bytes_conflict" and is_answered(record, 409))


def _has_not_changed(last: RequestRecord, record: RequestRecord) -> bool:
    is_same = (last.code, last.available_credits) == (record.code, record.available_credits)
    return is_same and record.at - last.left_at < PATIENCE_MS


def _repetitions(history: History, row: Sequence[RequestRecord]) -> Sequence[RequestRecord]:
    """Return those of a row that surely repeat one before them."""
    last_with: dict[str | None, RequestRecord] = {}
    last_on: dict[str | None, RequestRecord] = {}
    found = []
    for record in row:
        has_name = record.idempotency_key is not None or record.byte_surface == "upload"
        namesake = last_with.get(record.idempotency_key) if has_name else None
        last = last_on.get(record.connection)
        if (namesake is not None and history.knows(record, namesake)) or (
            last is not None and history.knows(record, last) and _follows_directly(history, last, record)
        ):
            found.append(record)
        last_with[record.idempotency_key] = last_on[record.connection] = record
    return found


def _follows_directly(history: History, last: RequestRecord, record: RequestRecord) -> bool:
    between = history.between_on_connection(last, record)
    return all(
        _is_hopeless(one) or (last.method != "GET" and one.method == "GET" and is_success(one)) for one in between
    )


def _breach(first: RequestRecord, repetitions: Sequence[RequestRecord]) -> Breach:
    message = f"{title_of(first)} was repeated though {first.status} {first.code} cannot change by itself"
    requests = (first.sequence, *(record.sequence for record in repetitions))
    return Breach(requests, message, times=len(repetitions))


RULE: Final = ConductRule(
    name="retry-of-the-hopeless",
    severity="warning",
    source="Section 7, recovery: supply a valid credential; add Credits; treat as unavailable; correct the fields.",
    remedy="do what the code asks for first, or tell who can; do not send the same request again",
    examine=_examine,
)
