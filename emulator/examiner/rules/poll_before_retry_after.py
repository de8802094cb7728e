"""`poll-before-retry-after`: unfinished work is read again before the Retry-After of the last read is over.

Theory of operation. Compared are successive reads of one Operation or Generation by one client, or by each of its
workers if several read it. The answer that shows unfinished work says how long to wait; the next read has waited if
either clock moved that far. A read whose answer was lost is ignored.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.domain.lifecycles import TERMINAL
from emulator.examiner.history import History, has_waited, is_wait_measured
from emulator.examiner.rules.base import KEPT, Ask, Breach, Example, Rule, Verdict, Wait, upscale
from emulator.service.record import Note


def _examine(history: History) -> Iterator[Verdict]:
    for (credential, user_agent, work), looks in history.looks.items():
        for worker in history.by_worker(looks):
            early: list[tuple[Note, Note]] = []
            for look, again in _waits(history, worker):
                if has_waited(look, again, look.retry_after or 0):
                    yield KEPT
                else:
                    early.append((look, again))
            if early:  # a client that never waits gives thousands
                message = f"{work} was read again before the Retry-After of {early[0][0].retry_after} s was over"
                requests = tuple(note.sequence for pair in early for note in pair)
                yield Breach(f"{credential}|{user_agent}|{work}", requests, message, times=len(early))


def _waits(history: History, looks: Sequence[Note]) -> Iterator[tuple[Note, Note]]:
    """Iterate over the looks that say how long to wait, each with the next one of the client that knew of it."""
    for index, look in enumerate(looks, start=1):
        is_unfinished = look.status == 200 and look.loss is None and look.work_status not in TERMINAL
        if look.retry_after and is_unfinished:
            again = history.next_knowing(looks, look, index)
            if again is not None and is_wait_measured(look, again):
                yield look, again


RULE: Final = Rule(
    name="poll-before-retry-after",
    severity="warning",
    source="Section 6: Progress is observed by polling until status is completed or failed, honoring Retry-After when "
    "present.",
    remedy="wait as long as the Retry-After of the last look says before the next",
    examine=_examine,
    breaks=Example(
        (upscale("one"), Wait(2), Ask("GET", "{work}"), Wait(1), Ask("GET", "{work}"), Wait(9), Ask("GET", "{work}"))
    ),
    keeps=Example((upscale("one"), Wait(2), Ask("GET", "{work}"), Wait(5), Ask("GET", "{work}"))),
)
