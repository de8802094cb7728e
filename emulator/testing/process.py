"""An emulator in a process of its own, which ends with the one that started it. Knows the command, not what it does."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from emulator.settings import OPTIONS
from emulator.testing.errors import NOT_STARTED, EmulatorError, is_refusal

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


def start_server(options: Mapping[str, str]) -> tuple[str, Callable[[], None]]:
    """Start `serve` with the texts of options, by their fields; when it is ready, return its address and what stops it.

    Raises EmulatorError if it does not start.
    """
    folder = str(Path(__file__).parents[2])
    arguments = [f"{option.flag}={options[option.field]}" for option in OPTIONS if option.field in options]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-c", _LAUNCHER, folder, "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,  # Ctrl-C is for the tests, which end it when they have cleaned up
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(b"ready "):
                return line.decode().removeprefix("ready ").rpartition("/")[0], partial(_stop, process)
        _stop(process)
        complaints.seek(0)
        text = complaints.read().decode(errors="replace").replace("image-workflow-emulator: ", "").strip()
    raise EmulatorError(NOT_STARTED, text or f"the emulator ended with status {process.returncode}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """End it, and wait for its end."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    with process:  # which closes its streams and waits
        pass
