"""The `state` command: a sandbox of a running emulator as a file, fetched from its control plane or put in its place."""

import os
import stat
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from emulator.cli.errors import CommandError, unreadable
from emulator.cli.remote import ControlPlane, RefusalError, control_plane
from emulator.settings import UsageError

MAXIMUM_FILE_BYTES = 8 * 2**30
_PIECE_BYTES = 1024 * 1024


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and CommandError."""
    control = control_plane(options, environment)
    if options.action == "save":
        _save(control, options.file)
    else:
        _load(control, options.file)
    return 0


def _save(control: ControlPlane, file: str) -> None:
    """Write beside the file, and put it in its place when it is whole: a failure leaves what was there."""
    target = Path(file)
    beside = target.with_name(f"{target.name}.part")
    try:
        control.fetch_file("state", lambda content: _write(beside, content))
        size_bytes = beside.stat().st_size
        beside.replace(target)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    print(f"saved {file} ({size_bytes} bytes)")


def _write(path: Path, content: IO[bytes]) -> None:
    try:
        file = path.open("wb")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    with file:
        while piece := content.read(_PIECE_BYTES):
            try:
                file.write(piece)
            except OSError as error:
                raise CommandError(f"{path}: {error.strerror}") from error


def _load(control: ControlPlane, file: str) -> None:
    try:
        with Path(file).open("rb") as content:
            size_bytes = _size_of(content, file)
            control.send_file("state", content, size_bytes)
    except RefusalError as refusal:
        if refusal.is_about_content:
            raise UsageError(f"{file}: {refusal}") from refusal
        raise
    except OSError as error:
        raise unreadable(error) from error
    print(f"loaded {file}")


def _size_of(content: IO[bytes], file: str) -> int:
    """Return how many bytes will be sent. Raises UsageError for what has no size, or one beyond the limit."""
    status = os.fstat(content.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{file}: expected a file, not a device or a pipe")
    if status.st_size > MAXIMUM_FILE_BYTES:
        raise UsageError(f"{file}: found {status.st_size} bytes; expected at most {MAXIMUM_FILE_BYTES}")
    return status.st_size
