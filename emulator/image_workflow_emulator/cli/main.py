"""The entry point: reads what is typed and the environment, runs one command, turns its outcome into an exit status.

0 is success, 2 a mistake in what was typed or a file that cannot be used, 1 any other failure, such as what the running
emulator does not have. Messages go to standard error, and where JSON is asked for, also to standard output.

The text of an option is checked where its meaning is known (settings, the commands, the emulator itself), so that a
complaint is the same whether the text came from the command line or from the environment. Only the parser of the
command that is typed is built, and nothing heavy is imported before, so that the help of any command is quick.
"""

import argparse
import gc
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, NoReturn, TextIO

from image_workflow_emulator import DEFAULT_URL, __version__
from image_workflow_emulator.cli.table import (
    COMMANDS,
    GROUPS,
    OF_FILES,
    RETIRED,
    WITH_COMMAND,
    Arguments,
)

PROGRAM = "image-workflow-emulator"
DESCRIPTION = "A local, deterministic emulator of the Image Workflow Service API v1."

FAILURE = 1
BAD_USAGE = 2
INTERRUPTED = 128 + 2
"""The status of what Ctrl-C ended, as of a shell."""
REFUSED_VALUES = (400, 413, 422)
"""The statuses by which a running emulator refuses a value."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command that the arguments ask for (None: those of this process) and return its exit status."""
    _open_closed_streams()
    try:
        status = _status_of(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()  # a closed pipe is noticed here, and not at exit
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except (
        OSError
    ) as error:  # the reader of standard output has left (`head`), or the disk is full
        _drop(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            from image_workflow_emulator.cli.output import complain

            complain(f"cannot write the output: {error.strerror}")
        return FAILURE
    finally:
        try:
            sys.stderr.flush()
        except OSError:  # its reader has left
            _drop(sys.stderr)


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that is closed: else a socket would take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(
                os.open(os.devnull, os.O_RDWR), True
            )  # the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def _drop(stream: TextIO) -> None:
    """Drop what a stream still holds and gets: else Python complains at its exit, with a status of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _status_of(given: Sequence[str]) -> int:
    """Run a command; report what it raises."""
    try:
        options = parse_arguments(given)
    except ArgumentsError as error:
        return _refuse(given, str(error))
    # Imported when there is something to run: --help and --version have ended.
    from image_workflow_emulator.client.local_files import (
        EmulatorError,
        UnusableFileError,
    )
    from image_workflow_emulator.documents.complaints import DocumentError
    from image_workflow_emulator.scenario.named_files import scenario_file
    from image_workflow_emulator.settings import CommandError, UsageError

    try:
        module, _, function = options.run.rpartition(".")
        gc.disable()  # no garbage comes from imports, which take a tenth less time without looking for it
        run = getattr(import_module(f"image_workflow_emulator.{module}"), function)
        gc.freeze()  # what was imported stays: a collection need not look at it again and again
        gc.enable()
        if "report" in options:
            from image_workflow_emulator.cli.output import conclude

            return conclude(run, options, os.environ)
        run(options, os.environ)
        return 0
    except (UsageError, DocumentError) as error:
        return _refuse(given, str(error))
    except CommandError as error:
        return _refuse(given, str(error), status=error.status)
    except EmulatorError as error:
        is_mistake = (
            isinstance(error, UnusableFileError) or error.status in REFUSED_VALUES
        )
        if (
            error.code == "invalid_scenario"
        ):  # a name that the library does not have is no mistake in a file
            is_mistake = (
                scenario_file(getattr(options, "scenario", None) or "") is not None
            )
        return _refuse(
            given, error.detail, error.code, BAD_USAGE if is_mistake else FAILURE
        )


def _refuse(
    given: Sequence[str], message: str, code: str = "usage", status: int = BAD_USAGE
) -> int:
    """Say why a command did nothing, for programs as JSON too, and return the status.

    Each line of the message is a finding, with the place that the line begins with.
    """
    from image_workflow_emulator.cli.output import complain

    own = given[: given.index("--")] if "--" in given else given
    if "--format=json" in own or ("--format", "json") in pairwise(own):
        import json
        import re

        lines = re.findall(r"^(?:(.+?:\d+(?::\d+)?): )?(.+)", message, re.MULTILINE)
        usual = {"rule": code, "severity": "error", "remedy": None, "command": None}
        findings = [
            {**usual, "where": where or None, "message": words}
            for where, words in lines
        ]
        print(
            json.dumps(
                {"ok": False, "summary": message, "findings": findings, "next": []},
                separators=(",", ":"),
            )
        )
    complain(message)
    return status


# What is typed --------------------------------------------------------------------------------------------------------

_URL = f"a running emulator (default: EMULATOR_URL, else EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})"
_EMULATOR = {
    "--url URL": _URL,
    "--control-token TOKEN": "its control token (default: EMULATOR_CONTROL_TOKEN)",
}
_SANDBOX = {
    "--sandbox ID": "which of its sandboxes (default: EMULATOR_SANDBOX, else default)"
}
_ADDRESSED: Mapping[str, Arguments] = {
    "emulator": _EMULATOR,
    "sandbox": _EMULATOR | _SANDBOX,
    "nothing": {},
}


class ArgumentsError(Exception):
    """Arguments that cannot be read. The usage is printed; the text says why."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise ArgumentsError(message)

    def refuse(self, message: str, word: str, words: Collection[str] = ()) -> NoReturn:
        """Complain of a word, and name the nearest one of `words`, or of the options. Raises ArgumentsError."""
        from image_workflow_emulator.documents.complaints import did_you_mean, nearest

        self.error(
            f"{message}{did_you_mean(nearest(word, words or self._option_string_actions))}"
        )


def parse_arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the arguments of a command line.

    Of the result, `command` names the command with its verb, `run` its function, and `words` are those after `--`.

    Raises ArgumentsError when they cannot be read, and SystemExit after a help or the version.
    """
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    end = (
        given.index("--") if "--" in given and given[0] in WITH_COMMAND else len(given)
    )
    name, rest = command_of(given[:end])
    parser, expected = build_parser(name), _words_after(name)
    for retired, instead in RETIRED.items():
        command, *others = retired.split()
        if command in given[:1] and {
            word.partition("=")[0] for word in given[:end]
        }.issuperset(others):
            parser.error(instead)
    if given in ([], [name]) and (
        expected or name in WITH_COMMAND or COMMANDS[name].needs_more
    ):
        parser.print_help()
        raise SystemExit(0)
    if expected and rest and not rest[0].startswith("-"):
        parser.refuse(
            f'found "{rest[0]}"; expected one of {", ".join(expected)}',
            rest[0],
            expected,
        )
    options, unknown = parser.parse_known_intermixed_args(rest)
    if unknown:
        hint = " (the command comes after --)" if name in WITH_COMMAND else ""
        parser.refuse(
            f"unrecognized arguments: {' '.join(unknown)}{hint}",
            unknown[0].partition("=")[0],
        )
    options.command, options.words = name, given[end + 1 :]
    if name in OF_FILES and options.files:
        options.run = OF_FILES[name]
    if (
        name in WITH_COMMAND
        and not options.words
        and not getattr(options, "merge", None)
    ):
        parser.error("expected -- and a command after the options")
    return options


def command_of(given: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the command that is typed, with its verb or the default verb, and the other words.

    The verb is the first word that is no option. Where there is no such command, the name is empty, or that of its
    noun.
    """
    noun, *words = given or [""]
    verbs, before = _words_after(noun), ""
    if noun not in COMMANDS or not verbs:
        return (noun, words) if noun in COMMANDS else ("", given)
    for position, word in enumerate(words):
        is_value = (
            before.startswith("--") and "=" not in before and before != "--follow"
        )  # the one without a value
        if word in verbs and not is_value:
            return f"{noun} {word}", [*words[:position], *words[position + 1 :]]
        before = word
    default = COMMANDS[noun].verb
    if (
        default is None
        or {"-h", "--help"}.intersection(words)
        or (words and not words[0].startswith("-"))
    ):
        return noun, words
    return f"{noun} {default}", words


def _words_after(name: str) -> list[str]:
    """Return the words that may follow: the commands after nothing, the verbs after a noun."""
    if not name:
        return [command for command in COMMANDS if " " not in command]
    return [
        command.removeprefix(f"{name} ")
        for command in COMMANDS
        if command.startswith(f"{name} ")
    ]


def build_parser(name: str) -> _Parser:
    """Build the parser of a command; that of a noun, and of the program for an empty name, only lists what
    may follow.
    """
    command, words, prog = (
        COMMANDS.get(name),
        _words_after(name),
        f"{PROGRAM} {name}".rstrip(),
    )
    following = (
        "[OPTIONS] -- COMMAND [ARGUMENT ...]"
        if name in WITH_COMMAND
        else "VERB ..."
        if name
        else "COMMAND ..."
    )
    parser = _Parser(
        prog=prog,
        usage=f"{prog} {following}" if words or name in WITH_COMMAND else None,
        description=f"{command.summary[0].upper()}{command.summary[1:]}."
        if command
        else DESCRIPTION,
        epilog=_listing(name, words) if words else command and command.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter
        if words
        else argparse.HelpFormatter,
        allow_abbrev=False,
    )
    if command is None:
        parser.add_argument(
            "--version", action="version", version=f"{PROGRAM} {__version__}"
        )
    if command is None or words:
        return parser
    noun = COMMANDS[name.partition(" ")[0]]
    asks, home = command.asks or noun.asks, command.home or noun.home
    for spelling, help_text in {
        **command.arguments,
        **_ADDRESSED[asks or "nothing"],
    }.items():
        _add_argument(parser, spelling, help_text)
    if command.settings is not None:
        _add_settings(parser, command.settings, all_of_them=not asks)
    run = "cli.remote.ask" if home[0].isupper() else home
    parser.set_defaults(
        run=run if run.count(".") > 1 else f"{run}.{name.replace(' ', '_')}",
        request=home,
    )
    return parser


def _listing(name: str, words: Collection[str]) -> str:
    """List the words that may follow, in the groups of the commands."""
    groups = {"Verbs": words} if name else GROUPS
    lines = []
    for group, members in groups.items():
        known = [one for one in members if one in words]
        lines += [
            f"{group}:",
            *(
                f"  {one:13}{COMMANDS[f'{name} {one}'.lstrip()].summary}"
                for one in known
            ),
            "",
        ]
    return "\n".join(
        [
            *lines,
            f"`{PROGRAM} help {name or 'COMMAND'}{' VERB' if name else ''}` explains one of them.",
        ]
    )


def _add_argument(
    parser: argparse.ArgumentParser, spelling: str, words: str | Mapping[str, Any]
) -> None:
    """Give a parser an argument as the table has it."""
    spelled, _, usual = spelling.partition(" =")
    name, placeholder, number = (*spelled.split(), "", "")[:3]
    more: dict[str, Any] = (
        {"metavar": placeholder} if placeholder else {"action": "store_true"}
    )
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
        more |= {
            "nargs": "+" if number == "..." else number,
            "default": [] if number == "*" else None,
        }
    parser.add_argument(name, **more)


def _add_settings(
    parser: argparse.ArgumentParser, defaults: Mapping[str, str], *, all_of_them: bool
) -> None:
    """Give a command options of a running emulator, each as text under the name of its field in Settings."""
    from image_workflow_emulator.settings import OPTIONS

    for option in OPTIONS:
        if all_of_them or option.field in defaults:
            help_text = f"{option.description} (default: {defaults.get(option.field, option.default)})"
            action = "append" if option.is_repeated else "store"
            parser.add_argument(
                option.flag,
                dest=option.field,
                metavar=option.kind.placeholder,
                help=help_text,
                action=action,
            )
