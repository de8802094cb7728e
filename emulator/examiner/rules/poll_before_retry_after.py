"""`poll-before-retry-after`: unfinished work is read again before the Retry-After of the last read is over.

Theory of operation. Compared are successive reads of one Operation or Generation by one client, or by each of its
workers if several read it. The answer that shows unfinished work says how long to wait; the next read has waited if
either clock moved that far. A read whose answer was lost is ignored.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from emulator.examiner.history import History, has_waited, is_answered, is_wait_measured, shows_end
from emulator.examiner.rules.base import KEPT, Ask, Breach, Example, Rule, Verdict, Wait, upscale
from emulator.service.record import Note


def _examine(history: History) -> Iterator[Verdict]:
    for (_, work), looks in history.looks.items():
        for worker in history.by_worker(looks):
            for look in worker:
                if look.retry_after and not shows_end(look) and is_answered(look, 200):
                    yield from _judge(history, work, look, worker)


def _judge(history: History, work: str, look: Note, looks: Sequence[Note]) -> Iterator[Verdict]:
    wanted, again = look.retry_after or 0, history.next_knowing(looks, look)
    if again is None or not is_wait_measured(look, again):
        return
    if has_waited(look, again, wanted):
        yield KEPT
    else:
        message = f"{work} was read again before the Retry-After of {wanted} s was over"
        yield Breach(f"{look.credential}|{look.user_agent}|{work}", (look.sequence, again.sequence), message)


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
