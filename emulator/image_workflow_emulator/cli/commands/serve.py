"""`serve`: an emulator until it is interrupted."""

from collections.abc import Mapping

import click

from image_workflow_emulator.cli.groups import importing
from image_workflow_emulator.console.settings_options import (
    GivenSettings,
    settings_options,
)


@click.command("serve")
@settings_options()
@click.pass_obj
def command(environment: Mapping[str, str], given: GivenSettings) -> None:
    """Run the emulator until interrupted."""
    with importing():
        from image_workflow_emulator.cli.standalone_server import serve

    serve(given.settings, environment)
