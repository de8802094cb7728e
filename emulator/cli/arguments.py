"""What can be typed: commands, their options and their help. Knows no command's work, only its name and arguments.

The text of an option is checked where its meaning is known (emulator.settings, emulator.cli.remote), so that a complaint is
the same whether the text came from the command line or from the environment.
"""

import argparse
import sys
from collections.abc import Mapping

from emulator import __version__
from emulator.settings import DEFAULT_URL, OPTIONS

PROGRAM = "image-workflow-emulator"
_EXEC_ENVIRONMENT = """\
The command finds IMAGE_WORKFLOW_BASE_URL, IMAGE_WORKFLOW_API_KEY and EMULATOR_URL in its environment. When it has ended,
a report about the run is printed to standard error. Each option of the emulator can be given as an environment variable
too: --rate-limits is EMULATOR_RATE_LIMITS."""
_ENVIRONMENT = "Each option can be given as an environment variable too: --rate-limits is EMULATOR_RATE_LIMITS."


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the arguments of a command line (None: those of this process); `command` of the result names the command.

    Exits with status 2 after a message when they cannot be read, with 0 after `--help` and `--version`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] != ["exec"]:
        return _parser().parse_args(given)
    end = given.index("--") if "--" in given else len(given)
    options, unknown = _parser().parse_known_args(given[:end])
    options.words = given[end + 1 :]
    if unknown:
        options.refuse(f"unrecognized arguments: {' '.join(unknown)} (the command comes after --)")
    if not options.words:
        options.refuse("expected -- and a command after the options")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="A local emulator of the Image Workflow Service API v1.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_serve(commands)
    _add_exec(commands)
    _add_wait(commands)
    _add_scenarios(commands)
    _add_contract(commands)
    _add_clock(commands)
    _add_reset(commands)
    _add_state(commands)
    return parser


_Commands = argparse._SubParsersAction  # noqa: SLF001 (the type has no public name)


def _add(
    commands: "_Commands[argparse.ArgumentParser]", name: str, summary: str, epilog: str = ""
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_serve(commands: "_Commands[argparse.ArgumentParser]") -> None:
    add_settings(_add(commands, "serve", "run the emulator until interrupted", _ENVIRONMENT))


def _add_exec(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = _add(
        commands, "exec", "run a command with an emulator of its own, and exit with its status", _EXEC_ENVIRONMENT
    )
    parser.usage = f"{PROGRAM} exec [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.set_defaults(refuse=parser.error)
    parser.add_argument("--report", metavar="FILE", help="write the report about the run as JSON too")
    parser.add_argument("--quiet", action="store_true", help="do not print the report")
    add_settings(parser, {"port": "a free one"})


def add_settings(parser: argparse.ArgumentParser, defaults: Mapping[str, str] | None = None) -> None:
    """Give a command the options of a running emulator, each as text under the name of its field in Settings.

    `defaults` words those that this command has instead of the usual ones.
    """
    for option in OPTIONS:
        default = (defaults or {}).get(option.field, option.default)
        help_text = f"{option.description} (default: {default})"
        parser.add_argument(option.flag, dest=option.field, metavar=option.placeholder, help=help_text)


def _add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", metavar="URL", help=f"a running emulator (default: EMULATOR_URL, else {DEFAULT_URL})")
    parser.add_argument("--sandbox", metavar="ID", help="which of its sandboxes (default: default)")
    parser.add_argument("--control-token", metavar="TOKEN", help="its control token (default: EMULATOR_CONTROL_TOKEN)")


def _add_wait(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = _add(commands, "wait", "wait until an emulator is ready")
    parser.add_argument("--timeout", metavar="SECONDS", default="30", help="give up after this long (default: 30)")
    _add_connection(parser)


def _add_scenarios(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = _add(commands, "scenarios", "look at the library of scenarios, or check files")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add(actions, "list", "name every scenario of the library")
    _add(actions, "show", "print a scenario of the library").add_argument("name", metavar="NAME")
    check = _add(actions, "check", "check scenario files")
    check.add_argument("files", metavar="FILE", nargs="+")
    check.add_argument(
        "--world",
        metavar="FILE",
        help="the world whose Teams and keys they name (default: EMULATOR_WORLD, else built in)",
    )


def _add_contract(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = _add(commands, "contract", "print the machine-readable contract (OpenAPI 3.1)")
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml", help="(default: yaml)")


def _add_clock(commands: "_Commands[argparse.ArgumentParser]") -> None:
    actions = """\
actions:
  show             print the time (what is done without an action)
  advance SPAN     move forward by a span such as 90s, 250ms, 2m or 1h
  to TIMESTAMP     move forward to an instant such as 2026-01-01T00:01:00.000Z
  next             move forward to the next event
  idle             move forward until no work is unfinished"""
    parser = _add(commands, "clock", "look at the clock of a running emulator, or move it forward", actions)
    parser.add_argument("action", nargs="?", default="show", metavar="ACTION", choices=("show", *CLOCK_MOVES))
    parser.add_argument("value", nargs="?", metavar="VALUE")
    _add_connection(parser)


CLOCK_MOVES = ("advance", "to", "next", "idle")


def _add_reset(commands: "_Commands[argparse.ArgumentParser]") -> None:
    _add_connection(_add(commands, "reset", "take a running emulator back to its start"))


def _add_state(commands: "_Commands[argparse.ArgumentParser]") -> None:
    parser = _add(commands, "state", "save a sandbox of a running emulator to a file, or load one from it")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in (("save", "write all of a sandbox to a file"), ("load", "make a sandbox what a file says")):
        action = _add(actions, name, summary)
        action.add_argument("file", metavar="FILE")
        _add_connection(action)
