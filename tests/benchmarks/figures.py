"""The table that the measurements print: a row for each figure, a column for each server."""

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

EMULATOR: Final = "emulator"


@dataclass(slots=True)
class Figure:
    """What was measured in each round, on each server."""

    name: str
    unit: str
    compared_with: str | None = None
    """The server that the ratio refers to."""
    aim: str = ""
    rounds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """The values of each server, by its name."""

    def add(self, server: str, value: float) -> None:
        """Take note of one value."""
        self.rounds[server].append(value)

    def ratio(self) -> str:
        """Return how many times the emulator needs what the compared server does.

        By the least values and by the medians.
        """
        if self.compared_with is None:
            return ""
        emulator = self.rounds[EMULATOR]
        compared = self.rounds[self.compared_with]
        least = min(emulator) / min(compared)
        middle = statistics.median(emulator) / statistics.median(compared)
        return f"{least:.2f} / {middle:.2f} x {self.compared_with}"

    def cell(self, server: str) -> str:
        """Return the least and the median of one server."""
        values = self.rounds.get(server)
        if not values:
            return ""
        least = min(values)
        middle = statistics.median(values)
        return f"{least:,.1f} / {middle:,.1f}"


def print_table(figures: list[Figure], servers: tuple[str, ...]) -> None:
    """Print the figures in columns that are as wide as their widest cell."""
    rows = [["least / median of the rounds", "", *servers, "ratio", "aim"]]
    for figure in figures:
        cells = [figure.cell(server) for server in servers]
        rows.append([figure.name, figure.unit, *cells, figure.ratio(), figure.aim])
    widths = []
    for column in zip(*rows, strict=True):
        widest = max(column, key=len)
        widths.append(len(widest))
    for row in rows:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(padded).rstrip())
