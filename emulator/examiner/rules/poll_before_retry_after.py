"""`poll-before-retry-after`: unfinished work is read again before the Retry-After of the last read is over.

Theory of operation. Compared are successive reads of one Operation or Generation by each worker of a client. The answer
that shows unfinished work says how long to wait; the next read has waited if either clock moved that far. Reads that
opened a connection each are one worker's only if that many programs would be needed to explain them. A read whose answer
was lost is ignored.
"""

from collections.abc import Iterator
from typing import Final

from emulator.examiner.history import History, has_waited
from emulator.examiner.reading import is_answered, retry_after_of, shows_end
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict
from emulator.service.record import RequestRecord

_MAX_PROGRAMS: Final = 5


def _examine(history: History) -> Iterator[Verdict]:
    for (_, work), looks in history.looks.items():
        for worker in history.by_worker(looks, _wait_of, _MAX_PROGRAMS):
            early: list[tuple[RequestRecord, RequestRecord, int]] = []
            for index, look in enumerate(worker, start=1):
                wait_seconds = _wait_of(look)
                again = history.next_knowing(worker, look, index) if wait_seconds else None
                has_kept = None if again is None else has_waited(look, again, wait_seconds)
                if has_kept:
                    yield KEPT
                elif again is not None and has_kept is not None:
                    early.append((look, again, wait_seconds))
            if early:  # a client that never waits gives thousands
                message = f"{work} was read again before the Retry-After of {early[0][2]} s was over"
                requests = tuple(record.sequence for look, again, _ in early for record in (look, again))
                yield Breach(requests, message, times=len(early))


def _wait_of(look: RequestRecord) -> int:
    """Return how many seconds a look at unfinished work asked to wait; 0 if it did not."""
    return 0 if shows_end(look) or not is_answered(look, 200) else retry_after_of(look) or 0


RULE: Final = ConductRule(
    name="poll-before-retry-after",
    severity="warning",
    source="Section 6: Progress is observed by polling until status is completed or failed, honoring Retry-After when "
    "present.",
    remedy="wait as long as the Retry-After of the last look says before the next",
    examine=_examine,
    is_timed=True,
)
