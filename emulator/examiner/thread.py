"""The examiner in a thread of its own: no request waits while it judges, however many records a journal hands over.

It does one thing after another, in the order in which it is asked. Must not know how records are judged.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from emulator.examiner.examiner import Examiner
from emulator.service.record import Observed

Answer = TypeVar("Answer")
_LOGGER = logging.getLogger("emulator.examiner")


class ExaminerThread:
    """An Observer that passes on what it observes, and asks the examiner what others want to know."""

    def __init__(self) -> None:
        self.examiner = Examiner()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="examiner")

    def ask(self, question: Callable[[Examiner], Answer]) -> Future[Answer]:
        """Ask the examiner, once it has dealt with all that it was given before."""
        return self._thread.submit(question, self.examiner)

    def take(self, observed: Observed) -> None:
        """Take records that a journal dropped."""
        self._tell(lambda examiner: examiner.take(observed))

    def conclude(self, observed: Observed) -> None:
        """Take what is left of a sandbox that is about to be reset, or replaced by a loaded one."""
        self._tell(lambda examiner: examiner.conclude(observed))

    def dismiss(self, observed: Observed) -> None:
        """Take what is left of a sandbox that is about to be deleted."""
        self._tell(lambda examiner: examiner.dismiss(observed))

    def _tell(self, act: Callable[[Examiner], None]) -> None:
        self.ask(act).add_done_callback(_log_failure)


def _log_failure(done: Future[None]) -> None:
    error = done.exception()
    if error is not None:
        _LOGGER.error("requests that left a journal could not be examined", exc_info=error)
