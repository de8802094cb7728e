"""The runs of a sweep: each a process `exec` of its own, in a process group that ends with this process.

Owns how a run is asked for (`--cell FILE`, which `exec` takes without telling anybody) and what is read of it afterwards. Must not know
which cells are worth a run, nor how they are shown.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from emulator.cli.child import Guard
from emulator.cli.errors import CommandError
from emulator.cli.sweep.calls import Calls
from emulator.cli.sweep.cells import Cell

if TYPE_CHECKING:
    from emulator.app import Application

Outcome = Literal["survived", "failed", "hung", "damaged"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("survived", "failed", "hung", "damaged")
"""From the best to the worst but for `hung`, which nothing is better or worse than."""
LEAST_TIMEOUT_SECONDS: Final = 10.0
_TIMEOUT_FACTOR: Final = 3
_BACKSTOP_SECONDS: Final = 30.0
"""How much longer than its timeout a run may take, with its start, its end and everything that is ended by force."""


@dataclass(frozen=True, slots=True)
class Task:
    """What `exec` finds in the file of `--cell`: the cell that strikes, if one does, and the time that the command has."""

    cell: Cell | None
    timeout_seconds: float | None

    @classmethod
    def read(cls, file: Path) -> "Task":
        """Read the file."""
        content = json.loads(file.read_bytes())
        return cls(Cell.read(content["cell"]) if content["cell"] else None, content["timeout_seconds"])

    def write(self, file: Path) -> None:
        """Write the file."""
        cell = None if self.cell is None else str(self.cell)
        file.write_text(json.dumps({"cell": cell, "timeout_seconds": self.timeout_seconds}), encoding="utf-8")


class CellRun:
    """One run, as the process `exec` of it sees it."""

    def __init__(self, file: Path, application: "Application") -> None:
        """Let the cell strike in every sandbox, and note the calls."""
        self.task = Task.read(file)
        self._file = file
        self._calls = Calls(application.contract)
        application.sandboxes.observe(self._calls.note)
        if self.task.cell is not None:
            application.sandboxes.strike_with(self.task.cell.strike())

    def conclude(self, status: int | None, duration_ms: int) -> None:
        """Write down how the run ended; `status` is None where the command took too long."""
        noted = self._calls.as_json() if self.task.cell is None else None
        result = {"status": status, "seconds": duration_ms / 1000, "noted": noted, "struck": self._calls.struck}
        self._file.write_text(json.dumps(result), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended. `status` is None where it did not end by itself; `struck` says whether the fault came about."""

    cell: str
    outcome: Outcome
    status: int | None
    seconds: float
    findings: Sequence[Mapping[str, Any]] = ()
    struck: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return it as a row of the report."""
        return {
            "cell": self.cell,
            "outcome": self.outcome,
            "status": self.status,
            "seconds": self.seconds,
            "findings": list(self.findings),
            "struck": self.struck,
        }


@dataclass(slots=True)
class Runner:
    """Starts the runs. `options` are those of `exec`, `words` the command; to be closed."""

    options: Sequence[str]
    words: Sequence[str]
    environment: Mapping[str, str]
    _guard: Guard = field(default_factory=Guard)
    _folder: "tempfile.TemporaryDirectory[str]" = field(default_factory=lambda: tempfile.TemporaryDirectory("sweep"))
    _processes: "set[subprocess.Popen[bytes]]" = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_closed: bool = False

    def close(self) -> None:
        """End the runs that are under way, and everything that they started."""
        with self._lock:
            self._is_closed = True
            for process in self._processes:
                with contextlib.suppress(OSError):
                    process.kill()  # the guard of its command ends that
        self._guard.dismiss()
        with contextlib.suppress(OSError):
            self._folder.cleanup()

    def clean(self, timeout_seconds: float | None) -> tuple[Run, Mapping[str, Any], str]:
        """Run the command as it is; return how it ended, its calls, and what it printed. Raises CommandError."""
        with tempfile.TemporaryFile() as output:
            run, result = self._run(Task(None, timeout_seconds), output)
            output.seek(0)
            return run, result.get("noted", {}), output.read().decode("utf-8", "replace")

    def strike(self, cell: Cell, timeout_seconds: float, *, is_shown: bool = False) -> Run:
        """Run the command with one fault. Raises CommandError."""
        return self._run(Task(cell, timeout_seconds), None if is_shown else subprocess.DEVNULL)[0]

    def _run(self, task: Task, output: IO[bytes] | int | None) -> tuple[Run, Mapping[str, Any]]:
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            file, report_file = Path(folder, "cell.json"), Path(folder, "report.json")
            task.write(file)
            arguments = ["exec", *self.options, "--quiet", "--report", str(report_file), "--cell", str(file)]
            process = self._start([sys.executable, "-m", "emulator", *arguments, "--", *self.words], output)
            try:
                limit = None if task.timeout_seconds is None else task.timeout_seconds + _BACKSTOP_SECONDS
                process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            finally:
                with self._lock:
                    self._processes.discard(process)
            result, report = _read(file), _read(report_file)
        if "status" not in result and process.returncode != -signal.SIGKILL:
            if task.cell is not None:
                raise CommandError(f"{task.cell}: the run ended with status {process.returncode} and without a result")
            result = {"status": process.returncode}  # it could not be started, and has said why
        return _judged(task, result, report), result

    def _start(self, words: Sequence[str], output: IO[bytes] | int | None) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._is_closed:
                raise CommandError("stopped")
            process = subprocess.Popen(  # noqa: S603
                words,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=self._guard.group if os.name == "posix" else None,
            )
            self._processes.add(process)
            return process


class Patience:
    """How long a run may take: what was said, else three times the longest run that ended, on a machine that may grow slower."""

    def __init__(self, clean: Run, said_seconds: float | None) -> None:
        self._said_seconds = said_seconds
        self._longest_seconds = clean.seconds

    @property
    def seconds(self) -> float:
        """The seconds that a run has which begins now."""
        return self._said_seconds or max(LEAST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * self._longest_seconds)

    def note(self, run: Run) -> None:
        """Learn from a run that ended."""
        if run.status is not None:
            self._longest_seconds = max(self._longest_seconds, run.seconds)


def _read(file: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        content: dict[str, Any] = json.loads(file.read_bytes())
        return content
    return {}


def _judged(task: Task, result: Mapping[str, Any], report: Mapping[str, Any]) -> Run:
    conduct = report.get("conduct") or {}
    findings = conduct.get("findings", [])
    status = result.get("status")
    outcome: Outcome = "survived" if status == 0 else "failed"
    if any(finding["severity"] == "error" for finding in findings):
        outcome = "damaged"
    if status is None:
        outcome = "hung"
    seconds = result.get("seconds", task.timeout_seconds or 0.0)
    return Run(str(task.cell or ""), outcome, status, seconds, findings, bool(result.get("struck")))
