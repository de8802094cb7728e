"""The terminal, and how a command with a process group of its own comes to use it.

A terminal sends what is typed (Ctrl-C) to one process group, the foreground: that of this process, which passes it on.
This does not affect a command that only writes. One that reads or sets the terminal is stopped by the system; it is
then given the foreground, and continued. Likewise Ctrl-Z stops the command first and this process after it, so that a
shell sees its job stopped, and can continue both. Not on Windows.
"""

import os
import signal
import sys

if sys.platform != "win32":
    _ASKS_FOR_IT = (signal.SIGTTIN, signal.SIGTTOU)

    class Terminal:
        """The controlling terminal of this process."""

        def __init__(self, file: int) -> None:
            self._file = file

        @classmethod
        def of_this_process(cls) -> "Terminal | None":
            """Open it; None if there is none, as in most CI jobs."""
            try:
                return cls(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
            except OSError:
                return None

        def command_stopped(self, group: int, number: int) -> None:
            """Deal with a command, known by its process group, that was stopped by a signal."""
            if number == signal.SIGTSTP or (number in _ASKS_FOR_IT and not self._is_ours):
                was_lent = self.take_back(group)
                _stop_this_process()  # returns when a shell continues it
                if was_lent and self._is_ours:
                    self._give(group)
            elif number in _ASKS_FOR_IT:
                self._give(group)
            else:
                return  # the signal is for the command alone, as from a debugger
            os.killpg(group, signal.SIGCONT)

        def take_back(self, group: int) -> bool:
            """Make this process the foreground again if the command is; return whether it was."""
            try:
                if os.tcgetpgrp(self._file) != group:
                    return False
                self._give(os.getpgrp())
            except OSError:
                return False  # the terminal was closed
            return True

        @property
        def _is_ours(self) -> bool:
            try:
                return os.tcgetpgrp(self._file) == os.getpgrp()
            except OSError:
                return False

        def _give(self, group: int) -> None:
            # A background process that changes the foreground group gets SIGTTOU: block it.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
            try:
                os.tcsetpgrp(self._file, group)
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})

    def _stop_this_process() -> None:
        """Stop with all of this process group, as Ctrl-Z does. A group that no shell waits for is not stopped."""
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            os.kill(0, signal.SIGTSTP)
        finally:
            signal.signal(signal.SIGTSTP, handler)
