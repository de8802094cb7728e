"""The trials that wait for a run, and which of them the next run tries.

A run whose client waits for an answer takes time and no processor. So it does not count
as one of the jobs, and has a run of its own.
"""

import math
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.time_limits import TimeLimits

MAX_IDLE_RUNS: Final = 8
"""How many runs may wait for an answer that does not come, beside those that work."""
_IDLE_RUNS_OF_LASTING: Final = 2
"""How many of these are for faults that last."""
_STEP_MS: Final = 1000.0
"""How long after one of them the next may begin, so that the first findings come early."""


class Batch(Struct, eq=False):
    """The trials of one run, each of another test."""

    trials: Sequence[Cell]
    is_idle: bool
    """Whether its clients wait."""
    given_up: threading.Event = field(default_factory=threading.Event)
    """Ends its run."""


class Waiting:
    """The trials that wait, in the order in which they are to be tried."""

    def __init__(self, trials: Iterable[Cell], jobs: int, limits: TimeLimits) -> None:
        self._jobs = jobs
        self._limits = limits
        # Silent faults that last take longest.
        self._trials = sorted(
            trials, key=lambda trial: not (trial.is_silent and trial.lasts)
        )
        silent = sum(trial.is_silent for trial in self._trials)
        runs = MAX_IDLE_RUNS - _IDLE_RUNS_OF_LASTING
        self._most_in_an_idle_run = max(1, math.ceil(silent / runs))
        self._began_at_ms = host_elapsed_ms()

    def __len__(self) -> int:
        return len(self._trials)

    def put_back(self, trials: Iterable[Cell]) -> None:
        """Let trials be tried again, before the others."""
        self._trials[:0] = trials

    def remove(self, trials: Collection[Cell]) -> None:
        """Let trials wait no more."""
        self._trials = [trial for trial in self._trials if trial not in trials]

    def next_batch(self, running: Collection[Batch]) -> Batch | None:
        """Take the trials of the next run; None if none may begin beside those that are
        running.
        """
        idle = [trial for trial in self._trials if self._limits.waits(trial)]
        working = [trial for trial in self._trials if not self._limits.waits(trial)]
        idle_runs = sum(batch.is_idle for batch in running)
        if working and len(running) - idle_runs < self._jobs:
            return self._take(working, len(working), is_idle=False)
        if idle and idle_runs < self._most_idle_runs(is_busy=bool(working)):
            most = 1 if idle[0].lasts else self._most_in_an_idle_run
            return self._take(idle, most, is_idle=True)
        return None

    def _most_idle_runs(self, *, is_busy: bool) -> int:
        if not is_busy:
            return MAX_IDLE_RUNS
        steps = (host_elapsed_ms() - self._began_at_ms) // _STEP_MS
        return min(int(steps), MAX_IDLE_RUNS)

    def _take(self, trials: Sequence[Cell], most: int, *, is_idle: bool) -> Batch:
        """Take the first trial of each test, of so many tests at most."""
        firsts: dict[str, Cell] = {}
        for trial in trials:
            firsts.setdefault(trial.test, trial)
        batch = Batch(list(firsts.values())[:most], is_idle)
        self.remove(batch.trials)
        return batch
