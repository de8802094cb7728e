"""The helper processes that do all image work, seen from the server: started on first use, bounded, and ended with it.

Pillow holds the interpreter lock while it works, uses as much memory as a file demands, and cannot be interrupted. In a
process of its own it cannot harm the server: a helper that exceeds its time or memory ends, and only its job is lost. A
helper does one job at a time and reads to the end of its input, so it ends with the server, even if that is killed.

Jobs have two lanes. Every job begins in the light one; a helper that finds, from the headers alone, a picture of more
than `LIGHT_PIXELS` in it says so, and the job begins again in the heavy lane, which has one place. So at most
`LIGHT_PLACES * LIGHT_PIXELS` and one large picture are decoded at once, about 130 megapixels, and small uploads do not
wait for large ones. After a heavy job its helper ends, which frees all of its memory.

Owns the processes and the lanes. Must not import Pillow, nor know what a job means: `emulator.imaging.worker` does.
"""

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

from emulator.imaging.messages import IS_HEAVY, Head, Message, receive_message, send_message

LIGHT_PLACES = 2
LIGHT_PIXELS = 1 << 24
_START = "import sys; sys.path[:] = sys.argv[1:]; from emulator.imaging.worker import main; main()"
"""The program of a helper: it imports the same modules as the server, from the same places."""


class LostHelperError(Exception):
    """A helper ended before it had answered: the job took too long or too much memory, or the server stops."""


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
        """Give it a job and wait for its answer. Raises EOFError or OSError if it ends before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        send_message(self._process.stdin, head, parts)
        return receive_message(self._process.stdout)

    def kill(self) -> None:
        """End it at once; a call that waits for its answer raises."""
        self._process.kill()
        self._process.wait()

    def close_pipes(self) -> None:
        """Close its pipes, which are no longer used."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # a part of the last job was still to be written
                pipe.close()


class Helpers:
    """All helpers of a server; costs nothing until the first job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: set[_Helper] = set()
        self._idle: list[_Helper] = []
        self._is_closed = False

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a job done.

        Raises:
            LostHelperError: its helper ended before it was done.
            RuntimeError: the code that does it has a defect, described in the text.
        """
        answer = await self._run_in(self._light_lane, {**head, "pixels_at_once": LIGHT_PIXELS}, parts)
        if answer[0] == IS_HEAVY:
            answer = await self._run_in(self._heavy_lane, head, parts)
        if "defect" in answer[0]:
            raise RuntimeError(f"image work failed in a helper process:\n{answer[0]['defect']}")
        return answer

    def close(self) -> None:
        """End all helpers; their jobs are lost."""
        with self._lock:
            self._is_closed = True
            helpers = list(self._all)
        for helper in helpers:
            helper.kill()
        for lane in ("_light_lane", "_heavy_lane"):
            if lane in vars(self):
                vars(self)[lane].shutdown(cancel_futures=True)
        for helper in self._idle:
            helper.close_pipes()

    @cached_property
    def _light_lane(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(LIGHT_PLACES, thread_name_prefix="light-pictures")

    @cached_property
    def _heavy_lane(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="heavy-pictures")

    async def _run_in(self, lane: ThreadPoolExecutor, head: Head, parts: Sequence[bytes]) -> Message:
        if self._is_closed:
            raise LostHelperError
        keeps_helper = lane is self._light_lane
        return await asyncio.get_running_loop().run_in_executor(lane, self._ask, head, parts, keeps_helper)

    def _ask(self, head: Head, parts: Sequence[bytes], keeps_helper: bool) -> Message:
        helper = self._take()
        try:
            answer = helper.ask(head, parts)
        except (EOFError, OSError) as error:
            self._dismiss(helper)
            raise LostHelperError from error
        if keeps_helper:
            self._idle.append(helper)
        else:
            self._dismiss(helper)
        return answer

    def _take(self) -> _Helper:
        with self._lock:
            if self._is_closed:  # while this job waited for a place
                raise LostHelperError
            if self._idle:
                return self._idle.pop()
            helper = _Helper()
            self._all.add(helper)
            return helper

    def _dismiss(self, helper: _Helper) -> None:
        helper.kill()
        helper.close_pipes()
        with self._lock:
            self._all.discard(helper)
