"""How far a long command is: a bar at a terminal, elsewhere a line now and then."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, Self, TextIO

import click

from image_workflow_emulator.kernel.clock import host_elapsed_ms

_LINE_MS: Final = 10_000
"""How often a line is printed where there is no bar."""
_CLEARED: Final = "\r\x1b[2K"
"""Clears a line of the terminal."""


class Progress:
    """The progress of a sweep: how many cells were tried of all, and how they ended.

    `outcomes` are those of cells that were tried before. With `terminal`, a bar is
    drawn there; what else is printed to it needs a `clear` before. Without, a line goes
    to standard error every ten seconds.
    """

    def __init__(
        self,
        cells: int,
        outcomes: Iterable[str],
        *,
        terminal: TextIO | None,
        now_ms: Callable[[], float] = host_elapsed_ms,
    ) -> None:
        self._cells = cells
        self._outcomes = Counter(outcomes)
        self._before = self._outcomes.total()
        self._now_ms = now_ms
        self._began_ms = now_ms()
        self._told_ms = self._began_ms
        self._terminal = terminal
        self._drawing = ExitStack()
        self._bar: Any = click.progressbar(
            length=cells,
            label="cells",
            show_pos=True,
            show_percent=False,
            item_show_func=lambda _cell: self._words(),
            file=terminal,
            hidden=terminal is None,
        )

    def __enter__(self) -> Self:
        self._drawing.enter_context(self._bar)
        self._bar.update(self._before)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._drawing.close()

    def clear(self) -> None:
        """Clear the bar, so that something else can be printed. The next cell draws it
        again.
        """
        if self._terminal is not None:
            click.echo(_CLEARED, file=self._terminal, nl=False)

    def add(self, outcome: str) -> None:
        """Count a cell that was tried."""
        self._outcomes[outcome] += 1
        self._bar.update(1)

    def tick(self) -> None:
        """Print a line if it is time for one. To be called about every second."""
        now_ms = self._now_ms()
        if self._terminal is None and now_ms - self._told_ms >= _LINE_MS:
            self._told_ms = now_ms
            click.echo(self._line(now_ms), err=True)

    def _words(self) -> str:
        """Return how many cells ended in which way."""
        return ", ".join(
            f"{number} {outcome}" for outcome, number in self._outcomes.items()
        )

    def _line(self, now_ms: float) -> str:
        tried = self._outcomes.total()
        line = f"{tried} of {self._cells} cells"
        if tried:
            line += f", {self._words()}"
        tried_now = tried - self._before
        if tried_now:
            each_ms = (now_ms - self._began_ms) / tried_now
            left_seconds = each_ms * (self._cells - tried) / 1000
            line += f", about {left_seconds:.0f} s left"
        return line
