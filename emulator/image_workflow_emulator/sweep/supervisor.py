"""A program: runs a command, and ends it when the process that started it has ended.

    supervisor.py FILE COMMAND [ARGUMENT ...]

Standard input is a pipe that the starting process holds. At its end, which comes also
if that process is killed, the command is asked to end, and after some seconds killed
with all that it left. FILE has the process group of a command that the command runs, as
`noted_command` writes it. The exit status is that of the command.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

STOP_SECONDS = 5.0
"""How long a command may take to end after SIGTERM."""
_SIGNALLED = 128


def main(file: str, command: list[str]) -> int:
    """Run the command and return its exit status."""
    process = subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    ending = threading.Lock()
    watcher = threading.Thread(
        target=_end_with_parent,
        args=(process, Path(file), ending),
        daemon=True,
    )
    watcher.start()
    status = process.wait()
    with ending:  # the watcher has killed what else there is
        _kill_group(process.pid)
    if status < 0:
        return _SIGNALLED - status
    return status


def _end_with_parent(
    process: "subprocess.Popen[bytes]",
    file: Path,
    ending: threading.Lock,
) -> None:
    """End the command when nobody holds standard input any more."""
    while os.read(0, 1024):
        pass
    with ending:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            # The command did not note its group if it did not begin.
            with contextlib.suppress(FileNotFoundError, ValueError):
                _kill_group(int(file.read_text(encoding="utf-8")))
            _kill_group(process.pid)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
