"""The progress of a sweep: one line on a terminal, which goes with the last run; elsewhere one at the beginning, and now and then."""

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Final

from emulator.cli.invocation import Style
from emulator.cli.sweep.runs import OUTCOMES, Run
from emulator.kernel.clock import host_elapsed_ms
from emulator.kernel.wording import count_of

TELL_EVERY_MS: Final = 30_000.0
"""How much time lies between two lines where there is no terminal."""
_CLEAR: Final = "\r\x1b[K"


class Progress:
    """How many runs have ended, by outcome, and how long the others will take: `each_seconds`, until some have."""

    def __init__(self, total: int, each_seconds: float, budget_seconds: float, environment: Mapping[str, str]) -> None:
        self._total, self._each_seconds, self._budget_seconds = total, each_seconds, budget_seconds
        self._counts: Counter[str] = Counter()
        self._is_terminal = Style(sys.stderr, environment).is_seen
        self._began_ms = self._told_ms = host_elapsed_ms()
        if self._is_terminal:
            self._print(_CLEAR + self._line())
        elif total > 1:
            self._print(f"{count_of(total, 'run')} to go, about {self._left()}\n")

    def tell(self, text: str) -> None:
        """Print a finding at once, also on a pipe."""
        self.clear()
        print(text, end="", flush=True)

    def note(self, run: Run, further: int = 0) -> None:
        """A run has ended, and so many more are to be run."""
        self._counts[run.outcome] += 1
        self._total += further
        if self._is_terminal:
            self._print(_CLEAR + self._line())
        elif host_elapsed_ms() - self._told_ms >= TELL_EVERY_MS:
            self._told_ms = host_elapsed_ms()
            self._print(f"{self._line()}\n")

    def clear(self) -> None:
        """Take the line away."""
        if self._is_terminal:
            self._print(_CLEAR)

    def _print(self, text: str) -> None:
        if sys.stderr is not None:
            print(text, end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        counts = ", ".join(f"{self._counts[outcome]} {outcome}" for outcome in OUTCOMES if self._counts[outcome])
        colon = ": " if counts else ""
        return f"{self._counts.total()} of {self._total} runs{colon}{counts}, about {self._left()} left"

    def _left(self) -> str:
        elapsed_seconds, done = (host_elapsed_ms() - self._began_ms) / 1000, self._counts.total()
        needed_seconds = (elapsed_seconds / done if done else self._each_seconds) * (self._total - done)
        seconds = round(min(needed_seconds, max(self._budget_seconds - elapsed_seconds, 0)))
        return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60:02} s"
