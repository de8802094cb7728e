"""`state`: a sandbox of a running emulator as a file, fetched from it or put in its place."""

import os
import stat
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from emulator.cli.arguments import add_verbs
from emulator.cli.connection import add_connection, control_plane
from emulator.cli.errors import CommandError, unreadable
from emulator.settings import UsageError
from emulator.testing.control import ZIP, ControlPlane
from emulator.testing.errors import EmulatorError

MAXIMUM_FILE_BYTES = 4 * 2**30
_BODY = "(body): "
"""What the control plane calls the file, which has a name here."""


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and a file."""
    for verb in add_verbs(
        parser, save="save a sandbox to a state file", load="replace a sandbox by what a state file holds"
    ):
        verb.add_argument("file", metavar="FILE")
        add_connection(verb)


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Save or load it. Raises UsageError, CommandError and EmulatorError."""
    control = control_plane(options, environment)
    if options.action == "save":
        _save(control, options.file)
    else:
        _load(control, options.file)
    return 0


def _save(control: ControlPlane, file: str) -> None:
    """Write beside the file, and put it in its place when it is whole: a failure leaves what was there."""
    content = control.exchange("GET", "state")
    target = Path(file)
    beside = target.with_name(f"{target.name}.part")
    try:
        beside.write_bytes(content)
        beside.replace(target)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise CommandError(f"{file}: {error.strerror}") from error
    print(f"saved {file} ({len(content)} bytes)")


def _load(control: ControlPlane, file: str) -> None:
    try:
        with Path(file).open("rb") as opened:
            content = _read(opened, file)
    except OSError as error:
        raise unreadable(error) from error
    try:
        control.exchange("PUT", "state", content, ZIP)
    except EmulatorError as error:
        if error.status in (400, 413, 422):
            raise UsageError(f"{file}: {error.detail.removeprefix(_BODY)}") from error
        raise
    print(f"loaded {file}")


def _read(opened: IO[bytes], file: str) -> bytes:
    """Read a whole file. Raises UsageError for what has no end, or is larger than any state."""
    status = os.fstat(opened.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{file}: expected a file, not a device or a pipe")
    if status.st_size > MAXIMUM_FILE_BYTES:
        raise UsageError(f"{file}: found {status.st_size} bytes; expected at most {MAXIMUM_FILE_BYTES}")
    return opened.read(MAXIMUM_FILE_BYTES)
