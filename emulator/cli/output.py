"""How commands show what they found: tables for people, JSON for programs; in colour on a terminal, plain elsewhere."""

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import IO, Any, Final

from emulator.kernel.printable import printable, printable_lines

RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
BOLD: Final = "1"
DIM: Final = "2"
NOTHING: Final = "-"
"""Stands in a table for an absent value."""
GAP: Final = "  "
LEAST_WIDTH: Final = 8
"""No column is made narrower, however narrow the terminal is."""


class Style:
    """Colours on a terminal, unless NO_COLOR is set (https://no-color.org)."""

    def __init__(self, stream: IO[str] | None, environment: Mapping[str, str]) -> None:
        self.is_seen = stream is not None and stream.isatty() and environment.get("TERM") != "dumb"
        self.is_on = self.is_seen and not environment.get("NO_COLOR")

    def __call__(self, text: str, colour: str) -> str:
        """Colour a text."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.is_on and text else text

    def status(self, text: str, status: int | None) -> str:
        """Colour a text by an HTTP status."""
        return self(text, RED if status is None or status >= 500 else YELLOW if status >= 400 else GREEN)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def json_or_page(suffix: str, answer: Any, page: Callable[[], str]) -> str:
    """Return the content of a report's file: a page for browsers where its name ends in .html, else JSON."""
    is_page = suffix.lower() in (".html", ".htm")
    return page() if is_page else json.dumps(answer, indent=2, ensure_ascii=False) + "\n"


def print_table(headers: Sequence[str], rows: Iterable[Sequence[Any]], style: Style) -> None:
    """Print rows below their headers; None is shown as a dash. Without rows only the headers are printed.

    On a terminal the widest columns are as narrow as it takes, and their cells have several lines.
    """
    cells = [list(headers), *([NOTHING if cell is None else printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns - len(GAP) * (len(widths) - 1)
        while sum(widths) > room and max(widths) > LEAST_WIDTH:
            widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(cells):
        for pieces in zip_longest(*map(_wrapped, row, widths), fillvalue=""):
            line = GAP.join(map(str.ljust, pieces, widths)).rstrip()
            print(style(line, BOLD) if number == 0 else line)


def _wrapped(cell: str, width: int) -> list[str]:
    return [cell] if len(cell) <= width else textwrap.wrap(cell, width)


def print_bytes(content: bytes) -> None:
    """Print a file as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
