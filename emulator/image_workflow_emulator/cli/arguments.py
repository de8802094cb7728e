"""The command line: how arguments become the options of one command; the table of commands is `table`'s.

The text of an option is checked where its meaning is known (settings, the commands, the emulator itself), so that a
complaint is the same whether the text came from the command line or from the environment. Only the parser of the
command that is typed is built: the help of any command takes 50 ms.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from image_workflow_emulator import DEFAULT_URL, __version__
from image_workflow_emulator.cli.table import COMMANDS, GROUPS, OF_FILES, REPORT, RETIRED, WITH_COMMAND, Arguments

PROGRAM = "image-workflow-emulator"
DESCRIPTION = "A local, deterministic emulator of the Image Workflow Service API v1."

_MAX_WIDTH = 80
"""Limit of the lines of a help."""
_WITHOUT_VALUE = ("--follow",)
"""The options without a value that may stand before a verb."""
_URL = f"a running emulator (default: EMULATOR_URL, else EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})"
_SANDBOX = {"--sandbox ID": "which of its sandboxes (default: EMULATOR_SANDBOX, else default)"}
_TOKEN = {"--control-token TOKEN": "its control token (default: EMULATOR_CONTROL_TOKEN)"}
_ADDRESSED: Mapping[str, Arguments] = {
    "emulator": {"--url URL": _URL, **_TOKEN},
    "sandbox": {"--url URL": _URL, **_SANDBOX, **_TOKEN},
    "nothing": {},
}


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the arguments of a command line (None: those of this process).

    Of the result, `command` names the command with its verb, `run` its function, and `words` are those after `--`.

    Raises ArgumentsError after a message when they cannot be read, and SystemExit after a help or the version.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    end = given.index("--") if "--" in given and given[0] in WITH_COMMAND else len(given)
    name, rest = command_of(given[:end])
    parser = build_parser(name)
    _refuse_retired(parser, given[:end])
    if given in ([], [name]) and parser.needs_more:
        parser.print_help()
        raise SystemExit(0)
    if (expected := _words_after(name)) and rest and not rest[0].startswith("-"):
        parser.error(f"argument {'VERB' if name else 'COMMAND'}: {_misspelled(rest[0], expected)}")
    options, unknown = parser.parse_known_intermixed_args(rest)
    if unknown:
        parser.refuse(unknown)
    options.command, options.words = name, given[end + 1 :]
    if name in OF_FILES and options.files:
        options.run = OF_FILES[name]
    if name in WITH_COMMAND and not options.words and not getattr(options, "merge", None):
        parser.error("expected -- and a command after the options")
    return options


def command_of(given: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the command that is typed, with its verb or the default verb, and the other words.

    The verb is the first word that is no option. Where there is no such command, the name is empty, or that of its
    noun.
    """
    noun, *words = given or [""]
    verbs = _words_after(noun)
    if noun not in COMMANDS or not verbs:
        return (noun, words) if noun in COMMANDS else ("", given)
    position = 0
    while position < len(words):
        word = words[position]
        if word in verbs:
            return f"{noun} {word}", [*words[:position], *words[position + 1 :]]
        if word in ("-h", "--help") or not word.startswith("-"):
            return noun, [word]
        position += 1 if word in _WITHOUT_VALUE or "=" in word else 2
    default = COMMANDS[noun].verb
    return (f"{noun} {default}" if default else noun), words


def _words_after(name: str) -> list[str]:
    """Return the words that may follow: the commands after nothing, the verbs after a noun."""
    if not name:
        return [command for names in GROUPS.values() for command in names if command in COMMANDS]
    return [command.removeprefix(f"{name} ") for command in COMMANDS if command.startswith(f"{name} ")]


def _refuse_retired(parser: "_Parser", given: Sequence[str]) -> None:
    """Say what replaces a word or an option that is gone. Raises ArgumentsError."""
    words = {word.partition("=")[0] for word in given}
    for retired, instead in RETIRED.items():
        command, *others = retired.split()
        if command in given[:1] and words.issuperset(others):
            parser.error(instead)


class ArgumentsError(SystemExit):
    """Arguments that cannot be read; the complaint is printed."""

    def __init__(self, complaint: str) -> None:
        super().__init__(2)
        self.complaint = complaint


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints can be JSON too, and that suggests a word for one that is misspelled."""

    needs_more = True
    """Whether the command that it reads cannot run without further words."""

    def __init__(self, **named: Any) -> None:
        super().__init__(allow_abbrev=False, **named)
        self._negative_number_matcher = re.compile("-[0-9]")  # also -5s is a value, and no option

    def error(self, message: str) -> NoReturn:
        """Print a complaint. Raises ArgumentsError."""
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise ArgumentsError(message)

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Complain of words that the parser does not know, with the option that was probably meant. Raises
        ArgumentsError.
        """
        from image_workflow_emulator.documents.complaints import did_you_mean, nearest

        hint = " (the command comes after --)" if self.prog.endswith(WITH_COMMAND) else ""
        meant = did_you_mean(nearest(unknown[0].partition("=")[0], self._option_string_actions))
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}{meant}")

    def _check_value(self, action: argparse.Action, value: str) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, _misspelled(value, list(action.choices)))


def _misspelled(word: str, words: Collection[str]) -> str:
    from image_workflow_emulator.documents.complaints import choice_of, clause, nearest

    return clause(f'"{word}"', choice_of(words), nearest(word, words))


def build_parser(name: str) -> _Parser:
    """Build the parser of a command; that of a noun, and of the program for an empty name, only lists what
    may follow.
    """
    command, words, prog = COMMANDS.get(name), _words_after(name), f"{PROGRAM} {name}".rstrip()
    usage = f"{prog} VERB ..." if words else None
    if name in WITH_COMMAND:
        usage = f"{prog} [OPTIONS] -- COMMAND [ARGUMENT ...]"
    summary = command.summary[0].upper() + command.summary[1:] + "." if command else DESCRIPTION
    parser = _Parser(
        prog=prog,
        usage=usage if command else f"{prog} [--help] [--version] COMMAND ...",
        description=summary,
        epilog="\n".join(_listing(name)) if words else command and command.epilog,
        formatter_class=partial(
            argparse.RawDescriptionHelpFormatter if words else argparse.HelpFormatter,
            width=min(shutil.get_terminal_size().columns, _MAX_WIDTH),
        ),
    )
    if command is None:
        parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    if command is None or words:
        return parser
    noun = COMMANDS[name.partition(" ")[0]]
    asks, home = command.asks or noun.asks, command.home or noun.home
    reports = REPORT if command.reports else {}
    actions = [*_add_arguments(parser, {**command.arguments, **reports, **_ADDRESSED[asks or "nothing"]})]
    if command.settings is not None:
        _add_settings(parser, command.settings, all_of_them=not asks)
    is_module = home.count(".") == 1
    parser.set_defaults(run=f"{home}.{name.replace(' ', '_')}" if is_module else home)
    parser.needs_more = name in WITH_COMMAND or any(action.required for action in actions)
    return parser


def _listing(name: str) -> list[str]:
    """List what may follow a word, in the groups of the commands."""
    words = _words_after(name)
    groups = (
        {"Verbs": words} if name else {group: [one for one in names if one in words] for group, names in GROUPS.items()}
    )
    lines = []
    for group, members in groups.items():
        lines += [f"{group}:", *(f"  {one:13}{COMMANDS[f'{name} {one}'.lstrip()].summary}" for one in members), ""]
    return [*lines, f"`{PROGRAM} help {name or 'COMMAND'}{' VERB' if name else ''}` explains one of them."]


def _add_arguments(parser: argparse.ArgumentParser, arguments: Arguments) -> Iterator[argparse.Action]:
    """Give a parser arguments as the table has them."""
    for spelling, words in arguments.items():
        spelled, _, usual = spelling.partition(" =")
        name, placeholder, number = (*spelled.split(), "", "")[:3]
        more: dict[str, Any] = {"metavar": placeholder} if placeholder else {"action": "store_true"}
        more |= {"help": words} if isinstance(words, str) else words
        if usual:
            more |= {"default": usual, "help": f"{words} (default: {usual})"}
        if placeholder == "PERCENT":
            more["type"] = float
        if placeholder.islower() and "nargs" not in more:
            more["choices"] = placeholder.split("|")
        if number == "..." and name.startswith("--"):
            more |= {"action": "append", "default": []}
        elif number:
            more |= {"nargs": "+" if number == "..." else number, "default": [] if number == "*" else None}
        yield parser.add_argument(name, **more)


def _add_settings(parser: argparse.ArgumentParser, defaults: Mapping[str, str], *, all_of_them: bool) -> None:
    """Give a command options of a running emulator, each as text under the name of its field in Settings."""
    from image_workflow_emulator.settings import OPTIONS

    for option in OPTIONS:
        if all_of_them or option.field in defaults:
            help_text = f"{option.description} (default: {defaults.get(option.field, option.default)})"
            action = "append" if option.is_repeated else "store"
            parser.add_argument(
                option.flag, dest=option.field, metavar=option.kind.placeholder, help=help_text, action=action
            )
