"""`abandoned-work`: work is admitted, and nobody ever looks how it ended.

Theory of operation. Its admission was answered, so the client knows its id. It was seen if any client was shown its end,
by itself or in a list after it had finished. That nobody will look is known ten minutes of emulator time after its
end, or at the end of all. Work that has not finished counts only if nobody looked at it at all: whoever looked has
waited, and may stop. A last look that failed, or a client that was shut out or ended with a failure, is
an excuse.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import History, is_answered, is_success, shows_end
from emulator.examiner.rules.base import KEPT, Ask, Breach, Example, Rule, Verdict, Wait, upscale
from emulator.service.record import Note

_LISTS: Final = ("listOperations", "listGenerations")


def _examine(history: History) -> Iterator[Verdict]:
    listed_at = max(
        (note.left_at for note in history.notes if note.operation in _LISTS and is_success(note)), default=0
    )
    for subject, notes in history.by_subject.items():
        admitted = next((note for note in notes if is_answered(note, 202) and note.key is not None), None)
        if admitted is None:
            continue
        verdict = _judge(history, str(subject), notes, admitted, listed_at)
        if verdict is not None:
            yield verdict
        elif any(map(shows_end, notes)):
            yield KEPT


def _judge(history: History, subject: str, notes: Sequence[Note], admitted: Note, listed_at: int) -> Verdict:
    looks = [note for note in notes if note.method == "GET"]
    work = history.work(subject)
    if work is None or any(map(shows_end, notes)):
        return KEPT
    if work.finished_at is None:
        is_left = history.has_ended and not looks
    else:
        is_left = history.is_over(work.finished_at) and listed_at < work.finished_at
    is_excused = (
        (looks and not is_success(looks[-1])) or history.was_shut_out(admitted) or history.ended_in_failure(admitted)
    )
    if not is_left or is_excused:
        return KEPT
    return Breach(subject, (admitted.sequence,), f"{subject} was admitted, and nobody saw how it ended")


RULE: Final = Rule(
    name="abandoned-work",
    severity="warning",
    source="Section 6: Progress of asynchronous work is observed by polling until status is completed or failed.",
    remedy="poll admitted work until it is completed or failed, as Retry-After says",
    examine=_examine,
    breaks=Example((upscale("one"), Wait(1000))),
    keeps=Example((upscale("one"), Wait(1000), Ask("GET", "{work}"))),
)
