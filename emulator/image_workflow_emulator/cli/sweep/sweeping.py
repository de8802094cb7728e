"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and their results.

Owns the order of steps, the file that a sweep is resumed from, and the progress on a terminal. The matrix goes to
standard output, everything else to standard error.
"""

import contextlib
import math
import os
import signal
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec

from image_workflow_emulator.cli.child import signalled_status
from image_workflow_emulator.cli.failures import writable_files, writing
from image_workflow_emulator.cli.invocation import Invocation, Style, json_or_page, print_json
from image_workflow_emulator.cli.sweep.cells import every_cell, sandboxes_of
from image_workflow_emulator.cli.sweep.gate import Gate, Strictness, read_expectations
from image_workflow_emulator.cli.sweep.matrix import Sweep, as_junit, as_text, told
from image_workflow_emulator.cli.sweep.notes import Noted
from image_workflow_emulator.cli.sweep.page import as_page
from image_workflow_emulator.cli.sweep.plan import CHOICES, SweepPlan, choose
from image_workflow_emulator.cli.sweep.runs import OUTCOMES, Run, Runner
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.complaints import did_you_mean, nearest
from image_workflow_emulator.documents.values import parse_span_ms
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.settings import OPTIONS, SettingError, UsageError, read_settings
from image_workflow_emulator.testing.options import read_file, write_file
from image_workflow_emulator.web.files import BYTE_CODES

_RESUME_FORMAT: Final = "image-workflow-emulator sweep"
_USUAL_BUDGET_SECONDS: Final = 60.0


TELL_EVERY_MS: Final = 30_000.0
"""How much time lies between two lines of progress where there is no terminal."""
_CLEAR: Final = "\r\x1b[K"


class _Stopped(KeyboardInterrupt):
    """Raised at a signal to stop."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def sweep(call: Invocation) -> int:
    """Sweep the command of `options.words` and return the exit status.

    Raises UsageError or DocumentError for options and files that cannot be used, a clean run that fails, and a pattern that
    fits no cell; CommandError if the runs cannot be started.
    """
    sweeping, stopped = _Sweeping(call), None
    _stop_at_signals()
    try:
        with contextlib.closing(sweeping.runner):
            swept = sweeping.begun()
            try:
                sweeping.run(swept)
            except _Stopped as early:
                stopped, swept.why_stopped = early, "the sweep was stopped"
    except _Stopped as early:
        print("stopped before the clean run had ended", file=sys.stderr)
        return signalled_status(early.number)
    try:
        if call.options.format == "json":
            print_json(swept.as_json())
        else:
            print(as_text(swept, call.style), end="", flush=True)
    finally:  # the same Ctrl-C may have ended who reads it
        for name, file in sweeping.files.items():
            page = json_or_page(file.suffix, swept.as_json(), lambda: as_page(swept))
            write_file(file, as_junit(swept) if name == "junit" else page)
    if stopped is not None:
        return signalled_status(stopped.number)
    return int(any(map(swept.gate.fails, swept.runs)))


class _Sweeping:
    """A sweep under way."""

    def __init__(self, call: Invocation) -> None:
        """Read the options. Raises UsageError, and DocumentError or UnusableFileError for files."""
        options, environment = call.options, call.environment
        self._call, self._options = call, options
        self._timeout_seconds = _positive("--timeout", options.timeout, float, "seconds, more than 0")
        self._faults = tuple(options.faults.split(",")) if options.faults else ()
        if set(self._faults) - set(CHOICES):
            raise SettingError("--faults", options.faults, f"some of {', '.join(CHOICES)}, with commas between them")
        budget_ms = _positive("--budget", options.budget, parse_span_ms, "a span such as 60s or 10m")
        usual = _USUAL_BUDGET_SECONDS if sys.stdout.isatty() else math.inf
        self._budget_seconds = usual if budget_ms is None else budget_ms / 1000
        is_ci = environment.get("CI", "").lower() not in ("", "0", "false")
        usual_strictness: Strictness = "recoverable" if is_ci else "off"
        self._gate = Gate(options.strict or usual_strictness, read_expectations(options.expected))
        settings = read_settings(vars(options), environment, {"port": "0"})
        jobs = _positive("--jobs", options.jobs, int, "a whole number from 1") or os.cpu_count() or 1
        self._jobs = (
            1 if settings.port else int(jobs)
        )  # all runs want the same port, and so must come one after another
        self.files = writable_files(options, "report", "junit", "resume")
        self._resumed = self.files.pop("resume", None)
        self._given = _given_options(options)
        arguments = [*self._given, *([] if settings.clock else ["--clock", "auto"])]
        head = {"format": _RESUME_FORMAT, "command": [*arguments, "--", *options.words], "test": options.test}
        head["timeout_seconds"] = self._timeout_seconds
        self._known = _known_runs(self._resumed, head)
        self._write_rows("wb", head, *self._known)
        self.runner = Runner(arguments, options.words, self._jobs, options.test, self._timeout_seconds)

    def begun(self) -> Sweep:
        """Do the clean run, and choose what is to be run. Raises UsageError if it fails, or there is nothing."""
        clean, self._noted, output = self.runner.clean()
        if clean.status != 0:
            end = "did not end in time" if clean.status is None else f"exited with status {clean.status}"
            sys.stderr.write(output)
            raise UsageError(f"the command must succeed without a fault; its clean run {end}")
        plan = self._plan(self._noted)
        for run in self._known:
            if run.cell in plan.cells:
                plan.runs[run.cell] = run
        for run in plan.ended:
            plan.note(run)
        repeat = [*self._given, *(["--timeout", self._options.timeout] if self._timeout_seconds else [])]
        return Sweep(load_contract(), clean, plan, self._options.words, repeat, self._gate)

    def _plan(self, noted: Noted) -> SweepPlan:
        contract, only = load_contract(), self._options.only
        codes = {name: operation.all_codes for name, operation in contract.operations.items()}
        cells = every_cell(noted, {**codes, **dict.fromkeys(BYTE_SURFACES, BYTE_CODES)})
        if not noted.calls:
            raise UsageError(
                "the command called no operation of its emulator: is IMAGE_WORKFLOW_BASE_URL what it calls?"
            )
        chosen = choose(cells, only, self._faults, contract, with_pairs=self._options.pairs)
        if len(chosen.left_out) == 1 and not chosen.cells:  # a cell that is named is run
            return choose(dict.fromkeys(chosen.left_out, ""), only, ("all",), contract)
        if not chosen.cells:
            why = "".join(f"; {cell} is left out: {why}" for cell, why in [*chosen.left_out.items()][:1])
            names = [str(cell) for cell, why in cells.items() if not why]
            hint = why or did_you_mean(nearest(only or "", names)) or f"; the first there is: {names[0]}"
            raise UsageError(f"--only {only!r} fits no cell of the faults {', '.join(self._faults) or 'all'}{hint}")
        return chosen

    def run(self, swept: Sweep) -> None:
        """Run what has not been run, until all has ended or the time is over."""
        plan, jobs, style = swept.plan, self._jobs, self._call.style
        is_shown = len(plan.cells) == 1 and self._options.format == "text"
        ends_at_ms = host_elapsed_ms() + 1000 * self._budget_seconds
        runs: set[Future[Run]] = set()
        waiting, silent, number = plan.not_run, [], 0
        each_seconds = (swept.clean.seconds + 0.5) / jobs
        progress = Progress(len(waiting), each_seconds, self._budget_seconds, self._call.environment)
        try:
            while True:
                silent += [cell for cell in waiting if cell.is_silent]
                ready = [cell for cell in waiting if not cell.is_silent]
                if number >= 2 * jobs or not (runs or ready):  # the first findings come from runs that end soon
                    ready, silent = ready + silent, []
                for cell in ready:
                    runs.add(self.runner.begin(cell, sandboxes_of(cell, self._noted), is_shown=is_shown))
                if not runs:
                    return
                left_seconds = max(ends_at_ms - host_elapsed_ms(), 0) / 1000
                ended, runs = wait(runs, None if math.isinf(left_seconds) else left_seconds, FIRST_COMPLETED)
                if not ended:
                    swept.why_stopped = f"the {self._budget_seconds:g} s of --budget had passed"
                    return
                waiting, number = [], number + len(ended)
                for run in (future.result() for future in ended):
                    if self._is_told(run):
                        progress.tell(told(swept, run, style))
                    self._write_rows("ab", run)
                    further = plan.note(run)
                    progress.note(run, len(further))
                    waiting += further
        finally:
            progress.clear()
            self.runner.stop()

    def _is_told(self, run: Run) -> bool:
        """Tell whether a run is told at once: it shows something to fix, or is asked for."""
        is_asked_for = self._options.only is not None or run.cell.group == "readings"
        is_found = self._gate.is_weakness(run) or run.is_flaky or (is_asked_for and run.outcome != "survived")
        return is_found and self._options.format == "text"

    def _write_rows(self, mode: str, *rows: object) -> None:
        """Write rows to the file that a sweep is resumed from. Raises UsageError."""
        if self._resumed is not None:
            with writing(self._resumed), self._resumed.open(mode) as file:
                file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


class Progress:
    """How many runs have ended, by outcome, and how long the others will take: `each_seconds`, until some have.

    It is one line on a terminal, which goes with the last run; elsewhere one at the beginning, and now and then.
    """

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


def _known_runs(file: Path | None, head: Mapping[str, Any]) -> list[Run]:
    """Return the runs in the file that a sweep is resumed from, below its head. Raises UsageError if it is another sweep's."""
    if file is None or not file.exists() or not file.stat().st_size:
        return []
    first, *lines = read_file(file).splitlines()
    found: list[Any] = []
    with contextlib.suppress(ValueError):  # the file was broken off there
        found.append(msgspec.json.decode(first))
        found.extend(msgspec.json.decode(line, type=Run) for line in lines)
    if found[:1] != [head]:
        raise SettingError("--resume", str(file), "a file of a sweep with this command and these options")
    return [run for run in found[1:] if run.outcome != "hung"]  # the machine may have been busy


def _positive(flag: str, text: str | None, parse: Callable[[str], float], expected: str) -> float | None:
    """Read an option that may be left out. Raises SettingError."""
    if text is None:
        return None
    with contextlib.suppress(ValueError):
        if 0 < (number := parse(text)) < math.inf:
            return number
    raise SettingError(flag, text, expected)


def _given_options(options: Namespace) -> list[str]:
    """Return the options that every run has to have, as they were typed."""
    given = [word for rule in options.ignore for word in ("--ignore", rule)]
    for option in OPTIONS:
        value = getattr(options, option.field)
        for text in value if isinstance(value, list) else [] if value is None else [value]:
            given += [option.flag, text]
    return given


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
