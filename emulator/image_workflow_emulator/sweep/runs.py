"""The runs of a sweep: how one is started, how long it may take, and how it ended.

Theory of operation. The clean run is one of `exec`, which writes the journal of all sandboxes. If the plugin of pytest noted
sandboxes of tests in it, all further runs are the command itself beside one emulator, and each tries a cell in each of some
tests. Else each is a run of `exec` with one cell. What takes too long is tried again before it counts as hung: on a busy
machine most of them are only slow. So is what failed where a client can recover, since a suite may be flaky.

Must not know which cells are tried, nor how they are shown.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct, field, json, structs

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.yaml_reader import read_document
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.scenario.library import shipped_library
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import CLIENT_VARIABLES, OPTIONS, CommandError
from image_workflow_emulator.sweep.cells import CLIENT, SLOW_SECONDS, Cell
from image_workflow_emulator.sweep.evidence import MADE_TWICE, Entry, Evidence, evidence_of, lives_of, made_twice
from image_workflow_emulator.sweep.plan import Trial
from image_workflow_emulator.sweep.run_files import (
    FOLDER_VARIABLE,
    NOTES,
    PLUGIN_VARIABLE,
    TASKS,
    Task,
    notes_of,
)
from image_workflow_emulator.testing.emulator import Emulator
from image_workflow_emulator.testing.options import read_file

Process: TypeAlias = subprocess.Popen[bytes]

Outcome = Literal["survived", "unnoticed", "noticed", "failed", "hung", "damaged"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
"""From the best to the worst; of a fault of the client, whether a test failed or its conduct had an error."""
WHOLE: Final = ""
"""Stands for the command where it has no tests of its own sandboxes."""
_PLUGIN: Final = "image_workflow_emulator.sweep.in_pytest"
_LEAST_TIMEOUT_SECONDS: Final = 10.0
_TIMEOUT_FACTOR: Final = 3
_STOP_SECONDS: Final = 5.0
"""How long a run may take to end when it is asked to."""
_START_SECONDS: Final = 10.0
"""How much longer than the clean run the first test may take to begin."""
_POLL_SECONDS: Final = 0.5
_NOTING: Final = "import os, sys; open(sys.argv[1], 'w').write(str(os.getpid())); os.execvp(sys.argv[2], sys.argv[2:])"
"""Notes the process group of a command that `exec` runs, which outlives `exec` where it ignores signals, and becomes it."""


class Run(Struct, frozen=True):
    """How a trial ended. `status` is that of the command where it is all of it, null where it did not end by itself.

    `struck` says whether the fault fired; `is_flaky`: it failed, and when it was repeated it did not.
    """

    cell: str
    test: str
    outcome: Outcome
    status: int | None
    seconds: float
    findings: Sequence[Mapping[str, Any]] = ()
    struck: bool = True
    is_flaky: bool = False

    @property
    def trial(self) -> Trial:
        """What was tried."""
        return Trial(Cell.read(self.cell), self.test)

    @property
    def errors(self) -> list[str]:
        """The rules that it broke, by which it did damage."""
        return list(dict.fromkeys(one["rule"] for one in self.findings if one["severity"] == "error"))


class Place(Struct):
    """What happened in the sandboxes of one test, of a fixture that tests share, or of the command."""

    tests: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By their ids, how they ended: `failed` and `seconds`."""
    journals: list[Sequence[Entry]] = field(default_factory=list)
    findings: list[Mapping[str, Any]] = field(default_factory=list)

    def evidence(self) -> Evidence:
        """Return what the journals show."""
        return evidence_of(self.journals, load_contract())

    @property
    def seconds(self) -> float:
        """How long the longest of its tests took."""
        return max((ended["seconds"] for ended in self.tests.values()), default=0.0)

    @property
    def teams(self) -> list[str]:
        """The ids of the Teams that called."""
        found = {entry["credential"]["team"]["id"] for one in self.journals for entry in one if entry["credential"]}
        return sorted(found)


class Clean(Struct):
    """How the command ended without a fault: with which status and output, and what it did in each place."""

    status: int | None
    seconds: float
    output: str
    places: Mapping[str, Place]
    evidence: Mapping[str, Evidence]


class Runner:
    """Starts the runs of a command; to be closed. `options` are those of the emulator, as they were typed.

    `timeout_seconds`: how long a test or a command may take; None: three times the longest so far, and at least 10 s.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        ignored: Sequence[str],
        words: Sequence[str],
        timeout_seconds: float | None,
        environment: Mapping[str, str],
    ) -> None:
        self._variables = environment
        self._options, self._ignored, self._words = {"clock": "auto", **options}, frozenset(ignored), words
        self._timeout_seconds, self._longest_seconds = timeout_seconds, 0.0
        self._folder = tempfile.TemporaryDirectory("sweep", ignore_cleanup_errors=True)
        self._lock, self._is_stopped = threading.Lock(), False
        self._processes: set[Process] = set()
        self._emulator: Emulator | None = None
        self._kinds: dict[str, str] = {}
        self.number = 0
        """How many runs there were."""

    def stop(self) -> None:
        """End the runs that are under way. No other begins."""
        with self._lock:
            self._is_stopped = True
            processes = list(self._processes)
        for process in processes:
            _end(process)

    def close(self) -> None:
        """Stop, and leave nothing."""
        self.stop()
        if self._emulator is not None:
            self._emulator.close()
        self._folder.cleanup()

    def clean(self) -> Clean:
        """Run the command as it is. Raises CommandError."""
        with self._run_folder() as folder:
            output, began_ms = folder / "output", host_elapsed_ms()
            with output.open("wb") as file:
                status, whole = self._execute(folder, self._options, file.fileno(), None)
            seconds, text = (host_elapsed_ms() - began_ms) / 1000, output.read_text("utf-8", "replace")
            places = self._places(folder)[0] or {WHOLE: whole}
        evidence = {name: place.evidence() for name, place in places.items()}
        self._clean = Clean(status, seconds, text, places, evidence)
        self._longest_seconds = max(place.seconds for place in places.values()) if self.has_tests else seconds
        self._kinds = {work.operation: work.kind for one in evidence.values() for work in one.works}
        return self._clean

    @property
    def has_tests(self) -> bool:
        """Whether tests have sandboxes of their own, so that one run can try several cells."""
        return WHOLE not in self._clean.places

    def run(
        self, trials: Sequence[Trial], attempt: int = 1, output: int | None = subprocess.DEVNULL
    ) -> dict[Trial, Run | None]:
        """Run the command once, with the cells of some trials, each of another test.

        Return how each ended; None if it has to be tried again, as the run was ended because of another. Raises CommandError.
        """
        with self._run_folder() as folder:
            if self.has_tests:
                return self._try_tests(folder, trials, attempt, output)
            (trial,) = trials
            return {trial: self._try_whole(folder, trial, attempt, output)}

    def patience_seconds(self, cell: Cell, attempt: int) -> float:
        """Return how long a test or command may take; after the first attempt three times as long."""
        silence = SLOW_SECONDS + 1 if cell.is_silent else 0
        usual = max(_LEAST_TIMEOUT_SECONDS, _TIMEOUT_FACTOR * self._longest_seconds)
        return self._timeout_seconds or usual * (3 if attempt > 1 else 1) + silence

    # Tests with sandboxes of their own ------------------------------------------------------------------------------

    def _try_tests(
        self, folder: Path, trials: Sequence[Trial], attempt: int, output: int | None
    ) -> dict[Trial, Run | None]:
        tasks = {trial.test: self._task(trial) for trial in trials}
        (folder / TASKS).write_bytes(json.encode(tasks))
        with self._lock:
            if self._emulator is None:
                self._emulator = Emulator.start(**self._options)
        process = self._start(self._words, self._environment(folder) | self._emulator.default.env, output)
        limit_seconds = max(self.patience_seconds(trial.cell, attempt) for trial in trials)
        was_ended = not self._wait(process, limit_seconds, folder / NOTES)
        places, begun = self._places(folder)
        runs: dict[Trial, Run | None] = {}
        for trial in trials:
            place, tests = places.get(trial.test, Place()), tasks[trial.test].tests
            has_died = any(test in begun for test in tests)
            has_failed = has_died or any(ended["failed"] for ended in place.tests.values())
            if not has_died and place.tests.keys() < set(tests):
                runs[trial] = None
                continue
            status = None if was_ended and has_died else int(has_failed)
            runs[trial] = self._judged(trial, place, status, place.seconds)
        return runs

    def _task(self, trial: Trial) -> Task:
        place = self._clean.places[trial.test]
        return Task(trial.cell.scenario(self._kinds), place.teams, sorted(place.tests))

    def _places(self, folder: Path) -> tuple[dict[str, Place], set[str]]:
        """Return what the plugin noted, by place, and the tests that have begun and not ended."""
        places: dict[str, Place] = {}
        begun: set[str] = set()
        for row in notes_of(folder):
            if "begun" in row:
                begun.add(row["begun"])
            elif "test" in row:
                begun.discard(row["test"])
                for name in row["places"]:
                    places.setdefault(name, Place()).tests[row["test"]] = row
            else:
                place = places.setdefault(row["place"], Place())
                place.journals.append(row["requests"])
                place.findings += row["findings"]
        return places, begun

    # Any other command ----------------------------------------------------------------------------------------------

    def _try_whole(self, folder: Path, trial: Trial, attempt: int, output: int | None) -> Run:
        options = {**self._options, "scenario": self._scenario(folder, trial.cell)}
        patience, began_ms = self.patience_seconds(trial.cell, attempt), host_elapsed_ms()
        status, place = self._execute(folder, options, output, patience)
        return self._judged(trial, place, status, (host_elapsed_ms() - began_ms) / 1000)

    def _execute(
        self, folder: Path, options: Mapping[str, Any], output: int | None, seconds: float | None
    ) -> tuple[int | None, Place]:
        """Run the command by `exec`; return its status, None where it took too long, and what its journal shows."""
        report, journal = folder / "report.json", folder / "journal.json"
        files = ["--quiet", "--report", str(report), "--journal", str(journal)]
        noting = (
            []
            if seconds is None or sys.platform == "win32"
            else [sys.executable, "-I", "-S", "-c", _NOTING, str(folder / "pid")]
        )
        words = [*flags(options), *files, "--", *noting, *self._words]
        program = [sys.executable, "-m", "image_workflow_emulator", "exec", *words]
        process = self._start(program, self._environment(folder), output)
        status = process.returncode if self._wait(process, seconds, None) else None
        place = Place()
        if status is None and sys.platform != "win32":
            with contextlib.suppress(OSError, ValueError):  # the command has ended, or never began
                os.killpg(int((folder / "pid").read_text()), signal.SIGKILL)
        with contextlib.suppress(OSError, ValueError):  # it was killed before it could write them
            place.journals += lives_of(json.decode(journal.read_bytes())["data"])
            content = json.decode(report.read_bytes())
            place.findings = (content.get("conduct") or content)["findings"]
        return status, place

    def _scenario(self, folder: Path, cell: Cell) -> str:
        """Write the scenario of a cell, before the rules of the one that was asked for; return the name of its file."""
        own, scenario = self._options.get("scenario"), cell.scenario(self._kinds)
        if own is not None:
            named = scenario_file(own)
            text = shipped_library(load_contract()).text(own).encode() if named is None else read_file(named)
            given = read_document(text, own).data
            scenario = {**given, "rules": [*scenario["rules"], *given.get("rules", ())]}
        file = folder / "scenario.json"
        file.write_bytes(json.encode(scenario))
        return str(file)

    # Both -----------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _run_folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self._folder.name, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    def _environment(self, folder: Path) -> dict[str, str]:
        """Return the environment of a run, in which nothing leads to another emulator."""
        kept = {name: value for name, value in self._variables.items() if name not in CLIENT_VARIABLES}
        return kept | {FOLDER_VARIABLE: str(folder), PLUGIN_VARIABLE: _PLUGIN}

    def _start(self, words: Sequence[str], environment: Mapping[str, str], output: int | None) -> "Process":
        with self._lock:
            if self._is_stopped:
                raise CommandError("the sweep was stopped")
            process = subprocess.Popen(  # noqa: S603
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for the sweep
            )
            self._processes.add(process)
            self.number += 1
            return process

    def _wait(self, process: "Process", seconds: float | None, notes: Path | None) -> bool:
        """Wait for the end of a run; return whether it ended by itself in time.

        `notes` that grow give it more time, and the first of them may be late.
        """
        began_ms, size = host_elapsed_ms(), 0
        late_seconds = 0.0 if notes is None else self._clean.seconds + _START_SECONDS
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
            if notes is not None and (new := notes.stat().st_size if notes.exists() else 0) != size:
                began_ms, size, late_seconds = host_elapsed_ms(), new, 0.0
            past_seconds = (host_elapsed_ms() - began_ms) / 1000 - late_seconds
            if self._is_stopped or (seconds is not None and past_seconds > seconds):
                break
        has_ended = process.poll() is not None and not self._is_stopped
        if not has_ended:
            _end(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_SECONDS)
        _end(process, by_force=True)
        process.wait()
        with self._lock:
            self._processes.discard(process)
        return has_ended

    def _judged(self, trial: Trial, place: Place, status: int | None, seconds: float) -> Run:
        """Judge what happened in a place. `status` is None where it did not end in time."""
        cell, findings = trial.cell, [one for one in place.findings if one["rule"] not in self._ignored]
        if cell.is_answered_once and not any(one["severity"] == "error" for one in findings):
            findings += made_twice(self._clean.evidence[trial.test], place.evidence())
        harmful = any(one["severity"] == "error" for one in findings)
        outcome: Outcome = "hung" if status is None else "damaged" if harmful else "failed" if status else "survived"
        if cell.operation == CLIENT:
            outcome = "unnoticed" if outcome == "survived" else "noticed"
        rules = (entry["rule"]["name"] for one in place.journals for entry in one if entry["rule"])
        if status is not None and not cell.is_silent:
            self._longest_seconds = max(self._longest_seconds, seconds)
        return Run(str(cell), trial.test, outcome, status, round(seconds, 3), findings, str(cell) in rules)


def is_sure(run: Run) -> bool:
    """Tell whether chance cannot have ended a run so: a busy machine is slow, and a suite may be flaky."""
    if run.outcome == "failed":
        return not run.trial.cell.is_recoverable
    return run.outcome != "hung" and MADE_TWICE not in run.errors


def agreed(first: Run, second: Run) -> Run:
    """Return what two runs of a trial are together: a failure that a repetition does not show is flaky."""
    if first.outcome == "hung" or OUTCOMES.index(second.outcome) > OUTCOMES.index(first.outcome):
        return second
    is_flaky = second.outcome != first.outcome or (second.outcome == "failed" and not second.struck)
    return structs.replace(first, outcome="failed", is_flaky=True) if is_flaky else first


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return options of the emulator as they are typed."""
    words: list[str] = []
    for option in OPTIONS:
        value = options.get(option.field, ())
        words += [word for text in ([value] if isinstance(value, str) else value) for word in (option.flag, text)]
    return words


def _end(process: "Process", *, by_force: bool = False) -> None:
    """Ask a run and everything that it started to end, or end it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL if by_force else signal.SIGTERM)
