"""The `sweep` command: a clean run, a plan, the runs of the plan side by side, and their results.

Owns the order of steps, the file that a sweep is resumed from, and the progress on a terminal. The matrix goes to
standard output, everything else to standard error.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import FrameType
from typing import Any, Final

from emulator.cli.child import signalled_status
from emulator.cli.errors import writable_file, writing
from emulator.cli.output import out
from emulator.cli.sweep.calls import Call, Work, calls_of
from emulator.cli.sweep.cells import GROUPS, Cell, LeftOut, plan, sandboxes_of
from emulator.cli.sweep.matrix import Sweep, as_text
from emulator.cli.sweep.progress import Progress
from emulator.cli.sweep.runs import Patience, Run, Runner
from emulator.contract import Contract, load_contract
from emulator.documents.complaints import did_you_mean, nearest
from emulator.domain.problems import CATALOGUE
from emulator.scenario.matching import BYTE_SURFACES
from emulator.settings import OPTIONS, SettingError, UsageError, read_settings
from emulator.testing.files import read_file
from emulator.web.files import BYTE_CODES

_RESUME_FORMAT: Final = "image-workflow-emulator sweep"


class _Stopped(Exception):
    """Raised at a signal to stop."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@dataclass(frozen=True, slots=True)
class _Choice:
    """The options of a sweep."""

    jobs: int
    only: str
    groups: tuple[str, ...]
    timeout_seconds: float | None

    @classmethod
    def of(cls, options: Namespace) -> "_Choice":
        """Read the options. Raises SettingError."""
        jobs = _number("--jobs", options.jobs, int, "a whole number from 1") if options.jobs else os.cpu_count() or 1
        timeout = _number("--timeout", options.timeout, float, "seconds, more than 0") if options.timeout else None
        groups = tuple(options.faults.split(",")) if options.faults else GROUPS
        if set(groups) - set(GROUPS):
            raise SettingError("--faults", options.faults, f"some of {', '.join(GROUPS)}, with commas between them")
        return cls(int(jobs), options.only or "*", groups, timeout)

    def means(self, cell: Cell) -> bool:
        """Tell whether a cell was asked for."""
        return cell.group in self.groups and fnmatchcase(str(cell), self.only)


def sweep(options: Namespace, environment: Mapping[str, str]) -> int:
    """Sweep the command of `options.words` and return the exit status.

    Raises UsageError or DocumentError for options and files that cannot be used, a clean run that fails, and a pattern that
    fits no cell; CommandError if the runs cannot be started.
    """
    choice = _Choice.of(options)
    report_file = writable_file("--report", options.report)
    arguments = _exec_options(options, environment)
    if _has_fixed_port(options, environment):
        choice = _Choice(1, choice.only, choice.groups, choice.timeout_seconds)
    resumed = _ResumeFile(writable_file("--resume", options.resume), [*arguments, "--", *options.words], choice)
    runner = Runner(arguments, options.words)
    try:
        with _stopping_by_signals():
            swept, stopped = _sweep(runner, choice, resumed, options, environment)
    except _Stopped as early:
        print("stopped before the clean run had ended", file=sys.stderr)
        return signalled_status(early.number)
    finally:
        runner.close()
    try:
        print(as_text(swept, out(environment)), end="", flush=True)
    finally:  # the same Ctrl-C may have ended who reads it
        if report_file is not None:
            with writing(report_file):
                report_file.write_text(_report_text(swept, report_file), encoding="utf-8")
    if stopped is not None:
        return signalled_status(stopped.number)
    worst = {run.outcome for run in swept.runs}
    return int(bool(worst & {"hung", "damaged"}) or (options.strict and "failed" in worst))


def _sweep(
    runner: Runner, choice: _Choice, resumed: "_ResumeFile", options: Namespace, environment: Mapping[str, str]
) -> tuple[Sweep, _Stopped | None]:
    """Run everything; return what came of it, and what stopped it before its end."""
    clean, noted, output = runner.clean(choice.timeout_seconds)
    if clean.status != 0:
        end = "did not end in time" if clean.status is None else f"exited with status {clean.status}"
        sys.stderr.write(output)
        raise UsageError(f"the command must succeed without a fault; its clean run {end}")
    contract = load_contract()
    calls, works = calls_of(noted)
    cells, left_out = _chosen(choice, calls, works, contract)
    repeat = [*_given_options(options), *(["--timeout", options.timeout] if options.timeout else [])]
    patience = Patience(clean, choice.timeout_seconds)
    runs = {cell: resumed.runs[str(cell)] for cell in cells if str(cell) in resumed.runs}
    struck = {cell: sandboxes_of(cell, calls, works) for cell in cells if cell not in runs}
    is_shown, stopped = len(cells) == 1, None
    progress = Progress(len(cells), len(runs), choice.jobs, clean.seconds, environment)
    try:
        with progress, resumed.noting() as note:
            for cell, run in _run_all(runner, struck, choice.jobs, patience, is_shown=is_shown):
                runs[cell] = run
                patience.note(run)
                note(run)
                progress.note(run)
    except _Stopped as signalled:
        stopped = signalled
    ended = [runs[cell] for cell in cells if cell in runs]
    not_run = [cell for cell in cells if cell not in runs]
    return Sweep(contract, clean, ended, left_out, options.words, repeat, not_run), stopped


def _chosen(
    choice: _Choice, calls: Sequence[Call], works: Sequence[Work], contract: Contract
) -> tuple[list[Cell], list[LeftOut]]:
    """Return the cells to run, and those that were asked for too and are left out. Raises UsageError."""
    codes = {name: operation.all_codes for name, operation in contract.operations.items()}
    codes |= dict.fromkeys(BYTE_SURFACES, BYTE_CODES)
    cells, left_out = plan(
        calls, works, {name: sorted(known, key=list(CATALOGUE).index) for name, known in codes.items()}
    )
    if not calls:
        raise UsageError("the command called no operation of its emulator: is IMAGE_WORKFLOW_BASE_URL what it calls?")
    meant = [cell for cell in cells if choice.means(cell)]
    meant_left_out = [left for left in left_out if choice.means(left.cell)]
    if len(meant_left_out) == 1 and not meant:  # a cell that is named is run
        return [meant_left_out[0].cell], []
    if not meant:
        why = f"; {meant_left_out[0].cell} is left out: {meant_left_out[0].why}" if meant_left_out else ""
        near = nearest(choice.only, [str(cell) for cell in cells])
        hint = did_you_mean(near) or f"; the first there is: {cells[0]}"
        raise UsageError(f"--only {choice.only!r} fits no cell of the faults {', '.join(choice.groups)}{why or hint}")
    return meant, meant_left_out


def _run_all(
    runner: Runner, cells: Mapping[Cell, set[str]], jobs: int, patience: Patience, *, is_shown: bool
) -> Iterator[tuple[Cell, Run]]:
    """Run the cells, each with the sandboxes that it strikes, side by side; go through them as they end."""
    waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
    ended: queue.SimpleQueue[tuple[Cell, Run | Exception]] = queue.SimpleQueue()
    for cell in cells:
        waiting.put(cell)

    def work() -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                cell = waiting.get_nowait()
                try:
                    ended.put((cell, runner.strike(cell, patience, cells[cell], is_shown=is_shown)))
                except Exception as error:
                    ended.put((cell, error))
                    return

    for _ in range(min(jobs, len(cells))):
        threading.Thread(target=work, daemon=True).start()
    for _ in cells:
        cell, run = ended.get()
        if isinstance(run, Exception):
            raise run
        yield cell, run


class _ResumeFile:
    """The file that a sweep is resumed from: a line that says what is swept, and one for each run that has ended."""

    def __init__(self, file: Path | None, command: Sequence[str], choice: _Choice) -> None:
        """Read what there is of it. Raises UsageError if it cannot be read, or belongs to another sweep."""
        self._file = file
        self._head = {"format": _RESUME_FORMAT, "command": list(command), "timeout_seconds": choice.timeout_seconds}
        self.runs: dict[str, Run] = {}
        if file is None or not file.exists() or not file.stat().st_size:
            return
        rows = list(_rows(file))
        if not rows or rows[0] != self._head:
            raise SettingError("--resume", str(file), "a file of a sweep with this command and these options")
        for row in rows[1:]:
            with contextlib.suppress(TypeError):
                run = Run(**row)
                if run.outcome != "hung":  # the machine may have been busy
                    self.runs[run.cell] = run

    @contextmanager
    def noting(self) -> Iterator[Callable[[Run], None]]:
        """Hand out what notes a run. What is known already is written anew, without a line that was broken off."""
        name = self._file
        if name is None:
            yield lambda _run: None
            return

        def write(row: Mapping[str, Any]) -> None:
            with writing(name):
                file.write(json.dumps(row) + "\n")
                file.flush()

        with writing(name):
            file = name.open("w", encoding="utf-8")
        with file:
            for row in (self._head, *(run.as_json() for run in self.runs.values())):
                write(row)
            yield lambda run: write(run.as_json())


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    for line in read_file(file).splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            return  # the file was broken off there
        if not isinstance(row, dict):
            return
        yield row


def _number(flag: str, text: str, kind: type[int] | type[float], expected: str) -> float:
    with contextlib.suppress(ValueError):
        number = kind(text)
        if 0 < number < float("inf"):
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


def _exec_options(options: Namespace, environment: Mapping[str, str]) -> list[str]:
    """Return the options for every `exec`; the clock is auto unless it is given. Raises UsageError."""
    read_settings(vars(options), environment)
    is_given = options.clock is not None or environment.get("EMULATOR_CLOCK")
    return [*_given_options(options), *([] if is_given else ["--clock", "auto"])]


def _has_fixed_port(options: Namespace, environment: Mapping[str, str]) -> bool:
    """Whether all runs want the same port, and so must come one after another."""
    return (options.port or environment.get("EMULATOR_PORT") or "0") != "0"


def _report_text(swept: Sweep, file: Path) -> str:
    if file.suffix.lower() in (".html", ".htm"):
        from emulator.cli.sweep.page import as_page

        return as_page(swept)
    return json.dumps(swept.as_json(), indent=2, ensure_ascii=False) + "\n"


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
