"""`reset`: a sandbox as it was at its start."""

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.client.control_client import ControlClient


@click.command("reset")
@of_sandbox
def command(control: ControlClient) -> None:
    """Reset a sandbox to its start."""
    control.call("POST", "reset")
    click.echo("done")
