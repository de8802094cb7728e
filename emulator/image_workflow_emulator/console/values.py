"""The values of options and arguments: click's types, with the words of our messages.

None of these options has a variable: settings_options.py has those that do.
"""

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from image_workflow_emulator.kernel.timestamps import parse_duration_ms
from image_workflow_emulator.settings import (
    READINGS,
    SCENARIO,
    Kind,
    SettingError,
    whole_number,
)


def spelled(parameter: click.Parameter | None, context: click.Context | None) -> str:
    """Return how complaints call a parameter: by its flag, an argument by its command."""
    assert parameter is not None
    assert context is not None
    if isinstance(parameter, click.Argument):
        _, _, command = context.command_path.partition(" ")
        return command
    return parameter.opts[0]


class Value(click.ParamType[Any]):
    """A value of a kind. Any other text is a SettingError in the words of the kind."""

    def __init__(self, kind: Kind) -> None:
        self.name = kind.placeholder
        self._kind = kind

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Read a text; a default is no text and is left as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self._kind.parse(value)
        except (ValueError, KeyError):
            kind = self._kind
            where = spelled(param, ctx)
            raise SettingError(where, value, kind.expected, kind.words) from None

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer the words that the kind has, or files."""
        return completions(self._kind, incomplete)


class Text(Value):
    """The text of a value of a kind, which the emulator reads."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the text as it is."""
        return value


def completions(kind: Kind, incomplete: str) -> list[CompletionItem]:
    """Return how a value of a kind can go on, for a shell.

    Files are offered where no word goes on so: bash offers either words or files.
    """
    words = words_beginning(incomplete, _words_of(kind))
    is_file = kind is READINGS or kind.placeholder.endswith("FILE")
    if is_file and not words:
        return [CompletionItem(incomplete, type="file")]
    return words


def words_beginning(incomplete: str, words: Iterable[str]) -> list[CompletionItem]:
    """Return the words that begin with what is typed, for a shell."""
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _words_of(kind: Kind) -> Sequence[str]:
    """Return the words of a kind, also those that are looked up when a shell asks."""
    if kind is SCENARIO:
        from image_workflow_emulator.contract import load_contract
        from image_workflow_emulator.scenario.library import ScenarioLibrary

        return ScenarioLibrary(load_contract()).names()
    if kind is READINGS:
        from image_workflow_emulator.domain.readings import SETS

        return list(SETS)
    return kind.words


class OutputFile(click.ParamType[Path]):
    """A file that is written at the end, and can be, as far as is known before.

    Raises UnusableFileError for any other.
    """

    name = "FILE"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Return the file. Nothing is written yet."""
        from image_workflow_emulator.client.local_files import check_writable

        return check_writable(spelled(param, ctx), os.fspath(value))

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Offer files."""
        return [CompletionItem(incomplete, type="file")]


FILE: Final = click.Path(path_type=str)
"""A file that is read: the command says what is wrong with it."""


# Kinds that no setting has ------------------------------------------------------------

SPAN_WORDS: Final = "a span such as 90s, 250ms, 2m or 1h"


def _parse_seconds(text: str) -> float:
    return parse_duration_ms(text) / 1000


def _parse_positive_seconds(text: str) -> float:
    seconds = _parse_seconds(text)
    if not 0 < seconds < math.inf:
        raise ValueError(text)
    return seconds


def _parse_percentage(text: str) -> float:
    percentage = float(text)
    if not 0 <= percentage <= 100:  # which `nan` is not either
        raise ValueError(text)
    return percentage


SPAN: Final = Value(Kind("SPAN", _parse_seconds, SPAN_WORDS))
"""In seconds."""
SECONDS: Final = Value(Kind("SECONDS", _parse_seconds, SPAN_WORDS))
LIMIT: Final = Value(Kind("SPAN", _parse_positive_seconds, f"{SPAN_WORDS}, above 0"))
"""A span above 0, in seconds."""
PERCENTAGE: Final = Value(
    Kind("PERCENT", _parse_percentage, "a percentage from 0 to 100")
)
COUNT: Final = Value(whole_number("N", 1, 1_000_000))
