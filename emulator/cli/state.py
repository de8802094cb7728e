"""The `state` command: a sandbox of a running emulator as a file, fetched from its control plane or put in its place."""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from emulator.cli.errors import CommandError, unreadable
from emulator.cli.remote import ControlPlane, RefusalError, control_plane
from emulator.settings import UsageError


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and CommandError."""
    control = control_plane(options, environment)
    if options.action == "save":
        _save(control, options.file)
    else:
        _load(control, options.file)
    return 0


def _save(control: ControlPlane, file: str) -> None:
    content = control.exchange_file("GET", "state")
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
        control.exchange_file("PUT", "state", content)
    except RefusalError as refusal:
        if refusal.is_about_content:
            raise UsageError(f"{file}: {refusal}") from refusal
        raise
    print(f"loaded {file}")
