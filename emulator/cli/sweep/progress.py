"""The progress of a sweep: one line on a terminal, which goes with the last run; elsewhere one at the beginning, and now and then."""

import sys
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from emulator.cli.output import Style
from emulator.cli.sweep.runs import OUTCOMES, Run
from emulator.kernel.clock import host_elapsed_ms
from emulator.kernel.wording import count_of

TELL_EVERY_MS: Final = 30_000.0
"""How much time lies between two lines where there is no terminal."""


class Progress:
    """The number of runs that have ended, by outcome, and the time that the others will take; a context manager."""

    def __init__(
        self,
        total: int,
        known: int,
        jobs: int,
        clean_seconds: float,
        environment: Mapping[str, str],
        budget_seconds: float | None = None,
    ) -> None:
        self._total, self._done, self._known = total, known, known
        self._expected_seconds = (clean_seconds + 0.5) / jobs
        self._budget_seconds = budget_seconds
        self._counts: Counter[str] = Counter()
        self._is_shown = sys.stderr is not None and sys.stderr.isatty() and environment.get("TERM") != "dumb"
        self._style = Style(sys.stderr, environment)
        self._began_ms = self._told_ms = host_elapsed_ms()

    def __enter__(self) -> Self:
        if self._is_shown:
            self._show()
        elif self._total > 1:
            _tell(f"{count_of(self._total - self._known, 'run')} to go, about {self._left()}")
        return self

    def tell(self, text: str) -> None:
        """Print a finding at once, also on a pipe."""
        self._clear()
        print(text, end="", flush=True)

    def note(self, run: Run, total: int) -> None:
        """A run has ended; `total` is how many there are as it is known now."""
        self._done += 1
        self._total = total
        self._counts[run.outcome] += 1
        if self._is_shown:
            self._show()
        elif host_elapsed_ms() - self._told_ms >= TELL_EVERY_MS:
            self._told_ms = host_elapsed_ms()
            _tell(self._line())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()
        if kind is not None and not issubclass(kind, Exception):  # pragma: no cover
            return
        if kind is not None:
            _tell(f"stopped after {self._done} of {self._total} runs")

    def _clear(self) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self) -> None:
        print(f"\r\x1b[K{self._line()}", end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        counts = ", ".join(f"{self._counts[outcome]} {outcome}" for outcome in OUTCOMES if self._counts[outcome])
        return f"{self._done} of {self._total} runs{': ' if counts else ''}{counts}, about {self._left()} left"

    def _left(self) -> str:
        fresh = self._done - self._known
        elapsed_seconds = (host_elapsed_ms() - self._began_ms) / 1000
        each = elapsed_seconds / fresh if fresh else self._expected_seconds
        seconds = round(each * (self._total - self._done))
        if self._budget_seconds is not None:
            seconds = min(seconds, max(round(self._budget_seconds - elapsed_seconds), 0))
        return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60:02} s"


def _tell(line: str) -> None:
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)
