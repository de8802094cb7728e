"""A real server process for the tests: started, waited for, stopped by SIGTERM. Knows nothing of the API."""

import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHECKOUT = Path(__file__).resolve().parents[2]
START_SECONDS = 20.0
"""How long a start may take on a busy machine before the test fails instead of hanging."""
STOP_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class EmulatorProcess:
    """A server that accepts requests."""

    base_url: str
    process: "subprocess.Popen[str]"
    log: IO[str]

    @property
    def origin(self) -> str:
        """The address without the path of the API."""
        return self.base_url.removesuffix("/v1")

    def read_log(self) -> str:
        """Return what it wrote to standard error until now."""
        self.log.seek(0)
        return self.log.read()


@contextmanager
def run_emulator(*options: str, python: str = sys.executable) -> Iterator[EmulatorProcess]:
    """Serve on a free port while the block runs; then stop by SIGTERM, which must be a success without a complaint."""
    command = [python, "-m", "emulator", "serve", "--port", "0", *options]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            emulator = EmulatorProcess(_base_url(process, log), process, log)
            yield emulator
            process.send_signal(signal.SIGTERM)
            assert process.wait(STOP_SECONDS) == 0
            assert "Traceback" not in emulator.read_log(), emulator.read_log()
        finally:
            process.kill()


def _base_url(process: "subprocess.Popen[str]", log: IO[str]) -> str:
    """Read the start-up message up to the `ready` line, and return the address that this names."""
    guard = threading.Timer(START_SECONDS, process.kill)
    guard.start()
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ready "):
                return line.removeprefix("ready ").strip()
    finally:
        guard.cancel()
    log.seek(0)
    raise AssertionError(f"the emulator ended or hung before it was ready: {log.read()}")
