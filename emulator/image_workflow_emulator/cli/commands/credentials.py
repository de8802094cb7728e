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
    credentials = list[dict[str, Any]]()
    for team in teams["data"]:
        owner = {"team": team["name"]}
        for credential in team["credentials"]:
            credentials.append(owner | credential)
    rows = cells(credentials, _COLUMNS)
    show(form, teams, _COLUMNS, rows)


@command.command("revoke")
@click.argument("key")
@form("table", "json")
@of_sandbox
def revoke(
    control: ControlClient,
    key: str,
    form: str,
) -> None:
    """Revoke a credential, by its key in the sandbox or in the world."""
    credential = _with_state(control, key, "revoked")
    _show(form, credential)


@command.command("restore")
@click.argument("key")
@form("table", "json")
@of_sandbox
def restore(
    control: ControlClient,
    key: str,
    form: str,
) -> None:
    """Make a revoked credential active again."""
    credential = _with_state(control, key, "active")
    _show(form, credential)


def _with_state(
    control: ControlClient,
    key: str,
    state: str,
) -> dict[str, Any]:
    """Change the state of a credential, and return the credential."""
    credential = control.credential(key)
    step = path_step(credential["id"])
    path = f"credentials/{step}"
    return control.call("PATCH", path, {"state": state})


def _show(form: str, credential: dict[str, Any]) -> None:
    rows = cells([credential], _COLUMNS)
    show(form, credential, _COLUMNS, rows)
