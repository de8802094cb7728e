"""The helper processes that do all image work, seen from the server: started on first use, bounded, and ended with it.

Pillow holds the interpreter lock while it works, uses as much memory as a file demands, and cannot be interrupted. In a
process of its own it cannot harm the server: a helper that takes too much time ends, and only its job is lost. A helper
does one job at a time and reads to the end of its input, so it ends with the server, even if that is killed.

Two helpers work side by side. Small jobs come first: each job may be overtaken by as many later ones as it has mebibytes,
and by a hundred more if there is a large picture in it; so nothing waits for ever. Of large pictures one is decoded at a
time. A helper that finds one, from the headers alone, says so, and the job waits again.

Owns the processes and the order of jobs. Must not import Pillow, nor know what a job means: `image_workflow_emulator.imaging.worker` does.
"""

import asyncio
import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from image_workflow_emulator.imaging.messages import IS_LARGE, Head, Message, max_seconds, receive_message, send_message

MAX_HELPERS = 2
_START = "import sys; sys.path[:] = sys.argv[1:]; from image_workflow_emulator.imaging.worker import main; main()"
"""The program of a helper: it imports the same modules as the server, from the same places."""
_DEADLINE = 4
"""How many times its processor time a job may take by the clock, on a busy machine, before its helper is given up."""
_TRIES, _TRIES_TO_DRAW = {"normalize": 2}, 8
"""How many helpers may end with a job: few with an upload, which may be why they do."""
_OUT_OF_TIME = -int(getattr(signal, "SIGPROF", 99))
"""The status of a helper whose job took too much processor time."""
_LARGE_RANK = 100
_MEBIBYTE = 1 << 20


class LostHelperError(Exception):
    """An upload was not decoded: it took too much time, or ended two helpers; or the server stops."""


_Helper: TypeAlias = subprocess.Popen[bytes]


def _start() -> _Helper:
    command = [sys.executable, "-P", "-c", _START, *sys.path]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)  # noqa: S603 (this interpreter)


def _ask(helper: _Helper, head: Head, parts: Sequence[bytes]) -> Message:
    """Give a helper a job and wait for its answer. Raises EOFError or OSError if it ends, or is given up, before."""
    assert helper.stdin is not None
    assert helper.stdout is not None
    deadline = threading.Timer(_DEADLINE * max_seconds(head), helper.kill)
    deadline.start()
    try:
        send_message(helper.stdin, head, parts)
        return receive_message(helper.stdout)
    finally:
        deadline.cancel()


def _end(helper: _Helper) -> None:
    """End a helper, and close its pipes, which nobody uses any more."""
    helper.kill()
    with contextlib.suppress(OSError), helper:  # a part of the last job may still be to be written
        pass


@dataclass(slots=True, eq=False)
class _Job:
    head: Head
    parts: Sequence[bytes]
    rank: int
    """The lowest is next."""
    is_large: bool = False
    answer: "Future[Message]" = field(default_factory=Future)


class Helpers:
    """All helpers of a server; costs nothing until the first job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: set[_Helper] = set()
        self._idle: list[_Helper] = []
        self._numbers = count()
        self._waiting: list[_Job] = []
        self._has_large = False
        """Whether a large picture is being decoded."""
        self._is_closed = False
        self._threads = ThreadPoolExecutor(MAX_HELPERS, thread_name_prefix="pictures")

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a job done.

        Raises:
            LostHelperError: it was not done.
            RuntimeError: the code that does it has a defect, described in the text.
        """
        if self._is_closed:
            raise LostHelperError
        job = _Job(head, parts, next(self._numbers) + sum(map(len, parts)) // _MEBIBYTE)
        with self._lock:
            self._waiting.append(job)
        self._threads.submit(self._work)
        answer = await asyncio.wrap_future(job.answer)
        if "defect" in answer[0]:
            raise RuntimeError(f"image work failed in a helper process:\n{answer[0]['defect']}")
        return answer

    def close(self) -> None:
        """End all helpers; their jobs, and those that wait, are lost."""
        with self._lock:
            self._is_closed = True
            for helper in self._all:
                helper.kill()
        self._threads.shutdown()
        for helper in self._idle:
            _end(helper)

    def _work(self) -> None:
        """Do what waits, the job of the lowest rank first."""
        while (job := self._next()) is not None:
            try:
                answer = self._ask({**job.head, "is_large": job.is_large}, job.parts)
                if answer[0] != IS_LARGE:
                    job.answer.set_result(answer)
            except Exception as error:  # whatever it is, somebody waits for the outcome
                job.answer.set_exception(error)
            with self._lock:
                self._has_large &= not job.is_large
                if not job.answer.done():
                    job.is_large, job.rank = True, job.rank + _LARGE_RANK
                    self._waiting.append(job)

    def _next(self) -> _Job | None:
        """Take a job from those that wait, except for large ones while one of them is being done."""
        with self._lock:
            for job in sorted(self._waiting, key=lambda job: job.rank):
                if not (job.is_large and self._has_large):
                    self._waiting.remove(job)
                    if job.is_large or job.answer.set_running_or_notify_cancel():
                        self._has_large |= job.is_large
                        return job
        return None

    def _ask(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a helper do a job. If that ends, though the job used no more time than it may, others try it.

        A drawing is never lost but for the server's end: where every helper was, it is drawn here, without its inputs.
        """
        for _ in range(_TRIES.get(head["job"], _TRIES_TO_DRAW)):
            helper = self._take()
            if helper is None:
                break
            try:
                answer = _ask(helper, head, parts)
            except (EOFError, OSError):
                _end(helper)
                if helper.returncode == _OUT_OF_TIME:
                    break
            else:
                self._idle.append(helper)
                return answer
        if self._is_closed or head["job"] == "normalize":
            raise LostHelperError
        from image_workflow_emulator.imaging.worker import do

        return do(head, [b""] * len(parts))

    def _take(self) -> _Helper | None:
        """Take an idle helper that is still alive, or start one; None if that cannot be, or the server stops."""
        with self._lock:
            self._all = {helper for helper in self._all if helper.poll() is None}
            while self._idle and not self._is_closed:
                helper = self._idle.pop()
                if helper in self._all:
                    return helper
                _end(helper)
            if self._is_closed:
                return None
            with contextlib.suppress(OSError):  # the system has no more processes or files for us
                helper = _start()
                self._all.add(helper)
                return helper
        return None
