"""How commands show what they found: tables for people, JSON for programs; in colour on a terminal, plain elsewhere."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Final

from emulator.kernel.printable import printable, printable_lines

RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
BOLD: Final = "1"
DIM: Final = "2"
NOTHING: Final = "-"
"""Stands in a table for an absent value."""


class Style:
    """Colours on a terminal, unless NO_COLOR is set (https://no-color.org)."""

    def __init__(self, stream: IO[str] | None, environment: Mapping[str, str]) -> None:
        is_seen = stream is not None and stream.isatty() and environment.get("TERM") != "dumb"
        self.is_on = is_seen and not environment.get("NO_COLOR")

    def __call__(self, text: str, colour: str) -> str:
        """Colour a text."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.is_on and text else text

    def status(self, text: str, status: int | None) -> str:
        """Colour a text by an HTTP status."""
        return self(text, RED if status is None or status >= 500 else YELLOW if status >= 400 else GREEN)


def add_format(parser: ArgumentParser, *formats: str) -> None:
    """Give a command the option --format; the first one is the default."""
    metavar, help_text = "|".join(formats), f"form of the output (default: {formats[0]})"
    parser.add_argument("--format", choices=formats, default=formats[0], metavar=metavar, help=help_text)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[Any]], style: Style) -> None:
    """Print rows below their headers; None is shown as a dash. Without rows only the headers are printed."""
    cells = [list(headers), *([NOTHING if cell is None else printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    for number, row in enumerate(cells):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        print(style(line, BOLD) if number == 0 else line)


def out(environment: Mapping[str, str]) -> Style:
    """Return the style of standard output."""
    return Style(sys.stdout, environment)


def print_bytes(content: bytes) -> None:
    """Print a file as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
