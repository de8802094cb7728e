"""`credentials`: the keys of a sandbox."""

from typing import Any, Final

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.groups import Noun
from image_workflow_emulator.client.control_client import ControlClient, path_step
from image_workflow_emulator.console.options import form
from image_workflow_emulator.console.tables import cells, show

_COLUMNS: Final = ("team", "key", "profile", "state", "expires_at")


@click.group("credentials", cls=Noun, default="list")
def command() -> None:
    """List, revoke or restore credentials."""


@command.command("list")
@form("table", "json")
@of_sandbox
def list_credentials(control: ControlClient, form: str) -> None:
    """List the credentials of all Teams (the default)."""
    teams = control.call("GET", "teams")
    rows = list[dict[str, Any]]()
    for team in teams["data"]:
        whose = {"team": team["name"]}
        rows += [whose | credential for credential in team["credentials"]]
    show(form, teams, _COLUMNS, cells(rows, _COLUMNS))


@command.command("revoke")
@click.argument("key")
@form("table", "json")
@of_sandbox
def revoke(control: ControlClient, key: str, form: str) -> None:
    """Revoke a credential, by its key in the sandbox or in the world."""
    _show(form, _with_state(control, key, "revoked"))


@command.command("restore")
@click.argument("key")
@form("table", "json")
@of_sandbox
def restore(control: ControlClient, key: str, form: str) -> None:
    """Make a revoked credential active again."""
    _show(form, _with_state(control, key, "active"))


def _with_state(control: ControlClient, key: str, state: str) -> dict[str, Any]:
    """Change the state of a credential, and return the credential."""
    identifier = control.credential(key)["id"]
    path = f"credentials/{path_step(identifier)}"
    return control.call("PATCH", path, {"state": state})


def _show(form: str, credential: dict[str, Any]) -> None:
    show(form, credential, _COLUMNS, cells([credential], _COLUMNS))
