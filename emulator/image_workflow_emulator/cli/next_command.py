"""The command to run after `exec`: the one that was typed, with one option more.

Owns which option that is. An option that the run had already is never suggested.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click
from click.core import ParameterSource

from image_workflow_emulator.cli.program import PROGRAM

_TYPED: Final = f"{__name__}.typed"
"""Where the context of a command keeps the words that were typed after its name."""
_MAX_COMMAND_CHARACTERS: Final = 200
_HIDDEN: Final = "--control-token"
"""The option whose value is not repeated."""
_EXCLUDED_BY: Final = {"--scenario": "--state"}
"""Options that are refused beside another."""

_SHOWING_MORE: Final = (
    ("--journal", "journal.json"),
    ("--save-state", "session.json"),
    ("--report", "report.html"),
)
"""Options that show more of a run in which something was wrong."""
_ASKING_MORE: Final = (
    ("--conduct", "fail"),
    ("--scenario", "flaky-network"),
    ("--coverage", "coverage.html"),
)
"""Options that ask more of a command that did everything right."""


class RememberingCommand(click.Command):
    """A command that knows how it was typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words before they are taken apart."""
        ctx.meta[_TYPED] = tuple(args)
        return super().parse_args(ctx, args)


@dataclass(frozen=True)
class TypedCommand:
    """How `exec` was typed."""

    options: Sequence[str]
    """The words before the command that it runs, `--` aside."""
    words: Sequence[str]
    """The command that it runs."""
    flags: frozenset[str]
    """The options that have a value, typed or by a variable."""

    @classmethod
    def of(cls, context: click.Context, words: Sequence[str]) -> "TypedCommand":
        """Return how the command of a context was typed, which runs these words."""
        typed: Sequence[str] = context.meta[_TYPED]
        options = list(typed[: len(typed) - len(words)])
        if options[-1:] == ["--"]:
            options.pop()
        flags = set[str]()
        for parameter in context.command.params:
            source = context.get_parameter_source(str(parameter.name))
            if source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
                flags.add(parameter.opts[0])
        return cls(options, words, frozenset(flags))

    def next_commands(self, *, shows_more: bool) -> list[str]:
        """Return the command to run next; none where it has all options already.

        `shows_more`: choose an option that shows more of what went wrong, else one that
        asks more of the command.
        """
        suggestions = _ASKING_MORE
        if shows_more:
            suggestions = _SHOWING_MORE
        for flag, value in suggestions:
            excluding = _EXCLUDED_BY.get(flag)
            if flag not in self.flags and excluding not in self.flags:
                return [self._with_option(flag, value)]
        return []

    def _with_option(self, flag: str, value: str) -> str:
        options = _without_secret(self.options)
        options += [flag, value]
        command = shlex.join(self.words)
        if len(command) > _MAX_COMMAND_CHARACTERS or not command.isprintable():
            command = "CMD"
        return f"{PROGRAM} exec {shlex.join(options)} -- {command}"


def _without_secret(options: Sequence[str]) -> list[str]:
    """Return typed options with a placeholder for the control token."""
    shown = list[str]()
    for word in options:
        if shown[-1:] == [_HIDDEN]:
            shown.append("TOKEN")
        elif word.startswith(f"{_HIDDEN}="):
            shown.append(f"{_HIDDEN}=TOKEN")
        else:
            shown.append(word)
    return shown
