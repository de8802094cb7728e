"""The process of the command that `exec` runs.

The command runs in a session of its own. Signals are forwarded to its process group,
and the group is what is ended: a process that leaves it, as a daemon does, is not. The
command has no controlling terminal: it can read what is typed, and Ctrl-C reaches it as
a forwarded signal.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from image_workflow_emulator.settings import CommandError

FINISH_SECONDS = 0.5
"""How long processes that the command left behind may take to finish by themselves, as
the reader of a pipe does."""
TERMINATE_SECONDS = 2.0
"""How long they may take once they were asked to end."""
_POLL_SECONDS: Final = 0.01
_FORWARDED: Final = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""The signals that are forwarded to the command."""
_USER_SIGNALS: Final = (signal.SIGUSR1, signal.SIGUSR2)
"""Those that do not ask a command to end."""
_SET_CHILD_SUBREAPER: Final = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
_NOT_EXECUTABLE: Final = 126
_NOT_FOUND: Final = 127
_SIGNALLED: Final = 128


class Child:
    """A running command. It has the streams and every other file that this process was
    started with.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        output: int | None = None,
    ) -> None:
        """Start it, in a running event loop, which handles the signals from now on.

        `output` is the file number of its standard output; None: that of this process.
        Raises CommandError.
        """
        self._forward_signals()
        _adopt_orphans()
        try:
            self._process = subprocess.Popen(  # noqa: S603
                words,
                env=environment,
                close_fds=False,
                start_new_session=True,
                stdout=output,
            )
        except FileNotFoundError as error:
            message = f"{words[0]}: command not found"
            raise CommandError(message, _NOT_FOUND) from error
        except OSError as error:
            message = f"{words[0]}: {error.strerror}"
            raise CommandError(message, _NOT_EXECUTABLE) from error
        self._group = self._process.pid
        self.was_signalled = False
        """Whether a signal has ended it, or asked it to end."""

    async def wait(self) -> int:
        """Wait for the end of the command and return its exit status: 128 and the
        number of the signal, if a signal ended it.
        """
        status = await asyncio.to_thread(self._process.wait)
        if status < 0:
            status = _SIGNALLED - status
        if status > _SIGNALLED:  # shells say so of their own command
            self.was_signalled = True
        return status

    async def end(self) -> bool:
        """End what is left of the command and its process group.

        Return whether anything had to be ended.
        """
        if await self._has_ended_within(FINISH_SECONDS):
            return False
        self._signal(signal.SIGTERM)
        if not await self._has_ended_within(TERMINATE_SECONDS):
            self._signal(signal.SIGKILL)
            await self._has_ended_within(FINISH_SECONDS)
        return True

    def _forward_signals(self) -> None:
        # If SIGCHLD is ignored, as some parents leave it, there is no exit status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # Ctrl-Z would stop the emulator alone.
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        loop = asyncio.get_running_loop()
        for number in _FORWARDED:
            # One that is ignored is meant to be ignored, as under nohup.
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._forward, number)

    def _forward(self, number: int) -> None:
        if number not in _USER_SIGNALS:
            self.was_signalled = True
        self._signal(number)

    def _signal(self, number: int) -> None:
        """Send a signal to the group, and let it continue: a process that is stopped
        would not get it.
        """
        for sent in (number, signal.SIGCONT):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, sent)

    async def _has_ended_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._has_group():  # noqa: ASYNC110 (the end is no event)
                    await asyncio.sleep(_POLL_SECONDS)
                return True
        return False

    def _has_group(self) -> bool:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-self._group, os.WNOHANG)[0]:
                pass  # one more that had ended
        try:
            os.killpg(self._group, 0)
        except (ProcessLookupError, PermissionError):
            # No process is left, or none that this one may end.
            return False
        return True


def _adopt_orphans() -> None:
    """Become the parent of what outlives the command, on Linux: a process that has
    ended stays in its group until it is waited for.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
