"""The command line: how arguments become the options of one command; the table of commands is `table`'s.

The text of an option is checked where its meaning is known (image_workflow_emulator.settings, the commands, the emulator itself), so that a
complaint is the same whether the text came from the command line or from the environment. That is imported when it is needed:
the help of any command takes 50 ms.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from image_workflow_emulator import DEFAULT_URL, __version__
from image_workflow_emulator.cli.table import (
    COMMANDS,
    GROUPS,
    OF_FILES,
    REPORT,
    RETIRED,
    WITH_COMMAND,
    Arguments,
    Command,
)

PROGRAM = "image-workflow-emulator"

_WITHOUT_VALUE = ("--follow",)
_URL = f"a running emulator (default: EMULATOR_URL, else EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})"
_ADDRESS = {"--url URL": _URL}
_SANDBOX = {"--sandbox ID": "which of its sandboxes (default: EMULATOR_SANDBOX, else default)"}
_TOKEN = {"--control-token TOKEN": "its control token (default: EMULATOR_CONTROL_TOKEN)"}
_ADDRESSED: Mapping[str, Arguments] = {
    "emulator": {**_ADDRESS, **_TOKEN},
    "sandbox": {**_ADDRESS, **_SANDBOX, **_TOKEN},
    "nothing": {},
}


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Read the arguments of a command line (None: those of this process).

    Of the result, `command` names the command, and `parser` is its own or that of its verb.

    Exits with status 2 after a message when they cannot be read, with 0 after the help and `--version`.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    typed = next(iter(given), "")
    parser = build_parser(typed)
    end = given.index("--") if typed in WITH_COMMAND and "--" in given else len(given)
    _refuse_retired(parser, given[:end])
    options, unknown = parser.parse_known_args(with_verb(given[:end]))
    files = getattr(options, "files", None)
    if isinstance(files, list) and not any(word.startswith("-") for word in unknown):
        files += unknown  # argparse takes those before the first option alone
    elif unknown:
        options.parser.refuse(unknown, typed in WITH_COMMAND)
    if "run" not in options:
        options.parser.print_help()
        raise SystemExit(0)
    if files and typed in OF_FILES:
        options.run = OF_FILES[typed]
    options.words = given[end + 1 :]
    if WITH_COMMAND.get(typed) and not options.words and not getattr(options, "merge", None):
        options.parser.error("expected -- and a command after the options")
    return options


def _refuse_retired(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """Say what replaces a word or an option that is gone. Raises ArgumentsError."""
    words = {word.partition("=")[0] for word in given}
    for retired, instead in RETIRED.items():
        command, *others = retired.split()
        if command in given[:1] and words.issuperset(others):
            parser.error(instead)


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
        super().__init__(allow_abbrev=False, **named)
        self._negative_number_matcher = re.compile("-[0-9]")  # also -5s is a value, and no option

    def error(self, message: str) -> NoReturn:
        """Print a complaint. Raises ArgumentsError."""
        self.print_usage(sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise ArgumentsError(message)

    def refuse(self, unknown: Sequence[str], takes_command: bool) -> NoReturn:
        """Complain of words that the parser does not know, with the option that was probably meant. Raises ArgumentsError."""
        from image_workflow_emulator.documents.complaints import did_you_mean, nearest

        meant = next((nearest(word.partition("=")[0], self._option_string_actions) for word in unknown), ())
        hint = " (the command comes after --)" if takes_command else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}{did_you_mean(meant)}")

    def _check_value(self, action: argparse.Action, value: str) -> None:
        if action.choices is not None and value not in action.choices:
            from image_workflow_emulator.documents.complaints import clause, nearest, one_of

            words = list(action.choices)
            raise argparse.ArgumentError(action, clause(f'"{value}"', one_of(words), nearest(value, words)))


def build_parser(typed: str | None = None) -> argparse.ArgumentParser:
    """Build the parser with the arguments of one command, or of all for None: only what is typed has to be imported."""
    parser = _Parser(
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prog=PROGRAM,
        usage=f"{PROGRAM} [--help] [--version] COMMAND ...",
        description="A local, deterministic emulator of the Image Workflow Service API v1.",
        epilog="\n".join(_listed_commands()),
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    parser.set_defaults(parser=parser)
    commands = parser.add_subparsers(prog=PROGRAM, dest="command", metavar="COMMAND", help=argparse.SUPPRESS)
    for name, command in COMMANDS.items():
        if " " not in name:
            added = _add(commands, name, command)
            if typed in (None, name):
                _fill(added, name, command)
    return parser


def _listed_commands() -> Iterator[str]:
    for group, names in GROUPS.items():
        yield f"{group}:"
        yield from (f"  {name:13}{COMMANDS[name].summary}" for name in names if name in COMMANDS)
        yield ""
    yield f"`{PROGRAM} help COMMAND` explains one of them."


_Parsers = argparse._SubParsersAction  # noqa: SLF001 (the type has no public name)


def _add(parsers: "_Parsers[Any]", name: str, command: Command) -> argparse.ArgumentParser:
    about = command.summary[0].upper() + command.summary[1:] + "."
    usage = f"{PROGRAM} {name} [OPTIONS] -- COMMAND [ARGUMENT ...]" if WITH_COMMAND.get(name) else None
    parser: argparse.ArgumentParser = parsers.add_parser(
        name, help=command.summary, description=about, epilog=command.epilog, usage=usage
    )
    parser.set_defaults(parser=parser)
    return parser


def _fill(parser: argparse.ArgumentParser, name: str, command: Command) -> None:
    """Give the parser of a command what it takes, and its verbs."""
    _add_arguments(parser, command.arguments)
    if command.reports:
        _add_arguments(parser, REPORT)
    if command.formats:
        _add_arguments(parser, {f"--format {'|'.join(command.formats)} ={command.formats[0]}": "form of the output"})
    # Without a default, so that a verb does not take away what stands before it.
    _add_arguments(parser, _ADDRESSED[command.asks or "nothing"], default=argparse.SUPPRESS)
    if command.settings is not None:
        _add_settings(parser, command.settings, all_of_them=not command.asks)
    verbs = {key.partition(" ")[2]: verb for key, verb in COMMANDS.items() if key.startswith(f"{name} ")}
    if verbs:
        parsers = parser.add_subparsers(metavar="VERB", dest="verb")
        for word, verb in verbs.items():
            own = verb._replace(asks=verb.asks or command.asks, home=verb.home or command.home)
            _fill(_add(parsers, word, verb), f"{name} {word}", own)
        return
    is_module = command.home.count(".") == 1
    run = f"{command.home}.{name.replace(' ', '_')}" if is_module else command.home
    parser.set_defaults(run=run, reports=command.reports)


def _add_arguments(parser: argparse.ArgumentParser, arguments: Arguments, default: str | None = None) -> None:
    """Give a parser arguments as the table has them."""
    for spelling, words in arguments.items():
        spelled, _, usual = spelling.partition(" =")
        name, *form = spelled.split()
        more: dict[str, Any] = {"help": words} if isinstance(words, str) else dict(words)
        if usual:
            more |= {"default": usual, "help": f"{words} (default: {usual})"}
        if "PERCENT" in form:
            more["type"] = float
        match form:
            case [words_of_choice] if words_of_choice.islower() and "|" in words_of_choice:
                more |= {"metavar": words_of_choice, "choices": words_of_choice.split("|")}
            case [placeholder] if name.startswith("--"):
                more = {"metavar": placeholder, "default": default, **more}
            case [placeholder, "..."] if name.startswith("--"):
                more |= {"metavar": placeholder, "action": "append", "default": []}
            case [placeholder, number]:
                more |= {"metavar": placeholder, "nargs": "+" if number == "..." else number}
            case [placeholder]:
                more |= {"metavar": placeholder}
            case [] if isinstance(words, str):
                more |= {"action": "store_true"}
        parser.add_argument(name, **more)


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
