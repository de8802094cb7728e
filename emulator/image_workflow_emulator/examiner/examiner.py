"""The examiner of a process: judges the records of requests when somebody asks, and keeps what must outlive a journal.

It works in a thread of its own, one thing after another: no request waits while it judges, however many records a journal
hands over. Records that a journal drops are handed over once. The newest of them are kept as they are, since later
requests may show what they meant; the rest are judged for the last time. A reset or a load begins anew; what was found
before is kept for the whole, and what was found in deleted sandboxes for the totals of the process.

Must not know any rule, nor what reads the results.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeVar

from msgspec import structs

from image_workflow_emulator.examiner import points
from image_workflow_emulator.examiner.judgement import Judgement, Totals
from image_workflow_emulator.service.records.record import Observed, RequestRecord

Answer = TypeVar("Answer")
MAX_DROPPED = 500
"""The most dropped records that are kept. With one more, all but the newest are judged for the last time."""
MAX_DROPPED_BYTES = 16 * 1024 * 1024
KEPT_DROPPED = 100
"""How many of the newest are kept then."""
_LOGGER = logging.getLogger("image_workflow_emulator.examiner")


@dataclass(slots=True, eq=False)
class _Memory:
    """What is known of a sandbox beyond its journal."""

    dropped: list[RequestRecord] = field(default_factory=list)
    dropped_bytes: int = 0
    judged: Judgement = field(default_factory=Judgement)
    """What was found in records that were judged for the last time, since the sandbox was last reset or loaded."""
    before: Judgement = field(default_factory=Judgement)
    """What was found before that."""

    def all_of(self, observed: Observed) -> Observed:
        """Return what is observed with the dropped records before it."""
        return structs.replace(observed, records=[*self.dropped, *observed.records])


class Examiner:
    """An Observer that judges records. With `keeps_deleted`, sandboxes are examined to their end before they are deleted."""

    def __init__(self) -> None:
        self.keeps_deleted = False
        self._memories: defaultdict[str, _Memory] = defaultdict(_Memory)
        """By the ids of the sandboxes that exist."""
        self._deleted = Totals()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="examiner")

    def ask(self, question: Callable[["Examiner"], Answer]) -> Future[Answer]:
        """Ask the examiner, once it has dealt with all that it was given before."""
        return self._thread.submit(question, self)

    # What leaves the journals -----------------------------------------------------------------------------------------

    def take(self, observed: Observed) -> None:
        """Take records that a journal dropped."""
        self._tell(self._keep, observed)

    def conclude(self, observed: Observed) -> None:
        """Keep what was found in a sandbox that is about to be reset, or replaced by a loaded one."""
        self._tell(self._begin_anew, observed)

    def dismiss(self, observed: Observed) -> None:
        """Keep what was found in a sandbox that is about to be deleted, for the totals of the process."""
        self._tell(self._forget, observed)

    def _tell(self, act: Callable[[Observed], None], observed: Observed) -> None:
        self._thread.submit(act, observed).add_done_callback(_log_failure)

    def _keep(self, observed: Observed) -> None:
        memory = self._memories[observed.sandbox_id]
        memory.dropped += observed.records
        memory.dropped_bytes += sum(record.held_bytes for record in observed.records)
        if len(memory.dropped) > MAX_DROPPED or memory.dropped_bytes > MAX_DROPPED_BYTES:
            self._judge_oldest(memory, observed)

    def _begin_anew(self, observed: Observed) -> None:
        found = self.judge(observed, has_ended=True, is_whole=True)
        found = structs.replace(found, covered=self.covered(observed, is_whole=True))
        self._memories[observed.sandbox_id] = _Memory(before=found)

    def _forget(self, observed: Observed) -> None:
        if self.keeps_deleted:
            self._deleted = self._with(self._deleted, observed)
        self._memories.pop(observed.sandbox_id, None)

    def _judge_oldest(self, memory: _Memory, observed: Observed) -> None:
        """Judge the oldest of the dropped records for the last time, in the light of the newest."""
        from image_workflow_emulator.examiner.conduct import examine

        kept = min(KEPT_DROPPED, len(memory.dropped) // 2)
        oldest, newest = memory.dropped[:-kept], memory.dropped[-kept:]
        whole = examine(structs.replace(observed, records=memory.dropped))
        rest = examine(structs.replace(observed, records=newest))
        checked, covered = Counter(whole.checked) - Counter(rest.checked), points.cover(oldest, observed.works)
        memory.judged += Judgement(whole.found, checked, whole.off, covered)
        memory.dropped, memory.dropped_bytes = newest, sum(record.held_bytes for record in newest)

    # What is known ----------------------------------------------------------------------------------------------------

    def judge(self, observed: Observed, *, has_ended: bool, is_whole: bool) -> Judgement:
        """Judge the clients of a sandbox. `has_ended`: no more requests will come. `is_whole`: before resets and loads too."""
        from image_workflow_emulator.examiner.conduct import examine

        memory = self._memories[observed.sandbox_id]
        judgement = memory.judged + examine(memory.all_of(observed), has_ended)
        return memory.before + judgement if is_whole else judgement

    def covered(self, observed: Observed, *, is_whole: bool) -> Counter[points.Point]:
        """Return how often each point of the coverage was reached in a sandbox. `is_whole`: before resets and loads too."""
        memory = self._memories[observed.sandbox_id]
        covered = memory.judged.covered + points.cover(memory.all_of(observed).records, observed.works)
        return memory.before.covered + covered if is_whole else covered

    def totals(self, sandboxes: Iterable[Observed]) -> Totals:
        """Return what was found in all sandboxes, deleted ones included; no more requests will come."""
        return reduce(self._with, sandboxes, self._deleted)

    def _with(self, totals: Totals, observed: Observed) -> Totals:
        judgement, covered = self.judge(observed, has_ended=True, is_whole=True), self.covered(observed, is_whole=True)
        return totals.with_sandbox(observed.sandbox_id, structs.replace(judgement, covered=covered))


def _log_failure(done: Future[None]) -> None:
    error = done.exception()
    if error is not None:
        _LOGGER.error("requests that left a journal could not be examined", exc_info=error)
