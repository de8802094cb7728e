"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and their report.

Owns the options, the order in which runs begin, and the budget. Findings are printed to standard output as they are made.
"""

import contextlib
import math
import os
import signal
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import FrameType
from typing import Final

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import did_you_mean, nearest
from image_workflow_emulator.documents.values import parse_span_ms
from image_workflow_emulator.domain.problems import BYTE_CODES
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.report import Report
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.settings import OPTIONS, SettingError, UsageError, read_settings
from image_workflow_emulator.sweep.causes import Swept
from image_workflow_emulator.sweep.cells import cells_of
from image_workflow_emulator.sweep.expected import Gate, Strictness, read_expectations
from image_workflow_emulator.sweep.plan import CHOICES, Plan, Trial, choose
from image_workflow_emulator.sweep.runs import Clean, Run, Runner, agreed, flags, is_sure
from image_workflow_emulator.sweep.shards import merged, shard_of

_USUAL_BUDGET_SECONDS: Final = 60.0
_SILENT_RUNS: Final = 8
"""How many runs may wait for an answer that does not come, beside those that work."""
_MAX_ATTEMPTS: Final = 3


class _Stopped(KeyboardInterrupt):
    """Raised at a signal to stop."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def sweep(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Sweep the command of `options.words`.

    Raises UsageError or DocumentError for options and files that cannot be used, a clean run that fails, and a pattern that
    fits no cell; CommandError if the runs cannot be started.
    """
    sweeping, stopped, swept = _Sweeping(options, environment), 0, None
    if not options.words:
        return sweeping.merged().report()
    _stop_at_signals()
    with contextlib.closing(sweeping.runner):
        try:
            swept = sweeping.begun()
            sweeping.run(swept)
        except _Stopped as early:
            stopped = 128 + early.number
    if swept is None:
        return Report(kind="sweep", ok=False, summary="stopped before the clean run had ended", status=stopped)
    if stopped:
        swept.why_stopped = "since the sweep was stopped"
    swept.number = sweeping.runner.number
    report = swept.report()
    report.status = stopped or report.status
    return report


class _Sweeping:
    """A sweep under way."""

    def __init__(self, options: Namespace, environment: Mapping[str, str]) -> None:
        """Read the options. Raises UsageError, and DocumentError or UnusableFileError for files."""
        self._options = options
        self._timeout_seconds = _positive("--timeout", options.timeout, float, "seconds, more than 0")
        self._shard = shard_of(options.shard) if options.shard else None
        self._faults = tuple(options.faults.split(",")) if options.faults else ()
        if set(self._faults) - set(CHOICES):
            raise SettingError("--faults", options.faults, f"some of {', '.join(CHOICES)}, with commas between them")
        budget_ms = _positive("--budget", options.budget, parse_span_ms, "a span such as 60s or 10m")
        usual = _USUAL_BUDGET_SECONDS if sys.stdout.isatty() else math.inf
        self._budget_seconds = usual if budget_ms is None else budget_ms / 1000
        is_ci = environment.get("CI", "").lower() not in ("", "0", "false")
        usual_strictness: Strictness = "recoverable" if is_ci else "off"
        self._gate = Gate(options.strict or usual_strictness, read_expectations(options.expected))
        settings = read_settings(vars(options), environment, {"port": "0", "clock": "auto"})
        jobs = _positive("--jobs", options.jobs, int, "a whole number from 1") or os.cpu_count() or 1
        self._jobs = 1 if settings.port else int(jobs)  # all runs want the same port
        given = {one.field: vars(options).get(one.field) or environment.get(one.variable) for one in OPTIONS}
        typed = {name: value for name, value in vars(options).items() if name in given and value is not None}
        self._repeat = [*flags(typed), *(["--timeout", options.timeout] if self._timeout_seconds else [])]
        self._repeat += [word for rule in options.ignore for word in ("--ignore", rule)]
        emulator = {name: value for name, value in given.items() if value}
        self.runner = Runner(emulator, options.ignore, options.words, self._timeout_seconds, environment)

    def merged(self) -> Swept:
        """Join the reports of shards."""
        swept = merged(self._options.merge, self._gate)
        swept.least_percent = self._options.least
        return swept

    def begun(self) -> Swept:
        """Do the clean run, and choose what is to be run. Raises UsageError if it fails, or there is nothing."""
        self._ends_at_ms = host_elapsed_ms() + 1000 * self._budget_seconds
        clean = self.runner.clean()
        if clean.status != 0:
            end = "did not end in time" if clean.status is None else f"exited with status {clean.status}"
            sys.stderr.write(clean.output)
            raise UsageError(f"the command must succeed without a fault; its clean run {end}")
        plan = self._plan(clean)
        if self._shard is not None:
            plan = plan.shard(*self._shard)
        options = self._options
        swept = Swept(plan, {}, options.words, self._repeat, self._gate, clean.seconds, options.shard, options.least)
        if options.merge:
            known = merged(options.merge, self._gate).runs
            swept.runs = {trial: known[trial] for trial in plan.trials if trial in known}
        return swept

    def _plan(self, clean: Clean) -> Plan:
        contract, only, test = load_contract(), self._options.only, self._options.test
        codes = {name: operation.all_codes for name, operation in contract.operations.items()}
        codes |= dict.fromkeys(BYTE_SURFACES, BYTE_CODES)
        found = {
            place: cells_of(evidence, codes)
            for place, evidence in clean.evidence.items()
            if test is None or test == place or test in clean.places[place].tests
        }
        if test is not None and not found:
            raise SettingError("--test", test, "a test that has a sandbox", list(clean.places))
        if not any(found.values()):
            raise UsageError(
                "the command called no operation of its emulator: is IMAGE_WORKFLOW_BASE_URL what it calls?"
            )
        chosen = choose(found, only, self._faults, contract)
        if chosen.trials:
            return chosen
        hint = did_you_mean(nearest(only or "", [str(cell) for cells in found.values() for cell in cells]))
        raise UsageError(f"--only {only!r} fits no cell of the faults {', '.join(self._faults) or 'all'}{hint}")

    def run(self, swept: Swept) -> None:
        """Run what has not been run, until all has ended or the time is over."""
        waiting = _Waiting(swept.not_run, self._jobs)
        output = None if len(swept.plan.trials) == 1 and self._options.format == "text" else -3  # subprocess.DEVNULL
        if len(swept.not_run) > 1:
            print(f"{len(swept.not_run)} cells to try", file=sys.stderr, flush=True)
        first: dict[Trial, Run] = {}
        runs: dict[Future[dict[Trial, Run | None]], bool] = {}
        pool = ThreadPoolExecutor(self._jobs + _SILENT_RUNS)
        try:
            while True:
                while batch := waiting.next(sum(not silent for silent in runs.values()), sum(runs.values())):
                    attempt = max(waiting.attempts[trial] for trial in batch)
                    future = pool.submit(self.runner.run, batch, attempt, output)
                    runs[future] = batch[0].cell.is_silent
                if not runs:
                    return
                left_seconds = max(self._ends_at_ms - host_elapsed_ms(), 0) / 1000
                ended, _ = wait(runs, None if math.isinf(left_seconds) else left_seconds, FIRST_COMPLETED)
                if not ended:
                    swept.why_stopped = f"since the {self._budget_seconds:g} s of --budget had passed"
                    return
                for future in ended:
                    del runs[future]
                    results = future.result()
                    for trial, run in results.items():
                        if run is not None and (is_sure(run) or trial in first):
                            swept.runs[trial] = agreed(first[trial], run) if trial in first else run
                            self._tell(swept, swept.runs[trial])
                        elif waiting.again(trial, is_new=run is None and any(results.values())) and run is not None:
                            first[trial] = run
        finally:
            self.runner.stop()
            pool.shutdown(cancel_futures=True)

    def _tell(self, swept: Swept, run: Run) -> None:
        """Print a run that shows something to fix, or was asked for."""
        is_found = self._gate.is_weakness(run) or run.is_flaky
        if self._options.format == "text" and (
            is_found or (self._options.only and run.outcome not in ("survived", "noticed"))
        ):
            flaky = ", but not when it was repeated" if run.is_flaky else ""
            lines = [f"{run.outcome:8}  {run.cell}  {run.test} ({run.seconds:.1f} s{flaky})"]
            lines += dict.fromkeys(f"  {one['severity']} {one['rule']}: {one['message']}" for one in run.findings)
            print(*map(printable, [*lines, f"  {swept.line_to_repeat(run.cell, run.test)}"]), sep="\n", flush=True)


class _Waiting:
    """The trials that are to be run. A run has the next of each test; those whose client waits for an answer run apart."""

    def __init__(self, trials: list[Trial], jobs: int) -> None:
        self._trials, self._jobs, self._begun = trials, jobs, 0
        self.attempts: Counter[Trial] = Counter()
        self._most_silent = math.ceil(sum(trial.cell.is_silent for trial in trials) / _SILENT_RUNS)

    def next(self, busy: int, silent: int) -> list[Trial]:
        """Take the trials of the run that may begin beside so many others; empty if none may."""
        may_wait = silent < _SILENT_RUNS and (self._begun >= 2 * self._jobs or not busy)
        batch: list[Trial] = []
        if busy < self._jobs:
            batch = self._of_each_test(is_silent=False)
        if may_wait and not batch:
            batch = self._of_each_test(is_silent=True)[: self._most_silent]
        self._trials = [trial for trial in self._trials if trial not in batch]
        self.attempts.update(batch)
        self._begun += bool(batch)
        return batch

    def _of_each_test(self, *, is_silent: bool) -> list[Trial]:
        found: dict[str, Trial] = {}
        for trial in self._trials:
            if trial.cell.is_silent == is_silent:
                found.setdefault(trial.test, trial)
        return [*found.values()]

    def again(self, trial: Trial, *, is_new: bool) -> bool:
        """Let a trial be run again before the others, as if for the first time if it `is_new`; tell whether that may help."""
        self.attempts[trial] -= is_new
        if self.attempts[trial] >= _MAX_ATTEMPTS:
            return False
        self._trials.insert(0, trial)
        return True


def _positive(flag: str, text: str | None, parse: Callable[[str], float], expected: str) -> float | None:
    """Read an option that may be left out. Raises SettingError."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        if 0 < (number := parse(text)) < math.inf:
            return number
    raise SettingError(flag, text, expected)


def _stop_at_signals() -> None:
    """Let the first SIGINT, SIGTERM or SIGHUP end the sweep by an exception, and no other one what is done after that."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for further in numbers:  # timeout(1) sends two at once
            signal.signal(further, signal.SIG_IGN)
        raise _Stopped(number)

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
