"""An emulator in a process of its own, which ends with the one that started it. Knows the command, not what it does."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from emulator.settings import OPTIONS
from emulator.testing.errors import NOT_STARTED, EmulatorError, is_refusal

if TYPE_CHECKING:
    from subprocess import Popen

__tracebackhide__ = is_refusal

STOP_SECONDS: Final = 10.0

_LAUNCHER: Final = """\
import os, signal, sys, threading

def end_with_parent():
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=end_with_parent, daemon=True).start()
sys.path.append(sys.argv.pop(1))
for name in [name for name in os.environ if name.startswith("EMULATOR_")]:
    del os.environ[name]
from emulator.cli.main import main
sys.exit(main())
"""
"""Runs the command: its options alone count, not the environment's. Standard input ends with the process that holds it."""


class ServerProcess:
    """A running `serve`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        """Start it with the texts of options, by their fields, and wait until it is ready. Raises EmulatorError if it does not start."""
        import subprocess
        import tempfile

        folder = str(Path(__file__).parents[2])
        arguments = [f"{option.flag}={options[option.field]}" for option in OPTIONS if option.field in options]
        with tempfile.TemporaryFile() as complaints:
            self._process: Popen[bytes] = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-c", _LAUNCHER, folder, "serve", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,  # Ctrl-C is for the tests, which end it when they have cleaned up
            )
            self.url = self._wait_until_ready(complaints)

    def _wait_until_ready(self, complaints: IO[bytes]) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"ready "):
                return line.decode().removeprefix("ready ").rpartition("/")[0]
        self.stop()
        complaints.seek(0)
        text = complaints.read().decode(errors="replace").replace("image-workflow-emulator: ", "").strip()
        raise EmulatorError(NOT_STARTED, text or f"the emulator ended with status {self._process.returncode}")

    def stop(self) -> None:
        """End it, and wait for its end."""
        import subprocess

        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
