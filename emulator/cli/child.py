"""The command that `exec` runs: a child process with a process group of its own, which is ended with it.

The group is what signals are passed on to and what is ended. A process that leaves it, as a daemon does, is not ended.
Its leader is a shell that ends the group if this process is killed and cannot do so itself.

On Windows, which has neither groups nor these signals, the command shares the console, and nothing else is ended.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from emulator.cli.errors import CommandError

if sys.platform != "win32":
    from emulator.cli.terminal import Terminal

    PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
    """The signals that are passed on to the command."""
    _TERMINALS = (signal.SIGTSTP, signal.SIGWINCH)
    """Signals that are passed on too, if there is a terminal."""

FINISH_SECONDS = 0.5
"""How long processes that the command left behind may take to finish by themselves, as the reader of a pipe does."""
TERMINATE_SECONDS = 2.0
"""How long they may take once they were asked to end."""
KILL_SECONDS = 0.5
_LOOK_SECONDS = 0.01

_NOT_EXECUTABLE = 126
_NOT_FOUND = 127
_SIGNALLED = 128

# A line means that this process ended normally; end of file without one, that it was killed. The shell ignores signals
# for the group.
_GUARD = 'trap "" HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU; read -r _ || kill -s KILL 0'


class StartError(CommandError):
    """The command could not be started. `status` is the one that a shell has for it."""

    def __init__(self, command: str, error: OSError) -> None:
        is_missing = isinstance(error, FileNotFoundError)
        super().__init__(f"{command}: {'command not found' if is_missing else error.strerror}")
        self.status = _NOT_FOUND if is_missing else _NOT_EXECUTABLE


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

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], guard: Guard) -> None:
        """Start it, in a running event loop, which handles the signals from now on. Raises StartError."""
        self._loop = asyncio.get_running_loop()
        self._changes: asyncio.Queue[int] = asyncio.Queue()
        self._guard = guard
        self._group = 0
        self._take_signals()
        try:
            self._process = subprocess.Popen(words, env=environment, close_fds=False, process_group=guard.group)  # noqa: S603
        except OSError as error:
            raise StartError(words[0], error) from error
        self._group = guard.group or self._process.pid
        threading.Thread(target=self._watch, daemon=True).start()

    if sys.platform == "win32":

        def _take_signals(self) -> None:
            signal.signal(signal.SIGINT, lambda _number, _frame: None)  # the console tells the command too

        def _watch(self) -> None:
            self._loop.call_soon_threadsafe(self._changes.put_nowait, self._process.wait())

        async def wait(self) -> int:
            """Wait for the command's end and return its exit status."""
            return await self._changes.get()

        async def end(self) -> bool:
            """End it, if it still runs; return whether it had to be."""
            was_running = self._process.poll() is None
            self._process.kill()
            return was_running

    else:

        def _take_signals(self) -> None:
            self._terminal = Terminal.of_this_process()
            # If SIGCHLD is ignored, as some parents leave it, there is no exit status to wait for.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number in PASSED_ON if self._terminal is None else (*PASSED_ON, *_TERMINALS):
                if signal.getsignal(number) is not signal.SIG_IGN:  # else it is meant to be ignored, as under nohup
                    self._loop.add_signal_handler(number, self._signal, number)

        def _signal(self, number: int) -> None:
            if self._group:  # pragma: no branch (a signal that comes while the command turns out not to start)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._group, number)

        def _watch(self) -> None:
            while True:
                _, status = os.waitpid(self._process.pid, os.WUNTRACED)
                self._loop.call_soon_threadsafe(self._changes.put_nowait, status)
                if not os.WIFSTOPPED(status):
                    return

        async def wait(self) -> int:
            """Wait for the command's end and return its exit status, or 128 and the number of the signal it ended by."""
            while os.WIFSTOPPED(status := await self._changes.get()):
                if self._terminal is not None:
                    self._terminal.command_stopped(self._group, os.WSTOPSIG(status))
            code = os.waitstatus_to_exitcode(status)
            self._process.returncode = code  # so that Popen does not look for it
            return code if code >= 0 else signalled_status(-code)

        async def end(self) -> bool:
            """End what is left of the command's process group; return whether anything had to be ended."""
            if self._terminal is not None:
                self._terminal.take_back(self._group)
            self._guard.dismiss()
            if await self._has_ended_within(FINISH_SECONDS):
                return False
            self._signal(signal.SIGTERM)
            if not await self._has_ended_within(TERMINATE_SECONDS):
                self._signal(signal.SIGKILL)
                await self._has_ended_within(KILL_SECONDS)
            return True

        async def _has_ended_within(self, seconds: float) -> bool:
            gives_up_at = self._loop.time() + seconds
            while not self._has_ended():
                if self._loop.time() >= gives_up_at:
                    return False
                await asyncio.sleep(_LOOK_SECONDS)
            return True

        def _has_ended(self) -> bool:
            try:
                os.killpg(self._group, 0)
            except (ProcessLookupError, PermissionError):  # no process is left, or none that this one may end
                return True
            return _has_only_zombies(self._group)


def _has_only_zombies(group: int) -> bool:
    """Whether only zombies are left of a process group: processes that have ended, and that process 1 has not yet reaped.

    In a container, process 1 may be slow to do so, or be this process itself. Known on Linux only; elsewhere false.
    """
    states = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just gone
            state, _, its_group = file.read_bytes().rpartition(b")")[2].split()[:3]
            if int(its_group) == group:
                states.append(state)
    return bool(states) and set(states) <= {b"Z", b"X"}
