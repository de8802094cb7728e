"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and their report.

Owns the options, the order in which runs begin, and the budget. Findings are printed to standard output as they are
made.
"""

import contextlib
import math
import os
import signal
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from image_workflow_emulator.console.progress import Progress
from image_workflow_emulator.console.settings_options import GivenSettings
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.report import Report
from image_workflow_emulator.settings import SettingError, UsageError
from image_workflow_emulator.sweep.cells import CHOICES, Cell, Plan, cells_of, choose
from image_workflow_emulator.sweep.runs import Run, Runner, agreed, flags, is_sure
from image_workflow_emulator.sweep.sweep_report import (
    Gate,
    Swept,
    merged,
    read_expectations,
)

_WAITING_RUNS: Final = 8
"""How many runs may wait for an answer that does not come, beside those that work."""
_STEP_SECONDS: Final = 1.0
"""How long after one of them the next may begin, so that the first findings come early."""


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What `sweep` is asked for. None: the default, which the help of the command tells."""

    words: Sequence[str]
    """The command; none where reports are only merged."""
    jobs: int | None
    only: str | None
    test: str | None
    faults: Sequence[str]
    timeout_seconds: float | None
    budget_seconds: float | None
    ignored: Sequence[str]
    expected_file: str | None
    strict: str | None
    shard: tuple[int, int] | None
    """Which part of the plan, of how many."""
    merged_files: Sequence[str]
    least_percent: float
    given: GivenSettings
    """The options of the emulators that it starts."""
    prints_findings: bool


def sweep(options: SweepOptions, environment: Mapping[str, str]) -> Report:
    """Sweep a command.

    Raises UsageError or DocumentError for options and files that cannot be used, a clean run that fails, and a pattern
    that fits no cell; EmulatorError if no emulator starts.
    """
    sweeping, stopped = _Sweeping(options, environment), 0
    swept = sweeping.swept
    if not options.words:
        return merged(options.merged_files, swept.gate).report()
    _stop_at_signals()
    with contextlib.closing(sweeping.runner):
        try:
            sweeping.begin()
            sweeping.run()
        except KeyboardInterrupt as early:
            (stopped,) = early.args
            swept.why_stopped = "since the sweep was stopped"
    report = swept.report()
    report.status = stopped or report.status
    return report


class _Sweeping:
    """A sweep under way."""

    def __init__(self, options: SweepOptions, environment: Mapping[str, str]) -> None:
        """Read the options. Raises UsageError, and DocumentError or UnusableFileError for files."""
        self._options = options
        if set(options.faults) - set(CHOICES):
            expected = f"some of {', '.join(CHOICES)}, with commas between them"
            raise SettingError("--faults", ",".join(options.faults), expected)
        usual_seconds = 60.0 if sys.stdout.isatty() else math.inf
        self._budget_seconds = options.budget_seconds or usual_seconds
        is_ci = environment.get("CI", "").lower() not in ("", "0", "false")
        strict = options.strict or ("recoverable" if is_ci else "off")
        gate = Gate(
            strict, read_expectations(options.expected_file), options.least_percent
        )
        given = options.given
        self._jobs = options.jobs or (os.cpu_count() or 1) + 1
        if given.settings.port:
            self._jobs = 1  # all runs want the same port
        repeat = flags(given.typed)
        if options.timeout_seconds is not None:
            repeat += ["--timeout", f"{options.timeout_seconds:g}"]
        for rule in options.ignored:
            repeat += ["--ignore", rule]
        self.runner = Runner(options.words, options.ignored, given.texts, environment)
        self.runner.timeout_seconds = options.timeout_seconds
        shard = None if options.shard is None else "{}/{}".format(*options.shard)
        self.swept = Swept(Plan(), {}, options.words, repeat, gate, shard)

    def begin(self) -> None:
        """Do the clean run, and choose what is to be run. Raises UsageError if it fails, or there is nothing."""
        self._ends_at_ms = host_elapsed_ms() + 1000 * self._budget_seconds
        self.runner.clean()
        only, test, places = self._options.only, self._options.test, self.runner.places
        journals = {
            name: place.journals
            for name, place in places.items()
            if test in (None, name, *place.tests)
        }
        if not journals:
            raise SettingError(
                "--test", str(test), "a test that has a sandbox", list(places)
            )
        found = cells_of(journals)
        if not any(found.values()):
            raise UsageError(
                "the command called no operation: does it use IMAGE_WORKFLOW_BASE_URL?"
            )
        plan = choose(found, only, self._options.faults)
        if not plan.cells:
            kinds, known = (
                ", ".join(self._options.faults) or "all",
                [str(cell) for cells in found.values() for cell in cells],
            )
            raise SettingError(
                "--only",
                only or "*",
                f"a glob that fits a cell of the faults {kinds}",
                known,
            )
        self.swept.plan = plan.shard(*(self._options.shard or (1, 1)))
        if self._options.merged_files:
            self.swept.runs = merged(self._options.merged_files, self.swept.gate).runs

    def run(self) -> None:
        """Run what has not been run, until all has ended or the time is over."""
        swept, self._began_at_ms = self.swept, host_elapsed_ms()
        waiting = sorted(
            swept.not_run, key=lambda trial: not (trial.is_silent and trial.lasts)
        )  # these wait longest
        if len(swept.plan.cells) == 1 and self._options.prints_findings:
            self.runner.output = None
        if len(waiting) > 1:
            print(f"{len(waiting)} cells to try", file=sys.stderr, flush=True)
        # Two of these runs are for faults that last.
        self._most_waiting = (
            math.ceil(sum(trial.is_silent for trial in waiting) / (_WAITING_RUNS - 2))
            or 1
        )
        has_bar = (
            sys.stdout.isatty() and self._options.prints_findings and len(waiting) > 1
        )
        outcomes = [run.outcome for run in swept.ended]
        terminal = sys.stdout if has_bar else None
        with Progress(
            len(swept.plan.cells), outcomes, terminal=terminal
        ) as self._progress:
            self._run_all(waiting)

    def _run_all(self, waiting: list[Cell]) -> None:
        """Run the cells that are waiting, some at once."""
        swept = self.swept
        running: dict[Future[dict[Cell, Run | None]], Sequence[Cell]] = {}
        pool = ThreadPoolExecutor(self._jobs + _WAITING_RUNS)
        try:
            while waiting or running:
                self._progress.tick()
                while batch := self._batch(waiting, running.values()):
                    running[pool.submit(self.runner.run, batch)] = batch
                    swept.number += 1
                left_seconds = (self._ends_at_ms - host_elapsed_ms()) / 1000
                if left_seconds <= 0:
                    swept.why_stopped = (
                        f"since the {self._budget_seconds:g} s of --budget had passed"
                    )
                    return
                for future in wait(
                    running, min(left_seconds, _STEP_SECONDS), FIRST_COMPLETED
                ).done:
                    del running[future]
                    waiting[:0] = self._take(future.result())
        finally:
            self.runner.stopped.set()
            pool.shutdown(cancel_futures=True)

    def _take(self, runs: Mapping[Cell, Run | None]) -> Iterator[Cell]:
        """Note and print how trials ended; yield those that have to be tried again."""
        first = self.runner.first
        for trial, run in runs.items():
            if run is None:
                if any(
                    runs.values()
                ):  # the run ended with another test; else no test began
                    yield trial
            elif trial in first or is_sure(run):
                self.swept.runs[trial] = (
                    agreed(first[trial], run) if trial in first else run
                )
                self._tell(self.swept.runs[trial])
                self._progress.add(self.swept.runs[trial].outcome)
            else:
                first[trial] = run
                yield trial

    def _batch(
        self, waiting: list[Cell], running: Collection[Sequence[Cell]]
    ) -> list[Cell]:
        """Take the trials of the next run, one of each test; empty if none may begin beside those that are `running`.

        Those whose client waits have runs of their own.
        """
        waits = [trial for trial in waiting if self.runner.waits(trial)]
        works = [trial for trial in waiting if not self.runner.waits(trial)]
        idle = sum(self.runner.waits(batch[0]) for batch in running)
        steps = (host_elapsed_ms() - self._began_at_ms) // (1000 * _STEP_SECONDS)
        if works and len(running) - idle < self._jobs:
            trials, most = works, len(works)
        elif waits and idle < (min(steps, _WAITING_RUNS) if works else _WAITING_RUNS):
            trials, most = waits, 1 if waits[0].lasts else self._most_waiting
        else:
            return []
        first = {trial.test: trial for trial in reversed(trials)}
        batch = [trial for trial in trials if trial is first[trial.test]][:most]
        waiting[:] = [trial for trial in waiting if trial not in batch]
        return batch

    def _tell(self, run: Run) -> None:
        """Print a run that shows something to fix, or was asked for."""
        is_shown = self.swept.gate.is_weakness(run) or run.is_flaky
        is_shown |= bool(self._options.only) and run.outcome not in (
            "survived",
            "noticed",
        )
        if is_shown and self._options.prints_findings:
            flaky = ", but not when it was repeated" if run.is_flaky else ""
            lines = [
                f"{run.outcome:8}  {run.cell}  {run.test} ({run.seconds:.1f} s{flaky})"
            ]
            lines += dict.fromkeys(
                f"  {one['severity']} {one['rule']}: {one['message']}"
                for one in run.findings
            )
            self._progress.clear()
            print(
                *map(
                    printable,
                    [*lines, f"  {self.swept.line_to_repeat(run.cell, run.test)}"],
                ),
                sep="\n",
                flush=True,
            )


def _stop_at_signals() -> None:
    """Let the first SIGINT, SIGTERM or SIGHUP end the sweep by a KeyboardInterrupt with its number, and ignore further
    ones.
    """

    def stop(number: int, _frame: object) -> None:
        for further in numbers:  # timeout(1) sends two at once
            signal.signal(further, signal.SIG_IGN)
        raise KeyboardInterrupt(128 + number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
