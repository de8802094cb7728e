"""`sandboxes`: the sandboxes of a running emulator."""

import shlex
from typing import Any, Final

import click

from image_workflow_emulator.cli.addresses import of_emulator
from image_workflow_emulator.cli.commands.scenario import calling_missing
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.client.control_client import (
    ControlClient,
    mode_of,
    path_step,
)
from image_workflow_emulator.console.options import Function, form
from image_workflow_emulator.console.tables import cells, show
from image_workflow_emulator.console.values import Text, Value
from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.settings import OPTIONS

_COLUMNS: Final = ("id", "base_url", "clock", "now", "keys")
_READ_HERE: Final = ("seed", "rate_limits", "evolution")
"""The options whose values JSON has too. The emulator reads the texts of the others."""
_OF_SANDBOX: Final = (
    *("clock", "start", "world", "scenario", "readings"),
    *_READ_HERE,
)
"""The options of `serve` that a sandbox has for itself."""


def _own_options(function: Function) -> Function:
    """Add the options that a sandbox has for itself."""
    for option in reversed(OPTIONS):
        if option.field in _OF_SANDBOX:
            value_type: Value = Text(option.kind)
            if option.field in _READ_HERE:
                value_type = Value(option.kind)
            function = click.option(
                option.flag,
                option.field,
                metavar=option.kind.placeholder,
                type=value_type,
                help=f"{option.description} (default: the server's)",
            )(function)
    return function


@click.group("sandboxes", cls=Noun, default="list")
def command() -> None:
    """List, create or delete sandboxes."""


@command.command("list")
@form("table", "json")
@of_emulator
def list_sandboxes(control: ControlClient, form: str) -> None:
    """List sandboxes (the default)."""
    answer = control.call("GET", "sandboxes")
    show(form, answer, _COLUMNS, cells(map(_row, answer["data"]), _COLUMNS))


@command.command("create")
@click.argument("identifier", metavar="[ID]", required=False)
@form("table", "json", "env")
@_own_options
@click.option(
    "--no-scenario",
    "wants_none",
    is_flag=True,
    help="begin without a scenario",
)
@of_emulator
def create(
    control: ControlClient,
    identifier: str | None,
    form: str,
    wants_none: bool,
    **options: Any,
) -> None:
    """Create a sandbox.

    ID: 1 to 40 of a-z, 0-9 and hyphens (default: a free one).
    """
    typed = {name: value for name, value in options.items() if value is not None}
    if wants_none:
        if "scenario" in typed:
            raise click.UsageError("expected --scenario or --no-scenario, not both")
        typed["scenario"] = None
    with calling_missing(options["scenario"]):
        sandbox = control.create_sandbox({"id": identifier, **typed})
    if form != "env":
        show(form, sandbox, _COLUMNS, cells([_row(sandbox)], _COLUMNS))
        return
    for name, value in sandbox["env"].items():
        click.echo(f"{name}={shlex.quote(value)}")


@command.command("delete")
@click.argument("identifier", metavar="ID")
@of_emulator
def delete(control: ControlClient, identifier: str) -> None:
    """Delete a sandbox with all that it holds."""
    control.call("DELETE", f"sandboxes/{path_step(identifier)}")
    click.echo("done")


def _row(sandbox: dict[str, Any]) -> dict[str, Any]:
    clock = sandbox["clock"]
    keys = []
    for team in sandbox["teams"]:
        keys += [credential["key"] for credential in team["credentials"]]
    return {
        **sandbox,
        "clock": mode_of(clock),
        "now": clock["now"],
        "keys": first_of(keys, 1),
    }
