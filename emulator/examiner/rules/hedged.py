"""`hedged`: the same work is ordered under two keys at once.

Theory of operation. Both orders were in flight at the same time, both were admitted and answered, and both keep their
Credits. It may be meant, as for two pictures of one kind, so it is a note; where one of the answers was lost, it is
`double-spend`.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import is_answered, title_of, work_id_of
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

_MAX_AT_ONCE: Final = 20


def _examine(history: History) -> Iterator[Verdict]:
    admitted = [record for record in history.with_key if record.is_committed and is_answered(record, 202)]
    for index, record in enumerate(admitted):
        twin = _twin(history, record, admitted[max(index - _MAX_AT_ONCE, 0) : index])
        if twin is None:
            yield KEPT
        else:
            message = f"{title_of(record)} was sent under two keys at once, and each reserved Credits"
            yield Breach((twin.sequence, record.sequence), message)


def _twin(history: History, record: RequestRecord, others: Sequence[RequestRecord]) -> RequestRecord | None:
    for other in others:
        is_at_once = record.sequence <= other.last_arrival and record.path == other.path
        if is_at_once and record.idempotency_key != other.idempotency_key and _is_paid_twice(history, record, other):
            return other
    return None


def _is_paid_twice(history: History, *both: RequestRecord) -> bool:
    intents = {history.intent(record) for record in both}
    return len(intents) == 1 and all(history.standing_credits(work_id_of(record)) for record in both)


RULE: Final = ConductRule(
    name="hedged",
    severity="note",
    source="Section 4: Same key and same intent: the original admission status, headers and body are replayed exactly "
    "and work is not restarted.",
    remedy="if both were one wish, send it twice with the same Idempotency-Key",
    examine=_examine,
)
