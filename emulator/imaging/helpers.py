"""The helper processes that do all image work, seen from the server: started on first use, bounded, and ended with it.

Pillow holds the interpreter lock while it works, uses as much memory as a file demands, and cannot be interrupted. In a
process of its own it cannot harm the server: a helper that takes too much time ends, and only its job is lost. A helper
does one job at a time and reads to the end of its input, so it ends with the server, even if that is killed.

Two helpers work side by side. Small jobs come first: each job may be overtaken by as many later ones as it has mebibytes,
and by a hundred more if there is a large picture in it; so nothing waits for ever. Of large pictures one is decoded at a
time. A helper that finds one, from the headers alone, says so, and the job waits again.

Owns the processes and the order of jobs. Must not import Pillow, nor know what a job means: `emulator.imaging.worker` does.
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
from functools import cached_property
from itertools import count

from emulator.imaging.messages import IS_LARGE, Head, Message, max_seconds, receive_message, send_message

MAX_HELPERS = 2
_START = "import sys; sys.path[:] = sys.argv[1:]; from emulator.imaging.worker import main; main()"
"""The program of a helper: it imports the same modules as the server, from the same places."""
_DEADLINE = 4
"""How many times its processor time a job may take by the clock, on a busy machine, before its helper is given up."""
_TRIES, _TRIES_TO_DRAW = {"normalize": 2}, 8
"""How many helpers may end with a job: few with an upload, which may be why they do."""
_LARGE_RANK = 100
_MEBIBYTE = 1 << 20


class LostHelperError(Exception):
    """An upload was not decoded: it took too much time, or ended two helpers; or the server stops."""


class _Helper:
    """One process and the pipes to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (the interpreter that runs this)
            [sys.executable, "-P", "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Give it a job and wait for its answer. Raises EOFError or OSError if it ends, or is given up, before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        deadline = threading.Timer(_DEADLINE * max_seconds(head), self._process.kill)
        deadline.start()
        try:
            send_message(self._process.stdin, head, parts)
            return receive_message(self._process.stdout)
        finally:
            deadline.cancel()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def has_run_out_of_time(self) -> bool:
        """Whether a job took too much processor time, and ended it so."""
        return hasattr(signal, "SIGPROF") and self._process.returncode == -signal.SIGPROF

    def kill(self) -> None:
        """End it at once; a call that waits for its answer raises."""
        self._process.kill()

    def end(self) -> None:
        """End it, and close its pipes, which nobody uses any more."""
        self.kill()
        with contextlib.suppress(OSError), self._process:  # a part of the last job may still be to be written
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
            helpers = list(self._all)
        for helper in helpers:
            helper.kill()
        if "_threads" in vars(self):
            self._threads.shutdown()
        for helper in self._idle:
            helper.end()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(MAX_HELPERS, thread_name_prefix="pictures")

    def _work(self) -> None:
        """Do what waits, the job of the lowest rank first."""
        while (job := self._next()) is not None:
            try:
                answer = self._ask({**job.head, "is_large": job.is_large}, job.parts)
            except Exception as error:  # whatever it is, somebody waits for the outcome
                job.answer.set_exception(error)
                answer = {}, []
            with self._lock:
                self._has_large &= not job.is_large
                if answer[0] == IS_LARGE:
                    job.is_large = True
                    job.rank += _LARGE_RANK
                    self._waiting.append(job)
            if not job.answer.done() and answer[0] != IS_LARGE:
                job.answer.set_result(answer)

    def _next(self) -> _Job | None:
        """Take a job from those that wait, except for large ones while one of them is being done."""
        with self._lock:
            ready = [job for job in self._waiting if not (job.is_large and self._has_large)]
            while ready:
                job = min(ready, key=lambda job: job.rank)
                ready.remove(job)
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
                answer = helper.ask(head, parts)
            except (EOFError, OSError):
                self._dismiss(helper)
                if helper.has_run_out_of_time:
                    break
            else:
                self._idle.append(helper)
                return answer
        if self._is_closed or head["job"] == "normalize":
            raise LostHelperError
        from emulator.imaging.worker import do

        return do(head, [b""] * len(parts))

    def _take(self) -> _Helper | None:
        """Take an idle helper that is still alive, or start one; None if that cannot be, or the server stops."""
        while True:
            with self._lock:
                if self._is_closed:
                    return None
                if not self._idle:
                    return self._start()
                helper = self._idle.pop()
            if helper.is_alive:
                return helper
            self._dismiss(helper)

    def _start(self) -> _Helper | None:
        try:
            helper = _Helper()
        except OSError:  # the system has no more processes or files for us
            return None
        self._all.add(helper)
        return helper

    def _dismiss(self, helper: _Helper) -> None:
        helper.end()
        with self._lock:
            self._all.discard(helper)
