"""The trials that wait for a run, and which of them the next run tries.

A run whose client waits for an answer takes time and no processor. So it does not count
as one of the jobs, and has a run of its own.
"""

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.evidence import Place
from image_workflow_emulator.sweep.time_limits import TimeLimits

MAX_IDLE_RUNS: Final = 8
"""How many runs may wait for an answer that does not come, beside those that work."""
_IDLE_RUNS_OF_LASTING: Final = 2
"""How many of these are for faults that last."""
_MOST_ROUNDS: Final = 16
"""How often a run repeats a test at most."""
_STEP_MS: Final = 1000.0
"""How long after one of them the next may begin, so that the first findings come
early."""


class Batch(Struct, eq=False):
    """The trials of one run."""

    trials: Sequence[Cell]
    is_idle: bool
    """Whether its clients wait."""
    given_up: threading.Event = field(default_factory=threading.Event)
    """Ends its run."""


class Waiting:
    """The trials that wait, in the order in which they are to be tried."""

    def __init__(
        self,
        trials: Iterable[Cell],
        jobs: int,
        limits: TimeLimits,
        places: Mapping[str, Place],
    ) -> None:
        """`places` are those of the clean run."""
        self._jobs = jobs
        self._repeatable = {
            name for name, place in places.items() if place.is_repeatable(name)
        }
        self._most_rounds = 1
        """How often the next run may repeat a test. It doubles with each run: the first
        findings come early."""
        self._limits = limits
        self._trials = sorted(trials, key=_is_short)
        silent_count = sum(trial.is_silent for trial in self._trials)
        idle_runs = MAX_IDLE_RUNS - _IDLE_RUNS_OF_LASTING
        self._most_in_an_idle_run = max(1, math.ceil(silent_count / idle_runs))
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
        working_runs = len(running) - idle_runs
        if working and working_runs < self._jobs:
            return self._take_working(working)
        if idle and idle_runs < self._most_idle_runs(is_busy=bool(working)):
            return self._take_idle(idle)
        return None

    def _most_idle_runs(self, *, is_busy: bool) -> int:
        if not is_busy:
            return MAX_IDLE_RUNS
        steps = (host_elapsed_ms() - self._began_at_ms) // _STEP_MS
        return min(int(steps), MAX_IDLE_RUNS)

    def _take_working(self, trials: Sequence[Cell]) -> Batch:
        """Take the first trials of each test, in as many rounds."""
        most_of_a_test = max(Counter(trial.test for trial in trials).values())
        fair_share = math.ceil(most_of_a_test / self._jobs)
        rounds = min(self._most_rounds, fair_share)
        self._most_rounds = min(2 * self._most_rounds, _MOST_ROUNDS)
        taken: list[Cell] = []
        taken_by_test = Counter[str]()
        for trial in trials:
            if taken_by_test[trial.test] < self._most_of(trial, rounds):
                taken_by_test[trial.test] += 1
                taken.append(trial)
        self.remove(taken)
        return Batch(taken, is_idle=False)

    def _most_of(self, trial: Cell, rounds: int) -> int:
        """Return the round up to which a trial may be tried. A second attempt is in the
        first one, where no test has run before in the same process.
        """
        is_second = self._limits.is_second_attempt(trial)
        if is_second or trial.test not in self._repeatable:
            return 1
        return rounds

    def _take_idle(self, trials: Sequence[Cell]) -> Batch:
        """Take the first trial of each test; one that lasts has a run of its own."""
        most = self._most_in_an_idle_run
        if trials[0].lasts:
            most = 1
        first_of_test: dict[str, Cell] = {}
        for trial in trials:
            first_of_test.setdefault(trial.test, trial)
        taken = list(first_of_test.values())[:most]
        self.remove(taken)
        return Batch(taken, is_idle=True)


def _is_short(trial: Cell) -> bool:
    """Tell whether a trial may come later: silent faults that last take longest."""
    return not (trial.is_silent and trial.lasts)
