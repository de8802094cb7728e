"""`poll-after-terminal`: work is read again and again after its end was read.

Theory of operation. The first read that shows completed or failed is the end. Two more do no harm (a helper that reads
the result again, a check before it is shown); the third is a loop that does not stop. Reads on other connections may be
other people's who open the result, and are counted for each connection. A read after ten minutes of emulator time starts
anew. Reads that were refused, or whose answers were lost, are not counted.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from emulator.examiner.history import PATIENCE_MS, History, by_connection
from emulator.examiner.reading import shown_status, shows_end
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict

HARMLESS: Final = 2


def _examine(history: History) -> Iterator[Verdict]:
    for (_, work), looks in history.looks.items():
        for ends in by_connection(look for look in looks if shows_end(look)):
            number, needless = 0, list[int]()
            for last, look in pairwise(ends):
                number = number + 1 if look.at - last.left_at < PATIENCE_MS else 0
                if number <= HARMLESS:
                    yield KEPT
                else:
                    needless.append(look.sequence)
            if needless:
                end = f"request {ends[0].sequence} had shown that it is {shown_status(ends[0])}"
                yield Breach(tuple(needless), f"{work} was read on after {end}", times=len(needless))


RULE: Final = ConductRule(
    name="poll-after-terminal",
    severity="note",
    source="Section 3: Completed and failed are terminal.",
    remedy="stop polling once status is completed or failed, and keep what the last look showed",
    examine=_examine,
)
