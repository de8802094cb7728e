"""The helper processes that do all image work, seen from the server: started on first
use, bounded, and ended with it. A job that was done before is not done again.

Pillow holds the interpreter lock while it works, uses as much memory as a file demands,
and cannot be interrupted. In a process of its own it cannot harm the server: a helper
that takes too much time ends, and only its job is lost. A helper does one job at a time
until its input ends. So it ends with the server, even if that is killed: at once, or
after its job.

There are two queues. Each job begins in the first, which several threads serve. A helper
that finds a large picture in its job, from the headers alone, says so, and the job
moves to the second queue, which one thread serves. So a small picture never waits for
large ones, and one large picture is decoded at a time.

The process pools of the standard library do not serve here: `concurrent.futures` cannot
end a single job, and loses all with one process; `multiprocessing` runs the main module
of the program again in each child, which is the user's own.

Owns the processes. Must not import Pillow, nor know what a job means:
`imaging/worker.py` does.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from image_workflow_emulator.imaging import helper_program
from image_workflow_emulator.imaging.done_jobs import (
    DoneJobs,
    JobFolder,
    digest_of,
)
from image_workflow_emulator.imaging.messages import (
    IS_LARGE,
    Head,
    Message,
    max_seconds,
    receive_message,
    send_message,
)

MAX_HELPERS = min(4, max(2, os.cpu_count() or 2))
"""How many work on small pictures, up to one for each slot of a photoshoot; one more
works on large ones.
"""
_DEADLINE = 4
"""How many times its processor time a job may take by the clock, on a busy machine,
before its helper is killed.
"""
_TRIES = 3
"""How many helpers may end with a job, which may be why they end."""
_OUT_OF_TIME = -int(getattr(signal, "SIGPROF", 99))
"""The status of a helper whose job took too much processor time."""


class LostHelperError(Exception):
    """An upload was not decoded: it took too much time, or ended its helpers; or the
    server stops.
    """


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", helper_program.__file__, *sys.path]
    pipe = subprocess.PIPE
    return subprocess.Popen(  # noqa: S603 (this Python)
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
    )


def _ask(
    helper: subprocess.Popen[bytes],
    head: Head,
    parts: Sequence[bytes],
) -> Message:
    """Give a helper a job and wait for its answer.

    Raises EOFError or OSError if it ends, or is killed, before.
    """
    assert helper.stdin
    assert helper.stdout
    deadline = threading.Timer(_DEADLINE * max_seconds(head), helper.kill)
    deadline.start()
    try:
        send_message(helper.stdin, head, parts)
        return receive_message(helper.stdout)
    finally:
        deadline.cancel()


def _end(helper: subprocess.Popen[bytes]) -> int | None:
    """End a helper, and close its pipes. Returns its status."""
    helper.kill()
    # A part of the last job may still be to be written.
    with contextlib.suppress(OSError), helper:
        pass
    return helper.returncode


class Helpers:
    """All helpers of a server; costs nothing until the first job."""

    def __init__(self, folder: JobFolder | None = None) -> None:
        """`folder` has the answers to jobs that other emulators have done."""
        self._lock = threading.Lock()
        self._all: set[subprocess.Popen[bytes]] = set()
        self._idle: list[subprocess.Popen[bytes]] = []
        self._done_jobs = DoneJobs(folder)
        self._is_closed = False
        self._small = ThreadPoolExecutor(MAX_HELPERS, thread_name_prefix="pictures")
        self._large = ThreadPoolExecutor(1, thread_name_prefix="large-pictures")

    @property
    def is_closed(self) -> bool:
        """Whether they are ended: every job is lost."""
        return self._is_closed

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a job done.

        Raises:
            LostHelperError: it was not done.
            RuntimeError: the code that does it has a defect, described in the text.
        """
        as_small = {**head, "is_large": False}
        answer = await self._do(self._small, as_small, parts)
        answer_head, _ = answer
        if answer_head == IS_LARGE:
            as_large = {**head, "is_large": True}
            answer = await self._do(self._large, as_large, parts)
            answer_head, _ = answer
        if "defect" in answer_head:
            raise RuntimeError(
                f"image work failed in a helper process:\n{answer_head['defect']}"
            )
        return answer

    def close(self) -> None:
        """End all helpers; their jobs, and those that wait, are lost."""
        with self._lock:
            self._is_closed = True
        for helper in tuple(self._all):
            helper.kill()
        self._small.shutdown()
        self._large.shutdown()
        for helper in self._idle:
            _end(helper)

    async def _do(
        self,
        queue: ThreadPoolExecutor,
        head: Head,
        parts: Sequence[bytes],
    ) -> Message:
        if self._is_closed:
            raise LostHelperError
        future = queue.submit(self._ask, head, parts)
        return await asyncio.wrap_future(future)

    def _ask(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a helper do a job, unless it was done before.

        If it ends, though the job used no more time than it may, others try.

        A drawing is lost only when the server stops: where every helper ended, it is
        drawn here, without its inputs.
        """
        job = digest_of(head, parts)
        known_answer = self._done_jobs.answer_to(job)
        if known_answer is not None:
            return known_answer
        for _ in range(_TRIES):
            helper = None
            try:
                helper = self._take()
                answer = _ask(helper, head, parts)
            except (EOFError, OSError):
                self._all.discard(helper)
                if helper and _end(helper) == _OUT_OF_TIME:
                    break
            else:
                self._idle.append(helper)
                if "defect" not in answer[0]:
                    self._done_jobs.keep(job, answer)
                return answer
        if self._is_closed or head["job"] == "normalize":
            raise LostHelperError
        from image_workflow_emulator.imaging.worker import do

        return do(head, [b""] * len(parts))

    def _take(self) -> subprocess.Popen[bytes]:
        """Take an idle helper, or start one.

        Raises OSError if the system has no more processes or files for us.
        """
        with self._lock:
            if self._is_closed:
                raise LostHelperError
            if self._idle:
                return self._idle.pop()
            helper = _start()
            self._all.add(helper)
            return helper
