"""An emulator in a process of its own: how `serve` is started for a test, and stopped."""

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Final, NamedTuple

from image_workflow_emulator.client.local_files import (
    NOT_STARTED,
    EmulatorError,
    is_refusal,
)
from image_workflow_emulator.settings import OPTIONS

__tracebackhide__ = is_refusal

_PACKAGE: Final = Path(__file__).parents[1]
_LAUNCHER: Final = _PACKAGE / "launcher.py"
_READY: Final = "ready "
"""Begins the line that `serve` prints when it listens; the base URL follows."""
_STOP_SECONDS: Final = 10
_MAX_COMPLAINT_LINES: Final = 100


class StartedServer(NamedTuple):
    """A server that is ready."""

    url: str
    """Its address."""
    stop: Callable[[], None]


def start_server(option_texts: Mapping[str, str]) -> StartedServer:
    """Start `serve` with the texts of options, by their fields, and return when it is
    ready.

    Raises EmulatorError if it does not start.
    """
    arguments = [
        f"{option.flag}={option_texts[option.field]}"
        for option in OPTIONS
        if option.field in option_texts
    ]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", _LAUNCHER, _PACKAGE.parent, "serve", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the tests, which stop it when they end
    )
    assert process.stdout is not None
    assert process.stderr is not None
    complaints = _Complaints(process.stderr)
    for line in process.stdout:
        text = line.decode()
        if text.startswith(_READY):
            base_url = text.removeprefix(_READY)
            url, _, _ = base_url.rpartition("/")
            return StartedServer(url, stop=partial(_stop, process))
    _stop(process)
    detail = complaints.text().replace("image-workflow-emulator: ", "")
    status = f"the emulator ended with status {process.returncode}"
    raise EmulatorError(NOT_STARTED, detail or status)


class _Complaints:
    """The last lines that a process has written to its standard error.

    A thread reads them while the process runs, so that the process never waits for a
    reader. A temporary file would need a folder that can be written to.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lines: deque[bytes] = deque(maxlen=_MAX_COMPLAINT_LINES)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return them, after the end of the process."""
        self._thread.join(_STOP_SECONDS)
        return b"".join(self._lines).decode(errors="replace").strip()

    def _read(self) -> None:
        with self._stream:
            self._lines.extend(self._stream)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop a process and wait for its end."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()
