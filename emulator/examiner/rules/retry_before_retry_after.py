"""`retry-before-retry-after`: the same request comes again before the Retry-After of its refusal is over.

Theory of operation. A repetition has the client, method, address and body of a request that got 429, 503 or 409 with a
Retry-After, and its key, if it has one. After a 429 another key makes no difference, provided the first never comes
again: of two like requests that are both repeated, neither repeats the other. The wait is kept if either clock, the
emulator's or the host's, moved that far. What has another key, or none, is a repetition only on the same connection: on
another it may come from another program. Requests that opened a connection each are one program's only if more programs
would be needed to explain them. Where the budget of concurrent work was exhausted, the end of some work is as good as the
wait; so is the end of the Operation that a 409 named.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import History, has_waited
from emulator.examiner.reading import is_answered, retry_after_of, title_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

_FREED_BY_WORK: Final = ("concurrency_limit_reached", "resource_operation_in_progress")
_MAX_PROGRAMS: Final = 3


def _examine(history: History) -> Iterator[Verdict]:
    for records in history.by_intent.values():
        if not any(map(_wait_of, records)):
            continue
        workers = {
            record.sequence: worker
            for worker in history.by_worker(records, _wait_of, _MAX_PROGRAMS)
            for record in worker
        }
        for record in records:
            if _wait_of(record):
                yield from _judge(history, record, workers.get(record.sequence, ()))


def _wait_of(record: RequestRecord) -> int:
    """Return how many seconds a refusal asked to wait; 0 if it did not."""
    return (retry_after_of(record) or 0) if is_answered(record, 409, 429, 503) else 0


def _judge(history: History, record: RequestRecord, worker: Sequence[RequestRecord]) -> Iterator[Verdict]:
    again = _repetition(history, record, worker)
    if again is None:
        return
    has_kept = has_waited(record, again, _wait_of(record))
    if has_kept is not None:
        is_freed = record.code in _FREED_BY_WORK and history.saw_work_end(record, again)
        yield KEPT if is_freed or has_kept else _breach(record, again)


def _repetition(history: History, record: RequestRecord, worker: Sequence[RequestRecord]) -> RequestRecord | None:
    same_key = history.same_request(record)
    if record.idempotency_key is not None and len(same_key) > 1:
        return history.next_knowing(same_key, record)
    return history.next_knowing(worker, record) if record.status == 429 or record.idempotency_key is None else None


def _breach(record: RequestRecord, again: RequestRecord) -> Breach:
    asked = f"the Retry-After of {retry_after_of(record)} s of the {record.status} {record.code}"
    return Breach(
        (record.sequence, again.sequence),
        f"{title_of(record)} was sent again before {asked} was over",
        severity="error" if record.status == 429 else None,
    )


RULE: Final = ConductRule(
    name="retry-before-retry-after",
    severity="warning",
    source="Section 8: Clients must honor Retry-After on 429 and use exponential backoff with jitter.",
    remedy="wait as long as Retry-After says, then send the same request, a write with the same Idempotency-Key",
    examine=_examine,
    is_timed=True,
)
