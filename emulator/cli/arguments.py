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
from typing import Any, NamedTuple, NoReturn

from emulator import __version__

PROGRAM = "image-workflow-emulator"


class Command(NamedTuple):
    """A row of the table: what a command does, and its default verb.

    `adds` gives a parser its arguments, and says by the default of `run` what runs it: `MODULE.FUNCTION` in
    `emulator.cli.commands`.
    """

    adds: str
    summary: str
    verb: str | None = None

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Give a parser what this command takes."""
        module, _, function = self.adds.partition(".")
        getattr(import_module(f"emulator.cli.commands.{module}"), function)(parser)


COMMANDS: Mapping[str, Command] = {
    "serve": Command("local.serve", "run the emulator until interrupted"),
    "exec": Command("local.execute", "run a command with an emulator of its own, and exit with its status"),
    "sweep": Command("local.sweep", "repeat a command with each fault at each of its calls, and show what it survives"),
    "wait": Command("remote.wait", "wait until an emulator is ready"),
    "requests": Command("requests.requests", "list, follow, explain or clear recorded requests", "list"),
    "scenario": Command("remote.scenario", "show, change or end the running scenario", "show"),
    "scenarios": Command("offline.scenarios", "list or show the scenarios of the library, or check files"),
    "clock": Command(
        "remote.clock", "show the clock of a running emulator, move it forward, or change its mode", "show"
    ),
    "teams": Command("remote.teams", "list or change Teams", "list"),
    "credentials": Command("remote.credentials", "list, revoke or restore credentials", "list"),
    "sandboxes": Command("remote.sandboxes", "list, create or delete sandboxes", "list"),
    "reset": Command("remote.reset", "reset a running emulator"),
    "seed": Command("remote.seed", "make the Products, ingredients and photoshoots of a file in a running emulator"),
    "state": Command("remote.state", "save a sandbox of a running emulator to a file, or load one from it"),
    "coverage": Command("offline.coverage", "merge and show how much of the contract runs have covered"),
    "readings": Command("offline.readings", "list the readings of the specification, where it is silent"),
    "drift": Command("recordings.drift", "judge recorded traffic of the real service: which readings it has"),
    "conduct": Command("recordings.conduct", "judge recorded traffic of the real service: what its client does wrong"),
    "operations": Command("offline.operations", "list the operations of the API with their prices and problem codes"),
    "contract": Command("offline.contract", "print the machine-readable contract (OpenAPI 3.1)"),
    "schema": Command("offline.schema", "print the JSON Schema of a kind of file, for editors"),
}

_WITH_COMMAND = ("exec", "sweep", "drift")
"""The commands that run another command, which comes after `--`."""
_COMMAND_OPTIONAL = ("drift",)
_WITHOUT_VALUE = ("--follow",)


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

    def __init__(self, **named: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **named)

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
    about = "A local, deterministic emulator of the Image Workflow Service API v1."
    parser = _Parser(prog=PROGRAM, description=about)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        added = _add(commands, name, command.summary)
        if typed in (None, name):
            command.add_to(added)
    return parser


_Parsers = argparse._SubParsersAction  # noqa: SLF001 (the type has no public name)


def _add(parsers: "_Parsers[Any]", name: str, summary: str) -> argparse.ArgumentParser:
    description = summary[0].upper() + summary[1:] + "."
    parser: argparse.ArgumentParser = parsers.add_parser(name, help=summary, description=description)
    parser.set_defaults(parser=parser)
    return parser


def add_parsers(parser: argparse.ArgumentParser, summaries: Mapping[str, str]) -> list[argparse.ArgumentParser]:
    """Give a command its verbs; return a parser for each."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    return [_add(verbs, name, summary) for name, summary in summaries.items()]


def add_arguments(parser: argparse.ArgumentParser, arguments: Mapping[str, str], default: str | None = None) -> None:
    """Give a command arguments as they are typed, each with its help.

    `--report FILE` takes a value, `--ignore RULE ...` can be repeated, and `--quiet` is a switch. `key KEY` is the argument
    `key`; of `files FILE ...` there are one or more, and `id ID ?` can be left out.
    """
    for spelling, help_text in arguments.items():
        name, *form = spelling.split()
        match form:
            case []:
                parser.add_argument(name, action="store_true", help=help_text)
            case [placeholder]:
                parser.add_argument(name, metavar=placeholder, default=default, help=help_text)
            case [placeholder, "..."] if name.startswith("--"):
                parser.add_argument(name, metavar=placeholder, action="append", default=[], help=help_text)
            case [placeholder, number]:
                nargs = "+" if number == "..." else number
                parser.add_argument(name, metavar=placeholder, nargs=nargs, help=help_text)
