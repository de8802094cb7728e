"""`wait`: until an emulator is ready."""

import time
from typing import Final

import click

from image_workflow_emulator.cli.addresses import of_emulator
from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.client.local_files import EmulatorError
from image_workflow_emulator.console.values import SECONDS
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.settings import CommandError

_POLL_SECONDS: Final = 0.1


@click.command("wait")
@click.option(
    "--timeout",
    type=SECONDS,
    default="30",
    show_default=True,
    help="seconds before it gives up",
)
@of_emulator
def command(control: ControlClient, timeout: float) -> None:
    """Wait until an emulator is ready."""
    began_ms = host_elapsed_ms()
    while True:
        left_seconds = timeout - (host_elapsed_ms() - began_ms) / 1000
        try:
            control.call("GET", "health", seconds=max(left_seconds, _POLL_SECONDS))
            return
        except EmulatorError as error:
            if left_seconds <= _POLL_SECONDS:
                message = f"no emulator is ready after {timeout:g} s: {error.detail}"
                raise CommandError(message) from None
        # Another process starts meanwhile, in real time.
        time.sleep(_POLL_SECONDS)  # noqa: TID251
