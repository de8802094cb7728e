"""The runs of a sweep: each a process `exec` of its own, in a process group that ends with this process.

Theory of operation. Most of what `exec` costs is the import of the emulator, so a run is forked from a process that has
done it (`multiprocessing` has such a server; on Windows each process starts from nothing). A run that takes too long is
repeated once before it counts as hung: on a busy machine most of them are only slow. So is one that failed where a client
can recover: a suite may be flaky. Where the fault is silence, a run has
additional time for each answer that its client waits for, and is not repeated. The pytest plugin finds the folder
of its run by a variable: in the clean run it notes there which sandbox each test has, and later runs only the tests
that a file there lists, those whose sandbox is struck.

Owns how a run is started (with `--cell FILE`, a private option of `exec`) and how its results are read. Must not know
which cells are run, nor how they are shown.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, json, structs

from emulator.cli.child import Guard
from emulator.cli.errors import CommandError
from emulator.cli.sweep.calls import MAX_REPETITIONS, Calls
from emulator.cli.sweep.cells import SLOW_MS, Cell
from emulator.cli.sweep.pictures import KeptPictures
from emulator.cli.sweep.worlds import MADE_TWICE, World, Worlds, by_test, made_twice
from emulator.testing.sweep_files import FAILED_TESTS, FOLDER_VARIABLE, NOTED_TESTS, WANTED_TESTS

if TYPE_CHECKING:
    from emulator.app import Application

    ProcessContext = multiprocessing.context.ForkServerContext | multiprocessing.context.SpawnContext

Outcome = Literal["survived", "failed", "hung", "damaged"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("survived", "failed", "hung", "damaged")
"""From the best to the worst."""
LEAST_TIMEOUT_SECONDS: Final = 10.0
_TIMEOUT_FACTOR: Final = 3
_PLACE_FACTOR: Final = 2
"""A run that takes so many times as long as the clean one lets others begin: most of them only wait."""
_MAX_SILENT_TESTS: Final = 4
"""In how many tests a client waits for an answer that does not come: each takes as long as its time limit."""
_POLLS_ON: Final = "poll-after-terminal"
"""The rule that a run which does not end breaks on a busy machine too, if it never ends."""
_BACKSTOP_SECONDS: Final = 30.0
"""How much longer than its timeout a run may take, with its start, its end and everything that is ended by force."""


class Task(Struct, frozen=True):
    """The content of the file of `--cell`: the cell that strikes, none in the clean run, and the time limit of the command.

    `usual_calls`: how many there were in the clean run. `silence_seconds`: how much longer it may take for each request that its fault leaves without an answer.
    """

    cell: str
    timeout_seconds: float | None
    silence_seconds: float = 0.0
    usual_calls: int = 0

    @property
    def longest_seconds(self) -> float | None:
        """After how long its process is killed."""
        if self.timeout_seconds is None:
            return None
        return self.timeout_seconds + self.silence_seconds * MAX_REPETITIONS + _BACKSTOP_SECONDS


class CellRun:
    """One run, as the process `exec` of it sees it."""

    def __init__(self, file: Path, application: "Application") -> None:
        """Let the cell strike in every sandbox, and note the calls."""
        self.task = json.decode(file.read_bytes(), type=Task)
        self._file = file
        self._calls = Calls(application.contract)
        self._worlds = Worlds()
        application.sandboxes.watch(self._calls.note)
        application.sandboxes.watch(self._worlds.note)
        if self.task.cell:
            application.sandboxes.inject(Cell.read(self.task.cell).strike())

    @property
    def variables(self) -> Mapping[str, str]:
        """The additional variables in the environment of the command."""
        return {FOLDER_VARIABLE: str(self._file.parent)}

    def limit_seconds(self) -> float | None:
        """Return how long the command may take, as far as is known: once more for each request that it makes."""
        if self.task.timeout_seconds is None:
            return None
        waits = 1 if self._calls.is_struck_without_end else max(self._calls.struck, 1)
        return self.task.timeout_seconds + self.task.silence_seconds * waits

    def conclude(self, status: int | None, duration_ms: int) -> None:
        """Write down how the run ended; `status` is None where the command took too long."""
        is_endless = self._calls.is_struck_without_end or self._calls.number > MAX_REPETITIONS * self.task.usual_calls
        result = {
            "status": status,
            "seconds": duration_ms / 1000,
            "noted": None if self.task.cell else self._calls.as_json(),
            "struck": self._calls.struck,
            "is_endless": is_endless,
            "calls": self._calls.number,
            "worlds": self._worlds.as_json(),
        }
        self._file.write_bytes(json.encode(result))


def pictures_of(file: Path) -> KeptPictures:
    """Return what does the image work of the run of a file; the clean run keeps it for the others."""
    return KeptPictures(file.parent.parent, keeps=not json.decode(file.read_bytes(), type=Task).cell)


class Run(Struct, frozen=True):
    """How a run ended. `status` is None where it did not end by itself; `struck` says whether the fault fired.

    `tests`: those of pytest that failed, did damage, or did not end. `alone`: the one of them that ends so by itself.
    `is_flaky`: it failed, and when it was repeated it did not.
    """

    cell: str
    outcome: Outcome
    status: int | None
    seconds: float
    findings: Sequence[Mapping[str, Any]] = ()
    struck: bool = True
    tests: Sequence[str] = ()
    alone: str | None = None
    is_flaky: bool = False

    @property
    def end(self) -> str:
        """How it ended, in words."""
        if self.status is None:  # it may have ended before it could say whether the fault fired
            return f"no end in time, {self.seconds:.1f} s"
        flaky = ", but not when it was repeated" if self.is_flaky else ""
        return f"status {self.status}, {self.seconds:.1f} s{'' if self.struck else ', the call was not made'}{flaky}"

    @property
    def is_made_twice(self) -> bool:
        """Whether its damage is that more was made than in the clean run."""
        return any(finding["rule"] == MADE_TWICE for finding in self.findings)


def _process_context() -> "ProcessContext":
    """Return how runs are started."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["emulator.cli.sweep.preloaded"])
    return context


def _folder(parent: str | None = None) -> "tempfile.TemporaryDirectory[str]":
    """Return a folder that is there for a while; a command that is being killed may still write to it when it goes."""
    return tempfile.TemporaryDirectory("sweep", dir=parent, ignore_cleanup_errors=True)


@dataclass(slots=True, eq=False)
class Runner:
    """Starts the runs. `options` are those of `exec`, `words` the command; to be closed."""

    options: Sequence[str]
    words: Sequence[str]
    jobs: int = 1
    """How many runs begin at once. One that waits for an answer that does not come, or takes long, lets others begin."""
    test: str | None = None
    """The one test of pytest that is run; None: all."""
    _context: "ProcessContext" = field(default_factory=_process_context)
    _guard: Guard = field(default_factory=Guard)
    _folder: "tempfile.TemporaryDirectory[str]" = field(default_factory=_folder)
    _processes: set[BaseProcess] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_closed: bool = False
    _tests: dict[str, str] = field(default_factory=dict)
    """The test that each sandbox of the clean run belonged to, by the id of the sandbox."""
    _worlds: dict[str, World] = field(default_factory=dict)
    """What each test of the clean run made."""
    _usual_calls: int = 0
    _usual_seconds: float = LEAST_TIMEOUT_SECONDS
    _places: threading.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._places = threading.Semaphore(self.jobs)

    def close(self) -> None:
        """End the runs that are under way, and everything that they started."""
        with self._lock:
            self._is_closed = True
            for process in self._processes:
                process.kill()  # the guard of its command ends that
        self._guard.dismiss()
        self._folder.cleanup()

    def clean(self, timeout_seconds: float | None) -> tuple[Run, Mapping[str, Any], str]:
        """Run the command as it is; return how it ended, its calls, and what it printed. Raises CommandError."""
        output = Path(self._folder.name, "output")
        run, result = self._run(Task("", timeout_seconds), str(output))
        return run, result.get("noted", {}), output.read_text("utf-8", "replace")

    def strike(
        self, cell: Cell, patience: "Patience", sandboxes: set[str], *, is_shown: bool = False
    ) -> Iterator[tuple[Run, bool]]:
        """Run the command with one fault, again if chance may have ended it so; return each run, and whether it is the last.

        The repetition has just one of the tests that ended so; if that one alone does not, all. `sandboxes`: those of the
        clean run that are struck. Raises CommandError.
        """
        tests = list(dict.fromkeys(self._tests.get(sandbox) for sandbox in sorted(sandboxes)))
        if cell.is_silent and None not in tests:
            tests = tests[: 1 if cell.lasts else _MAX_SILENT_TESTS]
        output = None if is_shown else os.devnull
        task = Task(str(cell), patience.seconds(1), patience.silence_seconds(cell), self._usual_calls)
        first, result = self._run(task, output, tests)
        patience.note(first)
        polls_on = any(finding["rule"] == _POLLS_ON for finding in first.findings)
        is_sure = {
            "survived": True,
            "failed": not cell.is_recoverable,
            "hung": bool(result.get("is_endless") or task.silence_seconds or polls_on),
            "damaged": not first.is_made_twice,
        }[first.outcome]
        is_split = bool(first.tests) and tests != [first.tests[0]] and (not is_sure or first.outcome == "damaged")
        if is_sure and not is_split:
            yield first, True
            return
        yield first, False
        longer = structs.replace(task, timeout_seconds=patience.seconds(2))
        if is_split and self._run(longer, output, first.tests[:1])[0].outcome == first.outcome:
            yield structs.replace(first, alone=first.tests[0]), True
        elif is_sure:
            yield first, True
        else:
            yield _agreed(first, self._run(longer, output, tests)[0]), True

    def _run(
        self, task: Task, output: str | None, tests: Collection[str | None] = (None,)
    ) -> tuple[Run, Mapping[str, Any]]:
        if self._is_closed:
            raise CommandError("stopped")
        with _folder(self._folder.name) as folder:
            file, report_file = Path(folder, "cell.json"), Path(folder, "report.json")
            file.write_bytes(json.encode(task))
            wanted = tests if self.test is None else [self.test]
            if None not in wanted:  # else something beside the tests is struck, too
                Path(folder, WANTED_TESTS).write_bytes(json.encode(sorted(map(str, wanted))))
            cell = Cell.read(task.cell) if task.cell else None
            readings = () if cell is None else cell.options
            arguments = ["exec", *self.options, *readings, "--quiet", "--report", str(report_file), "--cell", str(file)]
            with self._places:
                process = self._start([*arguments, "--", *self.words], output)
                is_silent = cell is not None and cell.is_silent  # its client waits when the call is due
                process.join(self._usual_seconds * (1 if is_silent else _PLACE_FACTOR))
            process.join(task.longest_seconds)
            process.kill()
            process.join()
            with self._lock:
                self._processes.discard(process)
            status, result, report = process.exitcode, _read(file), _read(report_file)
            tests_of = dict(_rows(Path(folder, NOTED_TESTS)))
            failed = _rows(Path(folder, FAILED_TESTS))
            if result.get("status") is None:
                failed += [*tests_of.values()][-1:]  # it did not end
            worlds = by_test(result.get("worlds", []), tests_of)
            if cell is None:
                self._tests, self._worlds, self._usual_calls = tests_of, worlds, result.get("calls", 0)
                self._usual_seconds = result.get("seconds", LEAST_TIMEOUT_SECONDS)
        if "status" not in result and status != -signal.SIGKILL:
            if cell is not None:
                raise CommandError(f"{task.cell}: the run ended with status {status} and without a result")
            result = {"status": status}  # it could not be started, and has printed why
        findings = (report.get("conduct") or {}).get("findings", [])
        if cell is not None and cell.is_answered_once and not _has_error(findings):
            findings = [*made_twice(self._worlds, worlds), *findings]
        harmful = [one for one in findings if one["severity"] == "error"]
        guilty = [one.get("test") or tests_of.get(one.get("sandbox", "")) for one in harmful]
        tests_named = list(dict.fromkeys(filter(None, [*guilty, *failed])))
        return _judged(task, result, findings, tests_named), result

    def _start(self, arguments: Sequence[str], output: str | None) -> BaseProcess:
        with self._lock:
            if self._is_closed:
                raise CommandError("stopped")
            process = self._context.Process(target=_exec, args=(arguments, output, self._guard.group))
            process.start()
            self._processes.add(process)
            return process


def _exec(arguments: Sequence[str], output: str | None, group: int) -> None:
    """Be the process `exec` of a run: without input, with the output where it is wanted, and in the group of the guard."""
    from emulator.cli.main import main

    if sys.platform != "win32":
        os.setpgid(0, group)
    for number, name in ((0, os.devnull), (1, output), (2, output)):
        if name is not None:
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.exit(main(list(arguments)))


class Patience:
    """How long a run may take: the given timeout, else three times the longest run so far, on a machine that may slow down."""

    def __init__(self, clean: Run, said_seconds: float | None) -> None:
        self._said_seconds = said_seconds
        self._longest_seconds = clean.seconds

    def seconds(self, attempt: int) -> float:
        """The seconds that a run has which begins now; at the second attempt twice as many."""
        return self._said_seconds or attempt * max(LEAST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * self._longest_seconds)

    def silence_seconds(self, cell: Cell) -> float:
        """The seconds that a client may wait for an answer that does not come; a given timeout is a limit of the whole run."""
        return SLOW_MS / 1000 if cell.is_silent and self._said_seconds is None else 0.0

    def note(self, run: Run) -> None:
        """Learn from a run that ended, and whose client did not only wait."""
        if run.status is not None and not Cell.read(run.cell).is_silent:
            self._longest_seconds = max(self._longest_seconds, run.seconds)


def _rows(file: Path) -> list[Any]:
    return list(map(json.decode, file.read_bytes().splitlines())) if file.exists() else []


def _read(file: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        return json.decode(file.read_bytes(), type=dict[str, Any])
    return {}


def _has_error(findings: Sequence[Mapping[str, Any]]) -> bool:
    return any(finding["severity"] == "error" for finding in findings)


def _judged(
    task: Task, result: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], failed_tests: Sequence[str]
) -> Run:
    status = result.get("status")
    is_damaged = status is not None and _has_error(findings)
    outcome: Outcome = "hung" if status is None else "damaged" if is_damaged else "failed" if status else "survived"
    seconds = result.get("seconds", task.timeout_seconds or 0.0)
    is_struck = bool(result.get("struck") or (task.cell and Cell.read(task.cell).options))
    return Run(task.cell, outcome, status, seconds, findings, is_struck, failed_tests)


def _agreed(first: Run, second: Run) -> Run:
    """Return what two runs of a cell are together: failures that a repetition does not show, or not by the fault, are flaky."""
    if first.outcome == "hung" or OUTCOMES.index(second.outcome) > OUTCOMES.index(first.outcome):
        return second  # a busy machine is slow, but nothing makes a run do damage by chance
    is_flaky = second.outcome != first.outcome or (second.outcome == "failed" and not second.struck)
    return structs.replace(first, outcome="failed", is_flaky=True) if is_flaky else first
