"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and their results.

Owns the order of steps, the file that a sweep is resumed from, and the progress on a terminal. The matrix goes to
standard output, everything else to standard error.
"""

import contextlib
import math
import os
import queue
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec

from emulator.cli.child import signalled_status
from emulator.cli.errors import writable_files, write_file, writing
from emulator.cli.invocation import Invocation
from emulator.cli.output import json_or_page, print_json
from emulator.cli.sweep.calls import NotedCall, NotedWork, calls_of
from emulator.cli.sweep.cells import Cell, plan, sandboxes_of
from emulator.cli.sweep.classes import CHOICES, SweepPlan, choose
from emulator.cli.sweep.gate import Gate, read_expectations
from emulator.cli.sweep.junit import junit_text
from emulator.cli.sweep.matrix import Sweep, as_text, told
from emulator.cli.sweep.page import as_page
from emulator.cli.sweep.progress import Progress
from emulator.cli.sweep.runs import Patience, Run, Runner
from emulator.contract import Contract, load_contract
from emulator.documents.complaints import did_you_mean, nearest
from emulator.documents.values import parse_span_ms
from emulator.domain.problems import CATALOGUE
from emulator.kernel.clock import host_elapsed_ms
from emulator.scenario.matching import BYTE_SURFACES
from emulator.settings import OPTIONS, SettingError, UsageError, read_settings
from emulator.testing.files import read_file
from emulator.web.files import BYTE_CODES

_RESUME_FORMAT: Final = "image-workflow-emulator sweep"


_USUAL_BUDGET_SECONDS: Final = 60.0
_SILENT_RUNS, _SLOW_RUNS = 4, 2
"""For each job: how many runs may wait for an answer that does not come, and how many may take longer than usual."""


class _OutOfTimeError(Exception):
    """Raised when the budget is used up."""


class _Stopped(Exception):
    """Raised at a signal to stop."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@dataclass(frozen=True, slots=True)
class _Choice:
    """The options of a sweep. `budget_seconds` None: as long as it takes."""

    jobs: int
    only: str | None
    faults: tuple[str, ...]
    timeout_seconds: float | None
    budget_seconds: float | None
    gate: Gate
    with_pairs: bool

    @classmethod
    def of(cls, options: Namespace, environment: Mapping[str, str]) -> "_Choice":
        """Read the options. Raises SettingError, and DocumentError or UnusableFileError for the file of expectations."""
        jobs = _positive("--jobs", options.jobs, int, "a whole number from 1") or os.cpu_count() or 1
        timeout = _positive("--timeout", options.timeout, float, "seconds, more than 0")
        budget_ms = _positive("--budget", options.budget, parse_span_ms, "a span such as 60s or 10m")
        faults = tuple(options.faults.split(",")) if options.faults else ()
        if set(faults) - set(CHOICES):
            raise SettingError("--faults", options.faults, f"some of {', '.join(CHOICES)}, with commas between them")
        is_ci = environment.get("CI", "").lower() not in ("", "0", "false")
        gate = Gate(options.strict or ("recoverable" if is_ci else "off"), read_expectations(options.expected))
        usual = _USUAL_BUDGET_SECONDS if sys.stdout.isatty() else None
        budget = usual if budget_ms is None else budget_ms / 1000
        return cls(int(jobs), options.only, faults, timeout, budget, gate, options.pairs)


def sweep(call: Invocation) -> int:
    """Sweep the command of `options.words` and return the exit status.

    Raises UsageError or DocumentError for options and files that cannot be used, a clean run that fails, and a pattern that
    fits no cell; CommandError if the runs cannot be started.
    """
    options, environment = call.options, call.environment
    choice = _Choice.of(options, environment)
    files = writable_files(options, "report", "junit", "resume")
    settings = read_settings(vars(options), environment, {"port": "0"})
    arguments = [*_given_options(options), *([] if settings.clock else ["--clock", "auto"])]
    if settings.port:  # all runs want the same, and so must come one after another
        choice = replace(choice, jobs=1)
    resumed = files.pop("resume", None)
    head = {"format": _RESUME_FORMAT, "command": [*arguments, "--", *options.words], "test": options.test}
    head["timeout_seconds"] = choice.timeout_seconds
    known = _known_runs(resumed, head)
    runner = Runner(arguments, options.words, choice.jobs, options.test)
    try:
        with _stopping_by_signals(), _rows_in(resumed, [head, *known]) as note:
            swept, stopped = _sweep(runner, choice, known, note, call)
    except _Stopped as early:
        print("stopped before the clean run had ended", file=sys.stderr)
        return signalled_status(early.number)
    finally:
        runner.close()
    try:
        if options.format == "json":
            print_json(swept.as_json())
        else:
            print(as_text(swept, call.style), end="", flush=True)
    finally:  # the same Ctrl-C may have ended who reads it
        for name, file in files.items():
            is_junit = name == "junit"
            page = partial(as_page, swept)
            write_file(file, junit_text(swept) if is_junit else json_or_page(file.suffix, swept.as_json(), page))
    if stopped is not None:
        return signalled_status(stopped.number)
    return int(any(map(choice.gate.fails, swept.runs)))


def _sweep(
    runner: Runner,
    choice: _Choice,
    known: Sequence[Run],
    note: Callable[[Run], None],
    call: Invocation,
) -> tuple[Sweep, _Stopped | None]:
    """Run everything; return what came of it, and what stopped it before its end."""
    options = call.options
    clean, noted, output = runner.clean(choice.timeout_seconds)
    if clean.status != 0:
        end = "did not end in time" if clean.status is None else f"exited with status {clean.status}"
        sys.stderr.write(output)
        raise UsageError(f"the command must succeed without a fault; its clean run {end}")
    contract, (calls, works) = load_contract(), calls_of(noted)
    chosen = _chosen(choice, calls, works, contract)
    repeat = [*_given_options(options), *(["--timeout", options.timeout] if options.timeout else [])]
    by_cell = {run.cell: run for run in known}
    runs = {cell: by_cell[str(cell)] for cell in chosen.cells if str(cell) in by_cell}
    for cell in [*runs]:
        chosen.further(cell, runs)
    swept = Sweep(contract, clean, [], chosen, options.words, repeat, choice.gate)
    patience = Patience(clean, choice.timeout_seconds)
    is_shown = len(chosen.cells) == 1 and options.format == "text"
    crew = _Crew(
        choice.jobs,
        lambda cell: runner.strike(cell, patience, sandboxes_of(cell, calls, works), is_shown=is_shown),
    )
    progress = Progress(len(chosen.cells) - len(runs), (clean.seconds + 0.5) / choice.jobs, choice.budget_seconds)
    announced: dict[Cell, tuple[str, bool]] = {}
    style, stopped, why = call.style, None, ""
    try:
        with progress.shown(call.environment):
            crew.add([cell for cell in chosen.cells if cell not in runs])
            for cell, run, is_last in crew.run(choice.budget_seconds):
                is_asked_for = choice.only is not None or cell.group == "readings"
                is_told = choice.gate.is_weakness(run) or run.is_flaky or (is_asked_for and run.outcome != "survived")
                ending = run.outcome, run.is_flaky
                is_known = announced.get(cell) == ending or not (is_last or run.outcome == "failed")
                if options.format == "text" and is_told and not is_known:
                    announced[cell] = ending
                    progress.tell(told(swept, run, style))
                if is_last:
                    runs[cell] = run
                    note(run)
                    further = chosen.further(cell, runs)
                    crew.add(further)
                    progress.note(run, len(further))
    except _Stopped as signalled:
        stopped, why = signalled, "the sweep was stopped"
    except _OutOfTimeError:
        why = f"the {choice.budget_seconds:g} s of --budget had passed"
    ended = [runs[cell] for cell in chosen.cells if cell in runs]
    not_run = [cell for cell in chosen.cells if cell not in runs]
    return replace(swept, runs=ended, not_run=not_run, why_stopped=why), stopped


def _chosen(choice: _Choice, calls: Sequence[NotedCall], works: Sequence[NotedWork], contract: Contract) -> SweepPlan:
    """Return what is to be run. Raises UsageError where there is nothing."""
    codes = {name: operation.all_codes for name, operation in contract.operations.items()}
    codes |= dict.fromkeys(BYTE_SURFACES, BYTE_CODES)
    cells, left_out = plan(
        calls, works, {name: sorted(known, key=list(CATALOGUE).index) for name, known in codes.items()}
    )
    if not calls:
        raise UsageError("the command called no operation of its emulator: is IMAGE_WORKFLOW_BASE_URL what it calls?")
    chosen = choose(cells, left_out, choice.only, choice.faults, contract, with_pairs=choice.with_pairs)
    if len(chosen.left_out) == 1 and not chosen.cells:  # a cell that is named is run
        return choose([chosen.left_out[0].cell], [], choice.only, ("all",), contract)
    if not chosen.cells:
        why = f"; {chosen.left_out[0].cell} is left out: {chosen.left_out[0].why}" if chosen.left_out else ""
        near = nearest(choice.only or "", [str(cell) for cell in cells])
        hint = did_you_mean(near) or f"; the first there is: {cells[0]}"
        raise UsageError(
            f"--only {choice.only!r} fits no cell of the faults {', '.join(choice.faults) or 'all'}{why or hint}"
        )
    return chosen


class _Crew:
    """Runs cells side by side: more than there are jobs, since those that only wait give their places to others."""

    def __init__(self, jobs: int, strike: Callable[[Cell], Iterator[tuple[Run, bool]]]) -> None:
        self._jobs, self._strike = jobs, strike
        self._busy: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        self._silent: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[tuple[Cell, Run | Exception, bool]] = queue.SimpleQueue()
        self._to_go = 0

    def add(self, cells: Sequence[Cell]) -> None:
        """Let further cells be run."""
        self._to_go += len(cells)
        for cell in cells:
            (self._silent if cell.is_silent and self._jobs > 1 else self._busy).put(cell)

    def run(self, budget_seconds: float | None) -> Iterator[tuple[Cell, Run, bool]]:
        """Go through the runs as they end, each with whether it is the last of its cell. Raises _OutOfTimeError."""
        ends_at_ms = host_elapsed_ms() + 1000 * (math.inf if budget_seconds is None else budget_seconds)
        self._start(self._busy, self._jobs if self._jobs == 1 else self._jobs * (1 + _SLOW_RUNS))
        number = 0
        while self._to_go:
            if number == 2 * self._jobs or (number < 2 * self._jobs and self._busy.empty()):
                number = 2 * self._jobs  # the first findings come from runs that end soon
                self._start(self._silent, _SILENT_RUNS * self._jobs)
            left_seconds = max(ends_at_ms - host_elapsed_ms(), 0) / 1000
            try:
                cell, run, is_last = self._ended.get(timeout=None if math.isinf(left_seconds) else left_seconds)
            except queue.Empty:
                raise _OutOfTimeError from None
            if isinstance(run, Exception):
                raise run
            number += 1
            self._to_go -= is_last
            yield cell, run, is_last

    def _start(self, waiting: "queue.SimpleQueue[Cell]", number: int) -> None:
        for _ in range(number):
            threading.Thread(target=self._work, args=(waiting,), daemon=True).start()

    def _work(self, waiting: "queue.SimpleQueue[Cell]") -> None:
        """Run what waits, for as long as the process lives."""
        while True:
            cell = waiting.get()
            try:
                for run, is_last in self._strike(cell):
                    self._ended.put((cell, run, is_last))
            except Exception as error:
                self._ended.put((cell, error, True))


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


@contextmanager
def _rows_in(file: Path | None, rows: Iterable[object]) -> Iterator[Callable[[object], None]]:
    """Write rows to a file anew, and hand out what adds one."""
    name = file or Path(os.devnull)

    def write(row: object) -> None:
        with writing(name):
            target.write(msgspec.json.encode(row) + b"\n")

    with writing(name):
        target = name.open("wb", buffering=0)
    with target:
        for row in rows:
            write(row)
        yield write


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


@contextmanager
def _stopping_by_signals() -> Iterator[None]:
    """Let the first SIGINT, SIGTERM or SIGHUP end the sweep by an exception, and no other one what is done after that."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for further in numbers:  # timeout(1) sends two at once
            before[further] = signal.SIG_IGN
            signal.signal(further, signal.SIG_IGN)
        raise _Stopped(number)

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
