"""The runs of a sweep: each a process `exec` of its own, in a process group that ends with this process.

Theory of operation. Most of what `exec` costs is the import of the emulator, so a run is forked from a process that has
done it (`multiprocessing` has such a server; on Windows each process starts from nothing). A run that takes too long is
repeated once before it counts as hung: on a busy machine most of them are only slow. So is one that failed where a client
can recover: a suite may be flaky. Where the fault is silence, a run has additional time for each answer that its client
waits for, and is not repeated. The pytest plugin finds the folder of its run by a variable: in the clean run it notes there
which sandbox each test has, and later runs only the tests that a file there lists, those whose sandbox is struck.

Owns how a run is started (with `--cell FILE`, a private option of `exec`, which replaces what the file holds by its
result), how long it may take, how many run at once, and how results are read. Must not know
which cells are run, nor how they are shown.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import blake2b
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, json, structs

from image_workflow_emulator.cli.child import Guard
from image_workflow_emulator.cli.sweep.cells import SLOW_MS, Cell
from image_workflow_emulator.cli.sweep.notes import (
    MADE_TWICE,
    MAX_REPETITIONS,
    Noted,
    Notes,
    World,
    by_test,
    made_twice,
)
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message, receive_message, send_message
from image_workflow_emulator.settings import CommandError
from image_workflow_emulator.testing.sweep_files import FAILED_TESTS, FOLDER_VARIABLE, NOTED_TESTS, WANTED_TESTS

if TYPE_CHECKING:
    from image_workflow_emulator.app import Application

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
_PRELOADED: Final = (
    "image_workflow_emulator.app",
    "image_workflow_emulator.cli.execution",
    "image_workflow_emulator.cli.sweep.runs",
    "jsonschema_rs",
)
"""What the process has imported that runs are forked from."""
_SILENT_RUNS, _SLOW_RUNS = 4, 2
"""For each job: how many runs may wait for an answer that does not come, and how many may take longer than usual."""
_POLLS_ON: Final = "poll-after-terminal"
"""The rule that a run which does not end breaks on a busy machine too, if it never ends."""
_BACKSTOP_SECONDS: Final = 30.0
"""How much longer than its timeout a run may take, with its start, its end and everything that is ended by force."""


class Task(Struct, frozen=True):
    """The content of the file of `--cell`: the cell that strikes, none in the clean run, and the time limit of the command.

    `usual_calls`: how many there were in the clean run. `silence_seconds`: how much longer it may take for each request that its fault leaves without an answer.
    """

    cell: Cell | None
    timeout_seconds: float | None
    silence_seconds: float = 0.0
    usual_calls: int = 0

    @property
    def longest_seconds(self) -> float | None:
        """After how long its process is killed."""
        if self.timeout_seconds is None:
            return None
        return self.timeout_seconds + self.silence_seconds * MAX_REPETITIONS + _BACKSTOP_SECONDS


class Result(Struct, frozen=True):
    """What the process of a run leaves in the file of its task. `status`: None where the command took too long.

    `struck`: how often the fault fired; `worlds`: what was made, with the id of each sandbox. The clean run notes its calls.
    """

    status: int | None
    seconds: float = 0.0
    noted: Noted | None = None
    struck: int = 0
    is_endless: bool = False
    calls: int = 0
    worlds: Sequence[tuple[str, World]] = ()
    findings: Sequence[dict[str, Any]] = ()


class CellRun:
    """One run, as the process `exec` of it sees it."""

    def __init__(self, file: Path, application: "Application") -> None:
        """Let the cell strike in every sandbox, and note the calls."""
        self.task = json.decode(file.read_bytes(), type=Task)
        self._file = file
        self._notes = Notes(application.contract)
        application.sandboxes.watch(self._notes.note)
        if self.task.cell:
            application.sandboxes.inject(self.task.cell.strike())

    @property
    def variables(self) -> Mapping[str, str]:
        """The additional variables in the environment of the command."""
        return {FOLDER_VARIABLE: str(self._file.parent)}

    def limit_seconds(self) -> float | None:
        """Return how long the command may take, as far as is known: once more for each request that it makes."""
        if self.task.timeout_seconds is None:
            return None
        waits = 1 if self._notes.is_struck_without_end else max(self._notes.struck, 1)
        return self.task.timeout_seconds + self.task.silence_seconds * waits

    def conclude(self, status: int | None, duration_ms: int, findings: Sequence[dict[str, Any]]) -> None:
        """Write down how the run ended; `status` is None where the command took too long."""
        notes = self._notes
        result = Result(
            status,
            duration_ms / 1000,
            None if self.task.cell else notes.noted(),
            notes.struck,
            notes.is_struck_without_end or notes.number > MAX_REPETITIONS * self.task.usual_calls,
            notes.number,
            notes.worlds(),
            findings,
        )
        self._file.write_bytes(json.encode(result))


class KeptPictures(Helpers):
    """Helper processes that are asked only what they did not answer in the clean run. `keeps`: whether new answers are kept.

    The runs send the same photos and order the same pictures. Helpers would take half of the processor time of each.
    """

    def __init__(self, folder: Path, *, keeps: bool) -> None:
        super().__init__()
        self._folder, self._keeps = folder, keeps

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a job done, as `Helpers` does it."""
        asked = blake2b(json.encode(head, order="sorted"))
        for part in parts:
            asked.update(blake2b(part).digest())
        file = self._folder / asked.hexdigest()
        if file.exists():
            with file.open("rb") as stream:
                return receive_message(stream)
        answer = await super().run(head, parts)
        if self._keeps:
            with file.open("wb") as stream:
                send_message(stream, *answer)
        return answer


def pictures_of(file: Path) -> KeptPictures:
    """Return what does the image work of the run of a file; the clean run keeps it for the others."""
    return KeptPictures(file.parent.parent, keeps=not json.decode(file.read_bytes(), type=Task).cell)


class Run(Struct, frozen=True):
    """How a run ended. `status` is None where it did not end by itself; `struck` says whether the fault fired.

    `tests`: those of pytest that failed, did damage, or did not end. `alone`: the one of them that ends so by itself.
    `is_flaky`: it failed, and when it was repeated it did not. The clean run has the cell NO_CELL.
    """

    cell: Cell
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
    def errors(self) -> list[str]:
        """The rules that it broke, by which it did damage."""
        return list(dict.fromkeys(one["rule"] for one in self.findings if one["severity"] == "error"))


NO_CELL: Final = Cell("", 0, "")


def _process_context() -> "ProcessContext":
    """Return how runs are started."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_PRELOADED))
    return context


class Runner:
    """Starts the runs. `options` are those of `exec`, `words` the command; to be closed.

    `jobs`: how many runs begin at once. One that waits for an answer that does not come, or takes long, lets others begin.
    `test`: the one test of pytest that is run; None: all. `timeout_seconds`: how long a run may take; None: three times the
    longest run so far, on a machine that may slow down.
    """

    def __init__(
        self, options: Sequence[str], words: Sequence[str], jobs: int, test: str | None, timeout_seconds: float | None
    ) -> None:
        self._options, self._words, self._test, self._timeout_seconds = options, words, test, timeout_seconds
        self._context, self._guard = _process_context(), Guard()
        # A process that is being killed may still write to it when it goes.
        self._folder = tempfile.TemporaryDirectory("sweep", ignore_cleanup_errors=True)
        self._processes: set[BaseProcess] = set()
        self._lock, self._places = threading.Lock(), threading.Semaphore(jobs)
        self._is_stopped = False
        self._busy = ThreadPoolExecutor(jobs if jobs == 1 else jobs * (1 + _SLOW_RUNS))
        self._silent = ThreadPoolExecutor(_SILENT_RUNS * jobs) if jobs > 1 else self._busy
        self._tests: dict[str, str] = {}
        """The test that each sandbox of the clean run belonged to, by the id of the sandbox."""
        self._usual = Result(0)
        """That of the clean run."""
        self._longest_seconds = 0.0

    def stop(self) -> None:
        """End the runs that are under way, and everything that they started. No other begins."""
        with self._lock:
            self._is_stopped = True
            for process in self._processes:
                process.kill()  # the guard of its command ends that
        for pool in (self._busy, self._silent):
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Stop, and leave no files."""
        self.stop()
        self._guard.dismiss()
        self._folder.cleanup()

    def clean(self) -> tuple[Run, Noted, str]:
        """Run the command as it is; return how it ended, its calls, and what it printed. Raises CommandError."""
        output = Path(self._folder.name, "output")
        run, result = self._run(Task(None, self._timeout_seconds), str(output))
        self._usual, self._longest_seconds = result, run.seconds
        return run, result.noted or Noted(), output.read_text("utf-8", "replace")

    def begin(self, cell: Cell, sandboxes: Collection[str], *, is_shown: bool = False) -> Future[Run]:
        """Run the command with one fault beside other runs; see `_strike`."""
        pool = self._silent if cell.is_silent else self._busy
        return pool.submit(self._strike, cell, sandboxes, is_shown=is_shown)

    def _strike(self, cell: Cell, sandboxes: Collection[str], *, is_shown: bool) -> Run:
        """Run the command with one fault, and again if chance may have ended it so.

        The repetition has just one of the tests that ended so; if that one alone does not, all. `sandboxes`: those of the
        clean run that are struck. Raises CommandError.
        """
        tests = list(dict.fromkeys(self._tests.get(sandbox) for sandbox in sorted(sandboxes)))
        if cell.is_silent and None not in tests:
            tests = tests[: 1 if cell.lasts else _MAX_SILENT_TESTS]
        output = None if is_shown else os.devnull
        # A client may wait for an answer that does not come; a given timeout is a limit of the whole run.
        silence_seconds = SLOW_MS / 1000 if cell.is_silent and self._timeout_seconds is None else 0.0
        task = Task(cell, self._patience_seconds(1), silence_seconds, self._usual.calls)
        first, result = self._run(task, output, tests)
        if first.status is not None and not cell.is_silent:
            self._longest_seconds = max(self._longest_seconds, first.seconds)
        polls_on = any(finding["rule"] == _POLLS_ON for finding in first.findings)
        is_sure = {
            "survived": True,
            "failed": not cell.is_recoverable,
            "hung": bool(result.is_endless or silence_seconds or polls_on),
            "damaged": MADE_TWICE not in first.errors,
        }[first.outcome]
        is_split = bool(first.tests) and tests != [first.tests[0]] and (not is_sure or first.outcome == "damaged")
        longer = structs.replace(task, timeout_seconds=self._patience_seconds(2))
        if is_split and self._run(longer, output, first.tests[:1])[0].outcome == first.outcome:
            return structs.replace(first, alone=first.tests[0])
        return first if is_sure else _agreed(first, self._run(longer, output, tests)[0])

    def _patience_seconds(self, attempt: int) -> float:
        """Return how long a run may take that begins now; at the second attempt twice as long."""
        return self._timeout_seconds or attempt * max(LEAST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * self._longest_seconds)

    def _run(self, task: Task, output: str | None, tests: Collection[str | None] = (None,)) -> tuple[Run, Result]:
        with tempfile.TemporaryDirectory("sweep", dir=self._folder.name, ignore_cleanup_errors=True) as folder:
            file, cell = Path(folder, "cell.json"), task.cell
            file.write_bytes(json.encode(task))
            wanted = tests if self._test is None else [self._test]
            if None not in wanted:  # else something beside the tests is struck, too
                Path(folder, WANTED_TESTS).write_bytes(json.encode(sorted(map(str, wanted))))
            options = [*self._options, *(cell.options if cell else ()), "--quiet", "--cell", str(file)]
            with self._places:
                process = self._start(["exec", *options, "--", *self._words], output)
                is_silent = cell is not None and cell.is_silent  # its client waits when the call is due
                process.join((self._usual.seconds or LEAST_TIMEOUT_SECONDS) * (1 if is_silent else _PLACE_FACTOR))
            process.join(task.longest_seconds)
            process.kill()
            process.join()
            with self._lock:
                self._processes.discard(process)
            result = _result(file, process.exitcode, cell)
            tests_of, failed = dict(_rows(Path(folder, NOTED_TESTS))), _rows(Path(folder, FAILED_TESTS))
        if result.status is None:
            failed += [*tests_of.values()][-1:]  # it did not end
        findings = list(result.findings)
        if cell is None:
            self._tests = tests_of
        elif cell.is_answered_once and not any(one["severity"] == "error" for one in findings):
            usual = by_test(self._usual.worlds, self._tests)
            findings = [*made_twice(usual, by_test(result.worlds, tests_of)), *findings]
        harmful = [one for one in findings if one["severity"] == "error"]
        guilty = [one.get("test") or tests_of.get(one.get("sandbox", "")) for one in harmful]
        status = result.status
        outcome: Outcome = "hung" if status is None else "damaged" if harmful else "failed" if status else "survived"
        seconds = result.seconds or task.timeout_seconds or 0.0
        is_struck = bool(result.struck or (cell and cell.options))
        named = list(dict.fromkeys(filter(None, [*guilty, *failed])))
        return Run(cell or NO_CELL, outcome, status, seconds, findings, is_struck, named), result

    def _start(self, arguments: Sequence[str], output: str | None) -> BaseProcess:
        with self._lock:
            if self._is_stopped:
                raise CommandError("stopped")
            process = self._context.Process(target=_exec, args=(arguments, output, self._guard.group))
            process.start()
            self._processes.add(process)
            return process


def _exec(arguments: Sequence[str], output: str | None, group: int) -> None:
    """Be the process `exec` of a run: without input, with the output where it is wanted, and in the group of the guard."""
    from image_workflow_emulator.cli.main import main

    if sys.platform != "win32":
        os.setpgid(0, group)
    for number, name in ((0, os.devnull), (1, output), (2, output)):
        if name is not None:
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.exit(main(list(arguments)))


def _rows(file: Path) -> list[Any]:
    return list(map(json.decode, file.read_bytes().splitlines())) if file.exists() else []


def _result(file: Path, status: int | None, cell: Cell | None) -> Result:
    """Return what a process left, which ended with a status. Raises CommandError where that is nothing."""
    with contextlib.suppress(OSError, ValueError):
        return json.decode(file.read_bytes(), type=Result)
    if cell is not None and status != -signal.SIGKILL:
        raise CommandError(f"{cell}: the run ended with status {status} and without a result")
    return Result(None if status == -signal.SIGKILL else status)  # it could not be started, and has printed why


def _agreed(first: Run, second: Run) -> Run:
    """Return what two runs of a cell are together: failures that a repetition does not show, or not by the fault, are flaky."""
    if first.outcome == "hung" or OUTCOMES.index(second.outcome) > OUTCOMES.index(first.outcome):
        return second  # a busy machine is slow, but nothing makes a run do damage by chance
    is_flaky = second.outcome != first.outcome or (second.outcome == "failed" and not second.struck)
    return structs.replace(first, outcome="failed", is_flaky=True) if is_flaky else first
