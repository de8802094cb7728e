"""One run of a command: what was typed, its environment, the emulator that it addresses, and how it shows what it found.

Tables are for people, JSON for programs; in colour on a terminal, plain elsewhere.
"""

import json
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from operator import gt
from typing import IO, TYPE_CHECKING, Any, Final

from image_workflow_emulator import DEFAULT_URL
from image_workflow_emulator.kernel.printable import printable, printable_lines
from image_workflow_emulator.settings import SettingError, local_url, read_settings

if TYPE_CHECKING:
    from image_workflow_emulator.testing.control_client import ControlClient

RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
BOLD: Final = "1"
DIM: Final = "2"
NOTHING: Final = "-"
"""Stands in a table for an absent value."""
GAP: Final = "  "
LEAST_WIDTH: Final = 6
"""No column is made narrower, however narrow the terminal is."""


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


class Invocation:
    """What a command gets. `options` are as they were typed, `environment` holds the variables."""

    def __init__(self, options: Namespace, environment: Mapping[str, str]) -> None:
        self.options = options
        self.environment = environment

    @property
    def style(self) -> Style:
        """The style of standard output."""
        return Style(sys.stdout, self.environment)

    def show(self, answer: Any, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Print an answer as --format asks for: as JSON, or as a table of these rows."""
        if self.options.format == "json":
            print_json(answer)
        else:
            print_table(columns, rows, self.style)

    @cached_property
    def control(self) -> "ControlClient":
        """The client of the control plane that the command addresses. Raises SettingError."""
        from image_workflow_emulator.testing.control_client import ControlClient, emulator_address

        given = vars(self.options)
        name, url = ("--url", given["url"]) if given["url"] is not None else _address(self.environment)
        try:
            url = emulator_address(url)
        except ValueError:
            raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
        token = given.get("control_token") or self.environment.get("EMULATOR_CONTROL_TOKEN") or None
        return ControlClient(url, token, given.get("sandbox") or self.environment.get("EMULATOR_SANDBOX"))


def _address(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address that the environment names, and the variable that does. Raises SettingError."""
    if environment.get("EMULATOR_URL"):
        return "EMULATOR_URL", environment["EMULATOR_URL"]
    served = read_settings({}, {name: environment.get(name, "") for name in ("EMULATOR_HOST", "EMULATOR_PORT")})
    return "EMULATOR_HOST", local_url(served.host, served.port)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], style: Style) -> None:
    """Print rows below the names of their columns. On a terminal a table fits its width; elsewhere each row is one line."""
    head, *lines = table_lines(columns, rows, terminal_width() if sys.stdout.isatty() else None)
    print("\n".join([style(head, BOLD), *lines]))


def terminal_width() -> int:
    """Return how many characters a line of the terminal has: 80 where there is none."""
    import shutil  # which takes time to import

    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None) -> Iterator[str]:
    """Iterate over the lines of a table: the names of its columns, if they have any, and its rows. None is shown as a dash.

    In a width, the widest columns are as narrow as it takes, and their cells have several lines. A word is broken only where
    it does not help to break between words.
    """
    heads = [[name.replace("_", " ").upper() for name in columns]] if columns else []
    cells = [[NOTHING if cell is None else printable(str(cell)) for cell in row] for row in (*heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        room = width - len(GAP) * (len(widths) - 1)
        longest_words = [
            max(len(word) for cell in column for word in cell.split(" ")) for column in zip(*cells, strict=True)
        ]
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
