"""The command that `exec` runs: a child process with a process group of its own, which is ended with it.

The group is what signals are forwarded to and what is ended. A process that leaves it, as a daemon does, is not ended.
Its leader is a shell that ends the group if this process is killed and cannot do so itself. At a terminal, the group is
the foreground for as long as the command runs, so it reads what is typed and gets Ctrl-C; Ctrl-Z does nothing.

On Windows, which has neither groups nor these signals, the command shares the console, and nothing else is ended.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
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

_NOT_EXECUTABLE = 126
_NOT_FOUND = 127
_SIGNALLED = 128

# A line means that this process ended normally; end of file without one, that it was killed. The shell ignores signals
# for the group.
_GUARD = 'trap "" HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU; read -r _ || kill -s KILL 0'


def signalled_status(number: int) -> int:
    """Return the exit status of a command that was ended by a signal."""
    return _SIGNALLED + number


class Guard:
    """The leader of a new process group, which ends it if this process is killed."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # there are containers without a shell
                self._shell = subprocess.Popen(  # noqa: S603
                    ["/bin/sh", "-c", _GUARD],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    process_group=0,
                )

    @property
    def group(self) -> int:
        """Its process group; 0 if there is none, which is how a command is asked to lead its own."""
        return self._shell.pid if self._shell else 0

    def dismiss(self) -> None:
        """End the shell, without ending the group. Does nothing if it has ended."""
        if self._shell is not None:
            self._shell.communicate(b"\n")
            self._shell = None


class Child:
    """A running command. It has the streams and every other file that this process was started with."""

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str], guard: Guard, output: int | None = None
    ) -> None:
        """Start it, in a running event loop, which handles the signals from now on.

        `output` is the file number of its standard output; None: that of this process. Raises CommandError.
        """
        self._guard = guard
        self._group = guard.group
        self._forward_signals()
        if self._group:
            _hand_terminal(os.getpgrp(), self._group)
        group = None if sys.platform == "win32" else self._group
        try:
            self._process = subprocess.Popen(  # noqa: S603
                words, env=environment, close_fds=False, process_group=group, stdout=output
            )
        except OSError as error:
            _hand_terminal(self._group, os.getpgrp())
            is_missing = isinstance(error, FileNotFoundError)
            reason = "command not found" if is_missing else error.strerror
            raise CommandError(f"{words[0]}: {reason}", _NOT_FOUND if is_missing else _NOT_EXECUTABLE) from error
        self._group = self._group or self._process.pid

    async def wait(self) -> int:
        """Wait for the command's end and return its exit status, or 128 and the number of the signal it ended by."""
        status = await asyncio.to_thread(self._process.wait)
        return status if status >= 0 else signalled_status(-status)

    async def end(self) -> bool:
        """End what is left of the command and its process group; return whether anything had to be ended."""
        if sys.platform == "win32":
            was_running = self._process.poll() is None
            self._process.kill()
            return was_running
        _hand_terminal(self._group, os.getpgrp())
        self._guard.dismiss()
        if await self._has_ended_within(FINISH_SECONDS):
            return False
        self._signal(signal.SIGTERM)
        if not await self._has_ended_within(TERMINATE_SECONDS):
            self._process.kill()  # which may have left the group
            self._signal(signal.SIGKILL)
            await self._has_ended_within(KILL_SECONDS)
        return True

    def _forward_signals(self) -> None:
        if sys.platform == "win32":
            signal.signal(signal.SIGINT, lambda _number, _frame: None)  # the console tells the command too
            return
        # If SIGCHLD is ignored, as some parents leave it, there is no exit status to wait for.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # Inherited by the command: no shell would continue it after Ctrl-Z.
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        loop = asyncio.get_running_loop()
        for name in FORWARDED:
            number = signal.Signals[name]
            if signal.getsignal(number) is not signal.SIG_IGN:  # else it is meant to be ignored, as under nohup
                loop.add_signal_handler(number, self._signal, number)

    def _signal(self, number: int) -> None:
        """Send a signal to the group, and let it continue: a process that is stopped would not hear of it."""
        for sent in (number, signal.SIGCONT) if self._group else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, sent)

    async def _has_ended_within(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        gives_up_at = loop.time() + seconds
        while not self._has_ended():
            if loop.time() >= gives_up_at:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _has_ended(self) -> bool:
        try:
            os.killpg(self._group, 0)
        except (ProcessLookupError, PermissionError):  # no process is left, or none that this one may end
            return True
        return _has_only_zombies(self._group)


def _has_only_zombies(group: int) -> bool:
    """Tell whether only zombies are left of a process group, as in a container whose process 1 is slow to reap them.

    Known on Linux only; elsewhere false.
    """
    states = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just gone
            state, _, its_group = file.read_bytes().rpartition(b")")[2].split()[:3]
            if int(its_group) == group:
                states.append(state)
    return bool(states) and set(states) <= {b"Z", b"X"}


def _hand_terminal(giver: int, taker: int) -> None:
    """Let another process group be the foreground of the terminal, if one is, and if only that group uses the terminal."""
    if sys.platform == "win32" or not os.isatty(1):
        return  # in a pipe, another program may want what is typed
    # A background process that changes the foreground group gets SIGTTOU: block it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        if os.tcgetpgrp(0) == giver:
            os.tcsetpgrp(0, taker)
    except OSError:
        return  # there is no terminal, as in most CI jobs, or it was closed
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})
