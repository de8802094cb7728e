"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and
their report.

Owns the options, the order in which runs begin, and the budget. Findings are printed to
standard output as they are made.
"""

import contextlib
import math
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final, TypeAlias

import click

from image_workflow_emulator.console.progress import Progress
from image_workflow_emulator.console.settings_options import GivenSettings
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.report import Report
from image_workflow_emulator.settings import SettingError, UsageError
from image_workflow_emulator.sweep.candidates import CellsByPlace, cells_of
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.clean_run import findings_of
from image_workflow_emulator.sweep.gate import Gate, Strictness, read_expectations
from image_workflow_emulator.sweep.habits import Habit, habit_of_hanging
from image_workflow_emulator.sweep.planning import CHOICES, Plan, choose
from image_workflow_emulator.sweep.runner import (
    Runner,
    RunnerOptions,
    flags,
    rounds_of,
)
from image_workflow_emulator.sweep.runs import GOOD_OUTCOMES, Run, agreed, is_sure
from image_workflow_emulator.sweep.shards import merged
from image_workflow_emulator.sweep.sweep_report import report_of
from image_workflow_emulator.sweep.swept import Swept
from image_workflow_emulator.sweep.waiting import MAX_IDLE_RUNS, Batch, Waiting

_TERMINAL_BUDGET_SECONDS: Final = 60.0
_TICK_SECONDS: Final = 1.0
_HANGS: Final = 2
"""How often a command hangs for want of a habit before its other cells are not
awaited."""
_Running: TypeAlias = dict[Future[dict[Cell, Run | None]], Batch]


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """What `sweep` is asked for. None: the default, which the help of the command
    tells.
    """

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
    strict: Strictness | None
    shard: tuple[int, int] | None
    """Which part of the plan, of how many."""
    merged_files: Sequence[str]
    least_percent: float
    given: GivenSettings
    """The options of the emulators that it starts."""
    prints_findings: bool


def sweep(options: SweepOptions, environment: Mapping[str, str]) -> Report:
    """Sweep a command.

    Raises UsageError or DocumentError for options and files that cannot be used, a
    clean run that fails, and a pattern that fits no cell; EmulatorError if no emulator
    starts.
    """
    _check_faults(options.faults)
    gate = _gate(options, environment)
    if not options.words:
        return report_of(merged(options.merged_files, gate))
    sweeping = _Sweeping(options, environment, gate)
    stopped_status = 0
    _stop_at_signals()
    with contextlib.closing(sweeping.runner):
        try:
            sweeping.begin()
            sweeping.run()
        except KeyboardInterrupt as early:
            (stopped_status,) = early.args
            sweeping.swept.why_stopped = "the sweep was stopped"
    report = report_of(sweeping.swept)
    report.status = stopped_status or report.status
    return report


def _check_faults(kinds: Sequence[str]) -> None:
    """Check the kinds of faults. Raises SettingError."""
    if not set(kinds) <= set(CHOICES):
        expected = f"some of {', '.join(CHOICES)}, with commas between them"
        raise SettingError("--faults", ",".join(kinds), expected)


def _gate(options: SweepOptions, environment: Mapping[str, str]) -> Gate:
    """Return the gate that was asked for. Raises DocumentError or UnusableFileError."""
    in_ci = environment.get("CI", "").lower()
    usual: Strictness = "recoverable"
    if in_ci in ("", "0", "false"):
        usual = "off"
    return Gate(
        strict=options.strict or usual,
        expectations=read_expectations(options.expected_file),
        least_percent=options.least_percent,
    )


class _Sweeping:
    """A sweep under way."""

    def __init__(
        self,
        options: SweepOptions,
        environment: Mapping[str, str],
        gate: Gate,
    ) -> None:
        self._options = options
        self._budget_seconds = _budget_seconds(options)
        self._jobs = options.jobs or (os.cpu_count() or 1) + 1
        if options.given.settings.port:
            self._jobs = 1  # all runs want the same port
        self.runner = Runner(
            RunnerOptions(
                words=options.words,
                option_texts=options.given.texts,
                environment=environment,
                ignored_rules=options.ignored,
                timeout_seconds=options.timeout_seconds,
            )
        )
        shard = None
        if options.shard is not None:
            number, shard_count = options.shard
            shard = f"{number}/{shard_count}"
        self.swept = Swept(
            plan=Plan(),
            words=options.words,
            repeat=_options_to_repeat(options),
            gate=gate,
            shard=shard,
        )
        self._first_runs: dict[Cell, Run | None] = {}
        """How trials that are tried again ended the first time; None where their test
        had run in the same process before, which may be why they failed.
        """

    # The clean run, and the plan ------------------------------------------------------

    def begin(self) -> None:
        """Do the clean run, and choose what is to be run.

        Raises UsageError if it fails, or there is nothing.
        """
        budget_ms = 1000 * self._budget_seconds
        self._ends_at_ms = host_elapsed_ms() + budget_ms
        self.runner.clean()
        cells_by_place = self._cells_by_place()
        plan = choose(cells_by_place, self._options.only, self._options.faults)
        if not plan.cells:
            raise self._nothing_to_try(cells_by_place)
        number, shard_count = self._options.shard or (1, 1)
        self.swept.plan = plan.shard(number, shard_count)
        self.swept.clean_findings = findings_of(
            self.runner.places,
            self._options.ignored,
        )
        if self._options.merged_files:
            before = merged(self._options.merged_files, self.swept.gate)
            # What had no call is tried again.
            self.swept.runs = {run.trial: run for run in before.tried}

    def _cells_by_place(self) -> CellsByPlace:
        """Return the cells that the clean run shows. Raises UsageError."""
        test = self._options.test
        places = self.runner.places
        journals = {}
        for name, place in places.items():
            if test in (None, name, *place.tests):
                journals[name] = place.journals
        if not journals:
            expected = "a test that has a sandbox"
            raise SettingError("--test", str(test), expected, list(places))
        cells_by_place = cells_of(journals)
        if not any(cells_by_place.values()):
            raise UsageError(
                "the command called no operation: does it use IMAGE_WORKFLOW_BASE_URL?"
            )
        return cells_by_place

    def _nothing_to_try(self, cells_by_place: CellsByPlace) -> SettingError:
        cells: list[str] = []
        for cells_of_place in cells_by_place.values():
            cells += map(str, cells_of_place)
        kinds = ", ".join(self._options.faults) or "all"
        expected = f"a glob that fits a cell of the faults {kinds}"
        only = self._options.only or "*"
        return SettingError("--only", only, expected, cells)

    # The runs with faults -------------------------------------------------------------

    def run(self) -> None:
        """Run what has not been run, until all has ended or the time is over."""
        swept = self.swept
        self._waiting = Waiting(
            swept.without_run,
            self._jobs,
            self.runner.limits,
            self.runner.places,
        )
        prints = self._options.prints_findings
        if len(swept.plan.cells) == 1 and prints:
            self.runner.output = None
        if len(self._waiting) > 1:
            click.echo(f"{len(self._waiting)} cells to try", err=True)
        has_bar = sys.stdout.isatty() and prints and len(self._waiting) > 1
        terminal = None
        if has_bar:
            terminal = sys.stdout
        self._progress = Progress(
            len(swept.plan.cells),
            [run.outcome for run in swept.ended],
            terminal=terminal,
        )
        with self._progress:
            self._run_all()

    def _run_all(self) -> None:
        """Run the cells that are waiting, some at once."""
        running: _Running = {}
        pool = ThreadPoolExecutor(self._jobs + MAX_IDLE_RUNS)
        try:
            while len(self._waiting) or running:
                self._progress.tick()
                self._start_runs(pool, running)
                left_seconds = (self._ends_at_ms - host_elapsed_ms()) / 1000
                if left_seconds <= 0:
                    budget = f"{self._budget_seconds:g} s of --budget"
                    self.swept.why_stopped = f"the {budget} had passed"
                    return
                self._end_runs(running, min(left_seconds, _TICK_SECONDS))
                self._give_up_habits(running)
        finally:
            self.runner.stopped.set()
            pool.shutdown(cancel_futures=True)

    def _start_runs(self, pool: ThreadPoolExecutor, running: _Running) -> None:
        while batch := self._waiting.next_batch(running.values()):
            future = pool.submit(self.runner.run, batch.trials, batch.given_up)
            running[future] = batch
            self.swept.run_count += 1

    def _end_runs(self, running: _Running, seconds: float) -> None:
        """Wait some seconds for the end of runs, and note how their trials ended."""
        ended, _ = wait(running, seconds, FIRST_COMPLETED)
        for future in ended:
            batch = running.pop(future)
            if batch.given_up.is_set():
                continue
            rounds = rounds_of(batch.trials)
            again = list(self._take(future.result(), rounds))
            self._waiting.put_back(again)

    def _take(
        self,
        runs: Mapping[Cell, Run | None],
        rounds: Mapping[Cell, int],
    ) -> Iterator[Cell]:
        """Note and print how trials ended; yield those that have to be tried again."""
        for trial, run in runs.items():
            if run is None:
                # The run ended with another test; else no test began.
                if any(runs.values()):
                    yield trial
            elif trial in self._first_runs:
                self._note(agreed(self._first_runs[trial], run))
            elif self._is_final(run):
                self._note(run)
            else:
                self._first_runs[trial] = run
                if rounds[trial]:
                    self._first_runs[trial] = None
                self.runner.limits.note_second_attempt(trial)
                yield trial

    def _is_final(self, run: Run) -> bool:
        """Tell whether a trial is not tried again. One whose fault had no call is,
        unless that is so of all.
        """
        if run.outcome == "not-struck" and not run.trial.is_of_client:
            return not self.swept.tried
        return is_sure(run)

    def _note(self, run: Run) -> None:
        self.swept.runs[run.trial] = run
        self._print(run)
        self._progress.add(run.outcome)

    # A command that hangs -------------------------------------------------------------

    def _give_up_habits(self, running: _Running) -> None:
        """Do not wait for the cells in which a command will hang, as it lacks a habit
        and hung twice for want of it.
        """
        if not self.runner.is_one_command:
            return
        missing_habits = self._habits_that_are_missing()
        for trial in self.swept.without_run:
            if habit_of_hanging(trial) in missing_habits:
                self.swept.why_left[trial] = "the command hung in two cells like it"
        self._waiting.remove(self.swept.why_left)
        for batch in running.values():
            (trial,) = batch.trials
            if trial in self.swept.why_left:
                batch.given_up.set()

    def _habits_that_are_missing(self) -> set[Habit]:
        """Return the habits for want of which the command hung so often that it is
        known.
        """
        hangs = Counter[Habit]()
        for run in self.swept.ended:
            habit = habit_of_hanging(run.trial)
            is_weakness = self.swept.gate.is_weakness(run)
            if run.outcome == "hung" and habit is not None and is_weakness:
                hangs[habit] += 1
        return {habit for habit, count in hangs.items() if count >= _HANGS}

    # In words -------------------------------------------------------------------------

    def _print(self, run: Run) -> None:
        """Print a run that shows something to fix, or was asked for."""
        is_shown = self.swept.gate.is_weakness(run) or run.is_flaky
        if self._options.only and run.outcome not in GOOD_OUTCOMES:
            is_shown = True
        if not is_shown or not self._options.prints_findings:
            return
        self._progress.clear()
        for line in dict.fromkeys(self._lines_of(run)):
            click.echo(printable(line))

    def _lines_of(self, run: Run) -> Iterator[str]:
        circumstances = f"{run.seconds:.1f} s"
        if run.is_flaky:
            circumstances += ", but not when it was repeated"
        yield f"{run.outcome:8}  {run.cell}  {run.test} ({circumstances})"
        if run.why:
            yield f"  {run.why}"
        for finding in run.findings:
            yield f"  {finding.severity} {finding.rule}: {finding.message}"
        yield f"  {self.swept.line_to_repeat(run.cell, run.test)}"


def _budget_seconds(options: SweepOptions) -> float:
    if options.budget_seconds:
        return options.budget_seconds
    if sys.stdout.isatty():
        return _TERMINAL_BUDGET_SECONDS
    return math.inf


def _options_to_repeat(options: SweepOptions) -> list[str]:
    """Return the options that the command that repeats a cell has to have."""
    words = flags(options.given.typed)
    if options.timeout_seconds is not None:
        words += ["--timeout", f"{options.timeout_seconds:g}"]
    for rule in options.ignored:
        words += ["--ignore", rule]
    return words


def _stop_at_signals() -> None:
    """Let the first SIGINT, SIGTERM or SIGHUP end the sweep by a KeyboardInterrupt with
    its status, and ignore further ones.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, _frame: object) -> None:
        for further in numbers:  # timeout(1) sends two at once
            signal.signal(further, signal.SIG_IGN)
        raise KeyboardInterrupt(128 + number)

    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
