"""`teams`: the Teams of a running emulator, listed and changed."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from emulator.cli.arguments import number_or_text
from emulator.cli.output import add_format, show
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.settings import SettingError
from emulator.testing.control import path_step

_COLUMNS = ("name", "id", "credits", "reserved", "subscription", "concurrency_limit", "requests_per_minute")


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb, a Team and what to change."""
    listing, change = add_emulator_verbs(parser, list="list Teams (the default)", set="change a Team from now on")
    change.add_argument("team", metavar="TEAM", help="by name or id")
    changes = "credits=5, subscription=inactive, concurrency_limit=1 or requests_per_minute=30"
    change.add_argument("changes", metavar="NAME=VALUE", nargs="+", help=changes)
    for verb in (listing, change):
        add_format(verb, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError and EmulatorError."""
    control = control_client(options, environment)
    if options.action == "set":
        answer = control.call("PATCH", f"teams/{path_step(options.team)}", dict(map(_change, options.changes)))
        teams = [answer]
    else:
        answer = control.call("GET", "teams")
        teams = answer["data"]
    headers = [name.replace("_", " ").upper() for name in _COLUMNS]
    show(options, environment, answer, headers, ([team.get(name) for name in _COLUMNS] for team in teams))
    return 0


def _change(text: str) -> tuple[str, Any]:
    """Read `credits=5`; the emulator checks name and value. Raises SettingError."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise SettingError("teams set", text, "NAME=VALUE, such as credits=5")
    return name, number_or_text(value)
