"""`sandboxes`: the sandboxes of a running emulator, listed, created and deleted."""

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from emulator.cli.arguments import number_or_text
from emulator.cli.errors import naming_scenario
from emulator.cli.output import add_format, show
from emulator.cli.running_emulator import add_emulator_verbs, control_client
from emulator.settings import OPTIONS
from emulator.testing.control import path_step
from emulator.testing.emulator import create_sandbox
from emulator.testing.sandbox import mode_of

_HEADERS = ("ID", "BASE URL", "CLOCK", "NOW", "KEYS")
_OPTIONS = ("clock", "seed", "start", "world", "scenario", "rate_limits", "evolution", "readings")
"""The options of `serve` that a sandbox has for itself."""


def add_arguments(parser: ArgumentParser) -> None:
    """Take a verb and what a sandbox begins with."""
    listing, create, delete = add_emulator_verbs(
        parser,
        with_sandbox=False,
        list="list sandboxes (the default)",
        create="create a sandbox; options that are not given are those of the server",
        delete="delete a sandbox with all that it holds",
    )
    create.add_argument("id", metavar="ID", nargs="?", help="1 to 40 of a-z, 0-9 and hyphens (default: a free one)")
    for option in OPTIONS:
        if option.field in _OPTIONS:
            create.add_argument(option.flag, metavar=option.placeholder, help=option.description)
    listing.add_argument("--sandbox", metavar="ID", help="show this one alone")
    add_format(listing, "table", "json")
    add_format(create, "table", "json", "env")
    delete.add_argument("id", metavar="ID")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Run the command and return its exit status. Raises UsageError, CommandError and EmulatorError."""
    control = control_client(options, environment).of(None)
    match options.action:
        case "delete":
            control.call("DELETE", f"sandboxes/{path_step(options.id)}")
            print(f"deleted {options.id}")
        case "create":
            with naming_scenario(options.scenario):
                made = create_sandbox(control, {"id": options.id, **_begin(options)})
            if options.format == "env":
                for name, value in made["env"].items():
                    print(f"{name}={shlex.quote(value)}")
            else:
                show(options, environment, made, _HEADERS, [_cells(made)])
        case _:
            found = control.call("GET", f"sandboxes/{path_step(options.sandbox)}" if options.sandbox else "sandboxes")
            show(options, environment, found, _HEADERS, map(_cells, found.get("data", [found])))
    return 0


def _begin(options: Namespace) -> dict[str, Any]:
    given = {name: vars(options)[name] for name in _OPTIONS}
    return given | {"seed": None if options.seed is None else number_or_text(options.seed)}


def _cells(sandbox: Mapping[str, Any]) -> Sequence[Any]:
    clock = sandbox["clock"]
    keys = [credential["key"] for team in sandbox["teams"] for credential in team["credentials"]]
    shown = ", ".join([*keys[:1], *([f"and {len(keys) - 1} more"] if len(keys) > 1 else [])])
    return sandbox["id"], sandbox["base_url"], mode_of(clock), clock["now"], shown or None
