"""`state`: a sandbox of a running emulator as a file, fetched from it or put in its place."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from emulator.cli.arguments import add_verbs
from emulator.cli.connection import add_connection, control_plane
from emulator.cli.errors import CommandError, unreadable
from emulator.settings import UsageError
from emulator.testing.control import ZIP, ControlPlane
from emulator.testing.errors import EmulatorError


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and a file."""
    for verb in add_verbs(parser, save="write all of a sandbox to a file", load="make a sandbox what a file says"):
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
    content = control.exchange("GET", "state")
    try:
        Path(file).write_bytes(content)
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from error
    print(f"saved {file} ({len(content)} bytes)")


def _load(control: ControlPlane, file: str) -> None:
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise unreadable(error) from error
    try:
        control.exchange("PUT", "state", content, ZIP)
    except EmulatorError as error:
        if error.status in (400, 413, 422):
            raise UsageError(f"{file}: {error}") from error
        raise
    print(f"loaded {file}")
