"""`given`: what a sandbox holds before clients come."""

import json
import sys
from typing import Final

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.client.control_client import (
    STATE_SECONDS,
    YAML,
    ControlClient,
)
from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.console.options import form
from image_workflow_emulator.console.tables import cells, show
from image_workflow_emulator.console.values import FILE
from image_workflow_emulator.documents.limits import MAX_BYTES

_COLUMNS: Final = ("object", "id", "name", "status")


@click.command(
    "given",
    no_args_is_help=True,
    epilog=(
        "FILE: given: [{product: {name: Linen shirt}}, "
        "{photoshoot: {products: [Linen shirt]}}]"
    ),
)
@click.argument("file", type=FILE)
@click.option(
    "--team",
    metavar="TEAM",
    help="whose it will be, by name or id (default: the first Team)",
)
@form("table", "json")
@of_sandbox
def command(
    control: ControlClient,
    file: str,
    team: str | None,
    form: str,
) -> None:
    """Make what a file lists, as YAML or JSON; - is standard input."""
    answer = control.exchange(
        "POST",
        "given",
        _content(file),
        YAML,
        query={"file": file, "team": team},
        seconds=STATE_SECONDS,
    )
    made = json.loads(answer)
    show(form, made, _COLUMNS, cells(made["data"], _COLUMNS))


def _content(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    return read_file(file)
