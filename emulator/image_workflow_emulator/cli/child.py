"""The command that `exec` runs: a child process in a session of its own, which is ended with it.

Signals are forwarded to its process group, and the group is what is ended. A process that leaves it, as a daemon does,
is not ended. The command has no controlling terminal: it can read what is typed, and Ctrl-C reaches it as a forwarded
signal.

On Windows, which has neither groups nor these signals, the command shares the console, and nothing else is ended.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from image_workflow_emulator.settings import CommandError

FORWARDED: Final = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
"""The signals that are forwarded to the command."""
FINISH_SECONDS = 0.5
"""How long processes that the command left behind may take to finish by themselves, as the reader of a pipe does."""
TERMINATE_SECONDS = 2.0
"""How long they may take once they were asked to end."""
KILL_SECONDS = 0.5
_POLL_SECONDS = 0.01

_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_NOT_EXECUTABLE = 126
_NOT_FOUND = 127
_SIGNALLED = 128


class Child:
    """A running command. It has the streams and every other file that this process was started with."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], output: int | None = None) -> None:
        """Start it, in a running event loop, which handles the signals from now on.

        `output` is the file number of its standard output; None: that of this process. Raises CommandError.
        """
        self._group = 0
        self._forward_signals()
        _adopt_orphans()
        try:
            self._process = subprocess.Popen(  # noqa: S603
                words, env=environment, close_fds=False, start_new_session=True, stdout=output
            )
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            reason = "command not found" if is_missing else error.strerror
            raise CommandError(f"{words[0]}: {reason}", _NOT_FOUND if is_missing else _NOT_EXECUTABLE) from error
        self._group = self._process.pid

    async def wait(self) -> int:
        """Wait for the command's end and return its exit status, or 128 and the number of the signal it ended by."""
        status = await asyncio.to_thread(self._process.wait)
        return status if status >= 0 else _SIGNALLED - status

    async def end(self) -> bool:
        """End what is left of the command and its process group; return whether anything had to be ended."""
        if sys.platform == "win32":
            was_running = self._process.poll() is None
            self._process.kill()
            return was_running
        if await self._has_ended_within(FINISH_SECONDS):
            return False
        self._signal(signal.SIGTERM)
        if not await self._has_ended_within(TERMINATE_SECONDS):
            self._signal(signal.SIGKILL)
            await self._has_ended_within(KILL_SECONDS)
        return True

    def _forward_signals(self) -> None:
        if sys.platform == "win32":
            signal.signal(signal.SIGINT, lambda _number, _frame: None)  # the console tells the command too
            return
        # If SIGCHLD is ignored, as some parents leave it, there is no exit status to wait for.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # Ctrl-Z would stop the emulator alone
        loop = asyncio.get_running_loop()
        for name in FORWARDED:
            number = signal.Signals[name]
            if signal.getsignal(number) is not signal.SIG_IGN:  # else it is meant to be ignored, as under nohup
                loop.add_signal_handler(number, self._signal, number)

    def _signal(self, number: int) -> None:
        """Send a signal to the group, and let it continue: a process that is stopped would not get it."""
        for sent in (number, signal.SIGCONT) if self._group else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, sent)

    async def _has_ended_within(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        gives_up_at = loop.time() + seconds
        while self._has_group():
            if loop.time() >= gives_up_at:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _has_group(self) -> bool:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-self._group, os.WNOHANG)[0]:
                pass  # one more that had ended
        try:
            os.killpg(self._group, 0)
        except (ProcessLookupError, PermissionError):  # no process is left, or none that this one may end
            return False
        return True


def _adopt_orphans() -> None:
    """Become the parent of what outlives the command, on Linux: a process that has ended stays in its group until it is
    waited for.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
