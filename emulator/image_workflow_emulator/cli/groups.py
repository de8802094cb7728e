"""Groups of commands: the program, whose commands are imported when they are typed, and
nouns with their verbs.

Owns how a wrong word is answered: with the nearest, and all that are expected.
"""

import gc
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

_TYPED: Final = f"{__name__}.typed"
"""Where a context keeps the words that were typed after a noun without a verb."""


@contextmanager
def importing() -> Iterator[None]:
    """Import without a collection of garbage: modules stay until the process ends.

    They are frozen, so that no later collection has to look at them: a sixth of the
    processor time of `exec`.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


class Words(click.Group):
    """A group whose wrong words are answered with those that were probably meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are written."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Answer an option before the word that it belongs to."""
        words = list(args)  # which are taken out of it
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            self.explain_order(ctx, words, error)

    def explain_order(
        self,
        ctx: click.Context,
        words: Sequence[str],
        error: click.UsageError,
    ) -> NoReturn:
        """Raise an error about words that cannot be read: if they have a command after
        an option, say where its options belong.
        """
        following = self.list_commands(ctx)
        command = next((word for word in words if word in following), None)
        if command is None or not words[0].startswith("-"):
            raise error
        others = list(words)
        others.remove(command)
        better = shlex.join([*ctx.command_path.split(), command, *others])
        message = (
            f"found {words[0]!r} before {command!r}; options follow the command that "
            f"they belong to: {better}"
        )
        raise click.UsageError(message, ctx) from error

    def resolve_command(
        self,
        ctx: click.Context,
        args: list[str],
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is typed. Raises UsageError for any other word."""
        word = args[0]
        known = self.list_commands(ctx)
        is_unknown = self.get_command(ctx, word) is None
        if is_unknown and not word.startswith("-") and not ctx.resilient_parsing:
            from image_workflow_emulator.documents.complaints import (
                did_you_mean,
                nearest,
            )

            suggestion = did_you_mean(nearest(word, known))
            message = f"found {word!r}; expected one of {', '.join(known)}{suggestion}"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)


class Noun(Words):
    """A command with verbs, of which one may be meant where none is typed."""

    def __init__(
        self,
        *arguments: Any,
        default: str | None = None,
        **more: Any,
    ) -> None:
        super().__init__(*arguments, **more)
        self.subcommand_metavar = "VERB ..."
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default verb where no verb is typed."""
        has_no_verb = not args or args[0].startswith("-")
        asks_for_help = args[:1] in (["-h"], ["--help"])
        is_run = not asks_for_help and not ctx.resilient_parsing
        if self.default and has_no_verb and is_run:
            ctx.meta[_TYPED] = args
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb. Where the default verb cannot be run, another may be meant."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            self.explain_order(ctx, ctx.meta.get(_TYPED, ()), error)

    def shell_complete(
        self,
        ctx: click.Context,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer the verbs, and the options of the default verb."""
        items = super().shell_complete(ctx, incomplete)
        if self.default and incomplete.startswith("-"):
            items += self.commands[self.default].shell_complete(ctx, incomplete)
        return items


class LazyCommand(NamedTuple):
    """A command of the program: `command` in a module that is imported when the command
    is typed.
    """

    summary: str
    module: str


class Program(Words):
    """The group of all commands, which the help shows in groups."""

    def __init__(
        self,
        *arguments: Any,
        groups: Mapping[str, Mapping[str, LazyCommand]],
        **more: Any,
    ) -> None:
        super().__init__(*arguments, **more)
        self.subcommand_metavar = "COMMAND ..."
        self.groups = groups
        self._lazy = dict[str, LazyCommand]()
        for commands in groups.values():
            self._lazy.update(commands)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands that the help shows."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, whose module is imported now."""
        lazy = self._lazy.get(cmd_name)
        if lazy is None:
            return super().get_command(ctx, cmd_name)
        with importing():
            command: click.Command = import_module(lazy.module).command
        return command

    def format_commands(
        self,
        ctx: click.Context,
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands in their groups, without their modules."""
        for title, commands in self.groups.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, lazy.summary) for name, lazy in commands.items()]
                )

    def shell_complete(
        self,
        ctx: click.Context,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer the commands, without their modules."""
        return [
            CompletionItem(name, help=lazy.summary)
            for name, lazy in self._lazy.items()
            if name.startswith(incomplete)
        ]
