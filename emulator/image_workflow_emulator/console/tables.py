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
    form: str,
    answer: Any,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
) -> None:
    """Print an answer in the form of --format: as JSON, or as a table of these rows.

    A table fits the terminal, or COLUMNS; elsewhere each row is one line.
    """
    if form == "json":
        print_json(answer)
        return
    size = shutil.get_terminal_size((0, 0))
    width = size.columns or None
    for line in table_lines(columns, rows, width, coloured):
        click.echo(line)


def cells(
    things: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
) -> list[list[Any]]:
    """Return the rows of a table of things: their members that the columns name."""
    rows = []
    for thing in things:
        row = [thing.get(name) for name in columns]
        rows.append(row)
    return rows


def text_of(value: Any) -> str:
    """Return a value as JSON on one line."""
    text = json.dumps(value, ensure_ascii=False)
    return printable(text)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    click.echo(printable_lines(text))


def terminal_width() -> int:
    """Return how many characters a line of the terminal has; without one, 80."""
    size = shutil.get_terminal_size()
    return max(size.columns, LEAST_WIDTH)


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
    texts = _texts_of(columns, rows)
    widths = _column_widths(texts, width)
    for row_texts in texts:
        for line_cells in _lines_of_row(row_texts, widths):
            _paint_cells(line_cells, columns, paint)
            yield GAP.join(line_cells).rstrip()


def _texts_of(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[list[str]]:
    """Return the texts of all cells, those of the heads of the columns first."""
    texts = []
    if columns:
        heads = [_head_text(name) for name in columns]
        texts.append(heads)
    for row in rows:
        row_texts = [_cell_text(cell) for cell in row]
        texts.append(row_texts)
    return texts


def _head_text(name: str) -> str:
    words = name.replace("_", " ")
    return _cell_text(words.upper())


def _cell_text(cell: Any) -> str:
    if cell is None:
        return "-"
    return printable(str(cell))


def _lines_of_row(texts: Sequence[str], widths: Sequence[int]) -> Iterator[list[str]]:
    """Iterate over the lines of a row: the cells of each, as wide as their columns."""
    wrapped_cells = map(_wrapped, texts, widths)
    for line_cells in zip_longest(*wrapped_cells, fillvalue=""):
        yield list(map(str.ljust, line_cells, widths))


def _paint_cells(
    line_cells: list[str],
    columns: Sequence[str],
    paint: Callable[[str], str],
) -> None:
    """Colour the cells of a line whose columns have colours."""
    for number, name in enumerate(columns):
        if name in _COLOURED:
            line_cells[number] = paint(line_cells[number])


def _column_widths(texts: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Return the widths of the columns of a table.

    A word is broken only where it does not help to break between words.
    """
    by_column = list(zip(*texts, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    if width is None:
        return widths
    gaps = len(GAP) * (len(widths) - 1)
    room = width - gaps
    longest_words = [_longest_word(column) for column in by_column]
    _narrow(widths, longest_words, room)
    _narrow(widths, [LEAST_WIDTH] * len(widths), room)
    return widths


def _longest_word(texts: Sequence[str]) -> int:
    """Return the length of the longest word in a column."""
    words = " ".join(texts).split(" ")
    return max(map(len, words))


def _narrow(
    widths: list[int],
    narrowest: Sequence[int],
    room: int,
) -> None:
    """Narrow the widest columns until all fit, or none may be narrower."""
    while sum(widths) > room:
        columns = [
            number for number, width in enumerate(widths) if width > narrowest[number]
        ]
        if not columns:
            return
        widest = max(columns, key=widths.__getitem__)
        widths[widest] -= 1


def _wrapped(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_on_hyphens=False)
