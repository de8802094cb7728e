"""`abandoned-work`: work is admitted, and its end is never read.

Theory of operation. Its admission was answered, so the client knows its id. The end is read if an answer to any client
shows it, by itself or in a list. That it will not be read is known ten minutes of emulator time after the end of the
work, or at the end of the run. Work that has not finished counts only if it was never read at all: a client that has
polled may stop. An admission that was answered after its client had sent it again was not heard. A last read that failed
is an excuse. A client that reads no work at all may leave that to another system: of it, it is a note. A client that was
shut out, or that ended with a failure, is excused.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from emulator.examiner.history import History
from emulator.examiner.reading import is_answered, is_success
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

_LISTS: Final = ("listOperations", "listGenerations")


def _examine(history: History) -> Iterator[Verdict]:
    lists = chain.from_iterable(history.by_operation.get(name, ()) for name in _LISTS)
    listed_at = max((record.left_at for record in lists if is_success(record)), default=0)
    admissions = [record for record in history.with_key if record.status == 202 and is_answered(record, 202)]
    for work_id, admitted, records in history.about(admissions):
        verdict = _judge(history, work_id, records, admitted, listed_at)
        if verdict is not None:
            yield verdict
        elif work_id in history.seen_to_end:
            yield KEPT


def _judge(
    history: History, subject: str, records: Sequence[RequestRecord], admitted: RequestRecord, listed_at: int
) -> Verdict:
    work = history.work(subject)
    if work is None or subject in history.seen_to_end:
        return KEPT
    looks = [record for record in records if record.method == "GET"]
    if work.finished_at is None:
        is_left = history.has_ended and not looks
    else:
        is_left = history.is_over(work.finished_at) and listed_at < work.finished_at
    is_excused = (
        (looks and not is_success(looks[-1]))
        or _was_asked_again(history, admitted)
        or history.was_shut_out(admitted)
        or history.ended_in_failure(admitted)
    )
    if not is_left or is_excused:
        return KEPT
    message = f"{subject} was admitted, and its end was never read"
    if history.reads_works(admitted):
        return Breach((admitted.sequence,), message)
    return Breach((admitted.sequence,), f"{message}; another system may read it", severity="note")


def _was_asked_again(history: History, admitted: RequestRecord) -> bool:
    """Whether the same request had come again when its admission was answered: its client had hung up."""
    same = history.same_request(admitted)
    return any(admitted.sequence < record.sequence <= admitted.last_arrival for record in same)


RULE: Final = ConductRule(
    name="abandoned-work",
    severity="warning",
    source="Section 6: Progress of asynchronous work is observed by polling until status is completed or failed.",
    remedy="poll admitted work until it is completed or failed, as Retry-After says",
    examine=_examine,
)
