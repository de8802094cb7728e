"""Tables for people, and JSON for programs: what a command lists or shows.

Control characters that a client sent are shown as escapes.
"""

import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

import click

from image_workflow_emulator.console.styles import coloured
from image_workflow_emulator.kernel.wording import printable, printable_lines

GAP: Final = "  "
LEAST_WIDTH: Final = 6
"""No column is made narrower, however narrow the terminal is."""
_COLOURED: Final = frozenset({"status", "severity", "outcome"})
"""The columns whose cells have colours."""


def show(
    form: str, answer: Any, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Print an answer in the form of --format: as JSON, or as a table of these rows.

    A table fits the terminal, or COLUMNS; elsewhere each row is one line.
    """
    if form == "json":
        print_json(answer)
        return
    width, _ = shutil.get_terminal_size((0, 0))
    for line in table_lines(columns, rows, width or None, coloured):
        click.echo(line)


def cells(
    things: Iterable[Mapping[str, Any]], columns: Sequence[str]
) -> list[list[Any]]:
    """Return the rows of a table of things: their members that the columns name."""
    return [[thing.get(name) for name in columns] for thing in things]


def text_of(value: Any) -> str:
    """Return a value as JSON on one line."""
    return printable(json.dumps(value, ensure_ascii=False))


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def terminal_width() -> int:
    """Return how many characters a line of the terminal has; without one, 80."""
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def table_lines(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    width: int | None,
    paint: Callable[[str], str] = str,
) -> Iterator[str]:
    """Iterate over the lines of a table: the names of its columns, if they have any,
    and its rows. None is shown as a dash.

    In a width, the widest columns are as narrow as it takes, and their cells have
    several lines. `paint` colours the words of columns that tell how something ended.
    """
    texts = [[_cell_text(cell) for cell in row] for row in rows]
    if columns:
        heads = [name.replace("_", " ").upper() for name in columns]
        texts.insert(0, list(map(_cell_text, heads)))
    widths = _column_widths(texts, width)
    for row_texts in texts:
        pieces = map(_pieces, row_texts, widths)
        for line in zip_longest(*pieces, fillvalue=""):
            padded = list(map(str.ljust, line, widths))
            for number, name in enumerate(columns):
                if name in _COLOURED:
                    padded[number] = paint(padded[number])
            yield GAP.join(padded).rstrip()


def _cell_text(cell: Any) -> str:
    return "-" if cell is None else printable(str(cell))


def _column_widths(texts: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Return the widths of the columns of a table.

    A word is broken only where it does not help to break between words.
    """
    by_column = list(zip(*texts, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    if width is None:
        return widths
    room = width - len(GAP) * (len(widths) - 1)
    longest_words = []
    for column in by_column:
        words = " ".join(column).split(" ")
        longest_words.append(max(map(len, words)))
    _narrow(widths, longest_words, room)
    _narrow(widths, [LEAST_WIDTH] * len(widths), room)
    return widths


def _narrow(widths: list[int], narrowest: Sequence[int], room: int) -> None:
    """Narrow the widest columns until all fit, or none may be narrower."""
    while sum(widths) > room:
        columns = [
            number for number, width in enumerate(widths) if width > narrowest[number]
        ]
        if not columns:
            return
        widths[max(columns, key=widths.__getitem__)] -= 1


def _pieces(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_on_hyphens=False)
