"""`state`: a sandbox of a running emulator as a file, saved or loaded."""

import os
import stat
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import IO

from emulator.cli.errors import REFUSED_VALUES, writing
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.settings import UsageError
from emulator.testing.control import STATE_SECONDS, ZIP, ControlClient
from emulator.testing.errors import EmulatorError
from emulator.testing.files import opened, put_in_place

MAXIMUM_FILE_BYTES = 4 * 2**30
_BODY = "(body): "
"""The name of the file in complaints of the control plane."""


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and a file."""
    for verb in add_emulator_verbs(
        parser, save="save a sandbox to a state file", load="replace a sandbox by what a state file holds"
    ):
        verb.add_argument("file", metavar="FILE")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Save or load it. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    if options.action == "save":
        _save(control, options.file)
    else:
        _load(control, options.file)
    return 0


def _save(control: ControlClient, file: str) -> None:
    with writing(file), put_in_place(file) as written:
        control.exchange("GET", "state", seconds=STATE_SECONDS, into=written)
        size_bytes = written.tell()
    print(f"saved {file} ({size_bytes} bytes)")


def _load(control: ControlClient, file: str) -> None:
    try:
        with opened(file) as read:
            _check(read, file)
            control.exchange("PUT", "state", read, ZIP, seconds=STATE_SECONDS)
    except EmulatorError as error:
        if error.status in REFUSED_VALUES:
            raise UsageError(f"{file}: {error.detail.removeprefix(_BODY)}") from error
        raise
    print(f"loaded {file}")


def _check(read: IO[bytes], file: str) -> None:
    """Raises UsageError for a file without end, or larger than any state."""
    status = os.fstat(read.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{file}: expected a file, not a device or a pipe")
    if status.st_size > MAXIMUM_FILE_BYTES:
        raise UsageError(f"{file}: found {status.st_size} bytes; expected at most {MAXIMUM_FILE_BYTES}")
