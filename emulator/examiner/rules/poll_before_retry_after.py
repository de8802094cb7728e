"""`poll-before-retry-after`: unfinished work is read again before the Retry-After of the last read is over.

Theory of operation. Compared are successive reads of one Operation or Generation by one client, or by each of its
workers if several read it. The answer that shows unfinished work says how long to wait; the next read has waited if
either clock moved that far. A read whose answer was lost is ignored.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History, has_waited
from emulator.examiner.reading import is_answered, retry_after_of, shows_end
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord


def _examine(history: History) -> Iterator[Verdict]:
    for ((credential, user_agent), work), looks in history.looks.items():
        for worker in history.by_worker(looks):
            early: list[tuple[RequestRecord, RequestRecord, int]] = []
            for index, look in enumerate(worker, start=1):
                wait_seconds = retry_after_of(look)
                if not wait_seconds or shows_end(look) or not is_answered(look, 200):
                    continue
                again = history.next_knowing(worker, look, index)
                if again is None:
                    continue
                has_kept = has_waited(look, again, wait_seconds)
                if has_kept:
                    yield KEPT
                elif has_kept is not None:
                    early.append((look, again, wait_seconds))
            if early:  # a client that never waits gives thousands
                message = f"{work} was read again before the Retry-After of {early[0][2]} s was over"
                requests = tuple(record.sequence for look, again, _ in early for record in (look, again))
                yield Breach(f"{credential}|{user_agent}|{work}", requests, message, times=len(early))


RULE: Final = ConductRule(
    name="poll-before-retry-after",
    severity="warning",
    source="Section 6: Progress is observed by polling until status is completed or failed, honoring Retry-After when "
    "present.",
    remedy="wait as long as the Retry-After of the last look says before the next",
    examine=_examine,
    is_timed=True,
)
