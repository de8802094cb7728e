"""`teams`: the Teams of a sandbox."""

import json
import re
from typing import Any, Final

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.client.control_client import ControlClient, path_step
from image_workflow_emulator.console.options import form
from image_workflow_emulator.console.tables import cells, show
from image_workflow_emulator.console.values import Value
from image_workflow_emulator.settings import Kind

_COLUMNS: Final = (
    "name",
    "credits",
    "reserved",
    "subscription",
    "concurrency_limit",
    "requests_per_minute",
    "id",
)
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,9})?")


def _parse_change(text: str) -> tuple[str, Any]:
    """Read `credits=5`. The emulator says what is wrong with a name or a value."""
    name, sign, value = text.partition("=")
    if not name or not sign:
        raise ValueError(text)
    if _NUMBER.fullmatch(value):
        return name, json.loads(value)
    return name, value


_CHANGE: Final = Kind("NAME=VALUE", _parse_change, "NAME=VALUE, such as credits=5")


@click.group("teams", cls=Noun, default="list")
def command() -> None:
    """List or change Teams."""


@command.command("list")
@form("table", "json")
@of_sandbox
def list_teams(control: ControlClient, form: str) -> None:
    """List Teams (the default)."""
    teams = control.call("GET", "teams")
    show(form, teams, _COLUMNS, cells(teams["data"], _COLUMNS))


@command.command("set")
@click.argument("team")
@click.argument(
    "changes",
    metavar="NAME=VALUE ...",
    type=Value(_CHANGE),
    nargs=-1,
    required=True,
)
@form("table", "json")
@of_sandbox
def change_team(
    control: ControlClient,
    team: str,
    changes: tuple[tuple[str, Any], ...],
    form: str,
) -> None:
    """Change a Team from now on, by its name or id.

    NAME=VALUE: credits=5, subscription=inactive, concurrency_limit=1 or
    requests_per_minute=30.
    """
    changed = control.call("PATCH", f"teams/{path_step(team)}", dict(changes))
    show(form, changed, _COLUMNS, cells([changed], _COLUMNS))
