"""`state`: a sandbox of a running emulator as a file, saved or loaded."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from emulator.cli.errors import REFUSED_VALUES
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.settings import UsageError
from emulator.testing.control import STATE_SECONDS, ZIP
from emulator.testing.errors import EmulatorError
from emulator.testing.files import put_in_place, read_state_file
from emulator.testing.session_file import saved_sandbox

_BODY = "(body): "
"""The name of the file in complaints of the control plane."""


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and a file."""
    for verb in add_emulator_verbs(
        parser,
        save="save a sandbox to a state file, or as a session for the page to FILE.json",
        load="replace a sandbox by what a state file holds",
    ):
        verb.add_argument("file", metavar="FILE")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Save or load it. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    if options.action == "save":
        content = saved_sandbox(control, options.file)
        put_in_place(options.file, content)
        print(f"saved {options.file} ({len(content)} bytes)")
        return 0
    content = read_state_file(options.file)
    try:
        control.exchange("PUT", "state", content, ZIP, seconds=STATE_SECONDS)
    except EmulatorError as error:
        if error.status in REFUSED_VALUES:
            raise UsageError(f"{options.file}: {error.detail.removeprefix(_BODY)}") from error
        raise
    print(f"loaded {options.file}")
    return 0
