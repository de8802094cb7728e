"""`state`: a sandbox as a file."""

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.cli.statuses import REFUSED_VALUES
from image_workflow_emulator.client.control_client import (
    STATE_SECONDS,
    ZIP,
    ControlClient,
)
from image_workflow_emulator.client.local_files import (
    EmulatorError,
    UnusableFileError,
    read_state_file,
    write_file,
)
from image_workflow_emulator.console.values import FILE


@click.group("state", cls=Noun, no_args_is_help=True)
def command() -> None:
    """Save a sandbox to a file, or load one."""


@command.command("save")
@click.argument("file", type=FILE)
@of_sandbox
def save(control: ControlClient, file: str) -> None:
    """Save it to a state file, or a session for the page to FILE.json."""
    from image_workflow_emulator.client.exports import saved_sandbox

    content = saved_sandbox(control, file)
    write_file(file, content)
    click.echo(f"saved {file} ({len(content)} bytes)")


@command.command("load")
@click.argument("file", type=FILE)
@of_sandbox
def load(control: ControlClient, file: str) -> None:
    """Replace it by what a state file holds."""
    content = read_state_file(file)
    try:
        control.exchange("PUT", "state", content, ZIP, seconds=STATE_SECONDS)
    except EmulatorError as error:
        if error.status not in REFUSED_VALUES:
            raise
        words = error.detail.removeprefix("(body): ")  # as the control plane calls it
        raise UnusableFileError(error.code, f"{file}: {words}") from error
    click.echo(f"loaded {file}")
