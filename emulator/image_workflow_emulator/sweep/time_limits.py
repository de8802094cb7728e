"""How long a test or a command may take before it counts as hung.

What takes too long is tried again before it counts: on a busy machine most of them are
only slow. Where the client waits for an answer that does not come, no machine is to
blame, and it has that time at once.
"""

from typing import Final

from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.evidence import Place
from image_workflow_emulator.sweep.faults import SLOW_SECONDS

_LEAST_SECONDS: Final = 10.0
_TIMES: Final = 3
"""How many times the longest one so far another may take; it is also how many times as
long it may take at the second attempt."""
_PAUSES: Final = 20
"""How many of its longest pauses a client may make at the second attempt."""


class TimeLimits:
    """The limits of one sweep."""

    def __init__(self, fixed_seconds: float | None) -> None:
        """`fixed_seconds` is the limit that was asked for."""
        self._fixed_seconds = fixed_seconds
        self._longest_seconds = 0.0
        self._pauses_seconds: dict[Cell, float] = {}
        """Of trials that did not end in time: how long their clients may pause."""
        self._second_attempts: set[Cell] = set()

    def note_duration(self, seconds: float) -> None:
        """Note how long a test or command took that ended."""
        self._longest_seconds = max(self._longest_seconds, seconds)

    def note_hung(self, trial: Cell, place: Place) -> None:
        """Note a trial that did not end in time."""
        if not trial.is_silent:
            self._pauses_seconds[trial] = _PAUSES * place.longest_pause_seconds

    def note_second_attempt(self, trial: Cell) -> None:
        """Note that a trial is tried again."""
        self._second_attempts.add(trial)

    def is_second_attempt(self, trial: Cell) -> bool:
        """Tell whether a trial is tried again."""
        return trial in self._second_attempts

    def waits(self, trial: Cell) -> bool:
        """Tell whether the client of a trial is likely to wait, since its fault is
        silent or it hung before.
        """
        return trial.is_silent or trial in self._pauses_seconds

    def seconds(self, trial: Cell) -> float:
        """Return how long a trial may take. The pauses of its client do not count, nor
        does an answer that is late.
        """
        if self._fixed_seconds:
            return self._fixed_seconds
        seconds = max(_LEAST_SECONDS, _TIMES * self._longest_seconds)
        if trial.is_silent or trial in self._second_attempts:
            seconds *= _TIMES
        if trial.is_silent:
            late_seconds = SLOW_SECONDS + 1
            if trial.lasts:
                late_seconds *= _TIMES
            seconds += late_seconds
        return seconds + self._pauses_seconds.get(trial, 0)
