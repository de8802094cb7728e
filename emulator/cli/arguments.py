"""The command line: the table of commands, and how arguments become the options of one of them.

The text of an option is checked where its meaning is known (emulator.settings, the commands, the emulator itself), so that a
complaint is the same whether the text came from the command line or from the environment. That is imported when it is needed:
`--help` and `--version` take 30 ms.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from emulator import __version__

PROGRAM = "image-workflow-emulator"
ENVIRONMENT = "Each option can be given as an environment variable too: --rate-limits is EMULATOR_RATE_LIMITS."


class Command(NamedTuple):
    """A row of the table: what a command does, and its default verb."""

    summary: str
    verb: str | None = None


COMMANDS: Mapping[str, Command] = {
    "serve": Command("run the emulator until interrupted"),
    "exec": Command("run a command with an emulator of its own, and exit with its status"),
    "sweep": Command("repeat a command with each fault at each of its calls, and show what it survives"),
    "wait": Command("wait until an emulator is ready"),
    "requests": Command("list, follow, explain or clear recorded requests", "list"),
    "scenario": Command("show, change or end the running scenario", "show"),
    "scenarios": Command("list or show the scenarios of the library, or check files"),
    "clock": Command("show the clock of a running emulator, move it forward, or change its mode", "show"),
    "teams": Command("list or change Teams", "list"),
    "credentials": Command("list, revoke or restore credentials", "list"),
    "sandboxes": Command("list, create or delete sandboxes", "list"),
    "reset": Command("reset a running emulator"),
    "seed": Command("make the Products, ingredients and photoshoots of a file in a running emulator"),
    "state": Command("save a sandbox of a running emulator to a file, or load one from it"),
    "coverage": Command("merge and show how much of the contract runs have covered"),
    "readings": Command("list the readings of the specification, where it is silent"),
    "drift": Command("judge recorded traffic of the real service: which readings it has"),
    "conduct": Command("judge recorded traffic of the real service: what its client does wrong"),
    "operations": Command("list the operations of the API with their prices and problem codes"),
    "contract": Command("print the machine-readable contract (OpenAPI 3.1)"),
    "schema": Command("print the JSON Schema of a kind of file, for editors"),
}
"""Every command: its module is `emulator.cli.commands.NAME`, with `add_arguments` and `run`."""

_WITH_COMMAND = ("exec", "sweep", "drift")
"""The commands that run another command, which comes after `--`."""
_COMMAND_OPTIONAL = ("drift",)
_WITHOUT_VALUE = ("--follow",)


def module_of(command: str) -> ModuleType:
    """Return the module of a command."""
    return import_module(f"emulator.cli.commands.{command}")


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the arguments of a command line (None: those of this process).

    Of the result, `command` names the command, and `parser` is its own or that of its verb.

    Exits with status 2 after a message when they cannot be read, with 0 after `--help` and `--version`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    typed = next(iter(given), "")
    parser = build_parser(typed)
    has_command = typed in _WITH_COMMAND
    end = given.index("--") if has_command and "--" in given else len(given)
    options, unknown = parser.parse_known_args(with_verb(given[:end]))
    options.words = given[end + 1 :]
    if unknown:
        hint = " (the command comes after --)" if has_command else ""
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    if has_command and not options.words and typed not in _COMMAND_OPTIONAL:
        options.parser.error("expected -- and a command after the options")
    return options


def number_or_text(text: str) -> int | str:
    """Return a whole number as one, and anything else as it is: the emulator says what is wrong with it."""
    return int(text) if re.fullmatch("-?[0-9]{1,19}", text) else text


def with_verb(given: Sequence[str]) -> list[str]:
    """Return the arguments with the default verb where none is typed; a verb is the first word that is no option."""
    command = COMMANDS.get(next(iter(given), ""))
    if command is None or command.verb is None:
        return list(given)
    rest = iter(given[1:])
    for word in rest:
        if word in ("-h", "--help") or not word.startswith("-"):
            return list(given)
        if word not in _WITHOUT_VALUE and "=" not in word:
            next(rest, None)
    return [given[0], command.verb, *given[1:]]


class ArgumentsError(SystemExit):
    """Arguments that cannot be read; the complaint is printed."""

    def __init__(self, complaint: str) -> None:
        super().__init__(2)
        self.complaint = complaint


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints can be JSON too, and that suggests a word for one that is misspelled."""

    def error(self, message: str) -> NoReturn:
        """Print a complaint. Raises ArgumentsError."""
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise ArgumentsError(message)

    def _check_value(self, action: argparse.Action, value: str) -> None:
        if action.choices is not None and value not in action.choices:
            from emulator.documents.complaints import clause, nearest, one_of

            words = list(action.choices)
            raise argparse.ArgumentError(action, clause(f'"{value}"', one_of(words), nearest(value, words)))


def build_parser(typed: str | None = None) -> argparse.ArgumentParser:
    """Build the parser with the arguments of one command, or of all for None: only what is typed has to be imported."""
    parser = _Parser(
        prog=PROGRAM,
        description="A local, deterministic emulator of the Image Workflow Service API v1.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        added = _add(commands, name, command.summary)
        if typed in (None, name):
            module_of(name).add_arguments(added)
    return parser


_Parsers = argparse._SubParsersAction  # noqa: SLF001 (the type has no public name)


def _add(parsers: "_Parsers[Any]", name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = parsers.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(parser=parser)
    return parser


def add_verbs(parser: argparse.ArgumentParser, **summaries: str) -> list[argparse.ArgumentParser]:
    """Give a command its verbs, as `action` of the result; return a parser for each."""
    verbs = parser.add_subparsers(dest="action", metavar="VERB", required=True)
    return [_add(verbs, name, summary) for name, summary in summaries.items()]


def add_options(parser: argparse.ArgumentParser, options: Mapping[str, str], default: str | None = None) -> None:
    """Give a command options, each by its name and its placeholder, with its help.

    `--report FILE` takes a value, `--ignore RULE ...` can be repeated, and `--quiet` is a switch.
    """
    for name, help_text in options.items():
        match name.split():
            case [flag]:
                parser.add_argument(flag, action="store_true", help=help_text)
            case [flag, placeholder]:
                parser.add_argument(flag, metavar=placeholder, default=default, help=help_text)
            case [flag, placeholder, _]:
                parser.add_argument(flag, metavar=placeholder, action="append", default=[], help=help_text)


def add_settings(parser: argparse.ArgumentParser, defaults: Mapping[str, str] | None = None) -> None:
    """Give a command the options of a running emulator, each as text under the name of its field in Settings.

    `defaults` words those that this command has instead of the usual ones.
    """
    from emulator.settings import OPTIONS

    for option in OPTIONS:
        default = (defaults or {}).get(option.field, option.default)
        help_text = f"{option.description} (default: {default})"
        action = "append" if option.repeated else "store"
        parser.add_argument(option.flag, dest=option.field, metavar=option.placeholder, help=help_text, action=action)
