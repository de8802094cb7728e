"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and their report.

Owns the options, the order in which runs begin, and the budget. Findings are printed to standard output as they are
made.
"""

import contextlib
import math
import os
import re
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final

from image_workflow_emulator.documents.values import parse_span_ms
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.report import Report
from image_workflow_emulator.settings import (
    OPTIONS,
    SettingError,
    UsageError,
    read_settings,
)
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


def sweep(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Sweep the command of `options.words`.

    Raises UsageError or DocumentError for options and files that cannot be used, a clean run that fails, and a pattern
    that fits no cell; EmulatorError if no emulator starts.
    """
    sweeping, stopped = _Sweeping(options, environment), 0
    swept = sweeping.swept
    if not options.words:
        return merged(options.merge, swept.gate).report()
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

    def __init__(self, options: Namespace, environment: Mapping[str, str]) -> None:
        """Read the options. Raises UsageError, and DocumentError or UnusableFileError for files."""
        self._options = options
        self._shard = _shard(options.shard or "1/1")
        self._faults = tuple(options.faults.split(",")) if options.faults else ()
        if set(self._faults) - set(CHOICES):
            raise SettingError(
                "--faults",
                options.faults,
                f"some of {', '.join(CHOICES)}, with commas between them",
            )
        budget_ms = _positive(
            "--budget", options.budget, parse_span_ms, "a span such as 60s or 10m"
        )
        self._budget_seconds = (
            budget_ms or (60_000 if sys.stdout.isatty() else math.inf)
        ) / 1000
        is_ci = environment.get("CI", "").lower() not in ("", "0", "false")
        strict = options.strict or ("recoverable" if is_ci else "off")
        gate = Gate(strict, read_expectations(options.expected), options.least)
        settings = read_settings(
            vars(options), environment, {"port": "0", "clock": "auto"}
        )
        jobs = (
            _positive("--jobs", options.jobs, int, "a whole number from 1")
            or (os.cpu_count() or 1) + 1
        )
        self._jobs = 1 if settings.port else int(jobs)  # all runs want the same port
        typed = {
            one.field: value
            for one in OPTIONS
            if (value := vars(options).get(one.field))
        }
        given = {
            one.field: value
            for one in OPTIONS
            if (value := environment.get(one.variable))
        } | typed
        repeat = [
            *flags(typed),
            *(["--timeout", options.timeout] if options.timeout else []),
        ]
        repeat += [word for rule in options.ignore for word in ("--ignore", rule)]
        self.runner = Runner(options, given, environment)
        self.runner.timeout_seconds = _positive(
            "--timeout", options.timeout, float, "seconds, more than 0"
        )
        self.swept = Swept(Plan(), {}, options.words, repeat, gate, options.shard)

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
                "--test", test, "a test that has a sandbox", list(places)
            )
        found = cells_of(journals)
        if not any(found.values()):
            raise UsageError(
                "the command called no operation: does it use IMAGE_WORKFLOW_BASE_URL?"
            )
        plan = choose(found, only, self._faults)
        if not plan.cells:
            kinds, known = (
                ", ".join(self._faults) or "all",
                [str(cell) for cells in found.values() for cell in cells],
            )
            raise SettingError(
                "--only",
                only or "*",
                f"a glob that fits a cell of the faults {kinds}",
                known,
            )
        self.swept.plan = plan.shard(*self._shard)
        if self._options.merge:
            self.swept.runs = merged(self._options.merge, self.swept.gate).runs

    def run(self) -> None:
        """Run what has not been run, until all has ended or the time is over."""
        swept, self._began_at_ms = self.swept, host_elapsed_ms()
        running: dict[Future[dict[Cell, Run | None]], Sequence[Cell]] = {}
        waiting = sorted(
            swept.not_run, key=lambda trial: not (trial.is_silent and trial.lasts)
        )  # these wait longest
        if len(swept.plan.cells) == 1 and self._options.format == "text":
            self.runner.output = None
        if len(waiting) > 1:
            print(f"{len(waiting)} cells to try", file=sys.stderr, flush=True)
        # Two of these runs are for faults that last.
        self._most_waiting = (
            math.ceil(sum(trial.is_silent for trial in waiting) / (_WAITING_RUNS - 2))
            or 1
        )
        pool = ThreadPoolExecutor(self._jobs + _WAITING_RUNS)
        try:
            while waiting or running:
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
        if is_shown and self._options.format == "text":
            flaky = ", but not when it was repeated" if run.is_flaky else ""
            lines = [
                f"{run.outcome:8}  {run.cell}  {run.test} ({run.seconds:.1f} s{flaky})"
            ]
            lines += dict.fromkeys(
                f"  {one['severity']} {one['rule']}: {one['message']}"
                for one in run.findings
            )
            print(
                *map(
                    printable,
                    [*lines, f"  {self.swept.line_to_repeat(run.cell, run.test)}"],
                ),
                sep="\n",
                flush=True,
            )


def _shard(text: str) -> tuple[int, int]:
    """Read `K/N`. Raises SettingError."""
    found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
    if found is None or int(found[1]) > int(found[2]):
        raise SettingError("--shard", text, "K/N such as 2/8, with K from 1 to N")
    return int(found[1]), int(found[2])


def _positive(
    flag: str, text: str | None, parse: Callable[[str], float], expected: str
) -> float | None:
    """Read an option that may be left out. Raises SettingError."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        if 0 < (number := parse(text)) < math.inf:
            return number
    raise SettingError(flag, text, expected)


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
