"""How commands print: tables for people, JSON for programs."""

import json
import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from operator import gt
from typing import Any, Final

from image_workflow_emulator.kernel.printable import printable, printable_lines

GAP: Final = "  "
LEAST_WIDTH: Final = 6
"""No column is made narrower, however narrow the terminal is."""


def show(options: Namespace, answer: Any, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print an answer as --format asks for: as JSON, or as a table of these rows."""
    if options.format == "json":
        print_json(answer)
    else:
        print_table(columns, rows)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows below the names of their columns. On a terminal a table fits its width; elsewhere each row is one
    line.
    """
    print("\n".join(table_lines(columns, rows, terminal_width() if sys.stdout.isatty() else None)))


def terminal_width() -> int:
    """Return how many characters a line of the terminal has: 80 where there is none."""
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None) -> Iterator[str]:
    """Iterate over the lines of a table: the names of its columns, if they have any, and its rows. None is shown as a
    dash.

    In a width, the widest columns are as narrow as it takes, and their cells have several lines. A word is broken only
    where it does not help to break between words.
    """
    heads = [[name.replace("_", " ").upper() for name in columns]] if columns else []
    cells = [["-" if cell is None else printable(str(cell)) for cell in row] for row in (*heads, *rows)]
    by_column = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    if width is not None:
        room = width - len(GAP) * (len(widths) - 1)
        longest_words = [max(len(word) for cell in column for word in cell.split(" ")) for column in by_column]
        for narrowest in (longest_words, [LEAST_WIDTH] * len(widths)):
            while sum(widths) > room and any(map(gt, widths, narrowest)):
                wide = [number for number, least in enumerate(narrowest) if widths[number] > least]
                widths[max(wide, key=widths.__getitem__)] -= 1
    for row in cells:
        for pieces in zip_longest(*map(_wrapped, row, widths), fillvalue=""):
            yield GAP.join(map(str.ljust, pieces, widths)).rstrip()


def _wrapped(cell: str, width: int) -> list[str]:
    return [cell] if len(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)


def print_bytes(content: bytes) -> None:
    """Print a file as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
