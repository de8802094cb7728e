"""The runs of a sweep: how one is started, how long it may take, and how it ended.

Theory of operation. The clean run is one of `exec`, which writes the journal of all sandboxes. If the plugin of pytest
noted sandboxes of tests in it, all further runs are the command itself beside one emulator, and each tries a cell in
each of some tests. Otherwise each is a run of `exec` with one cell. What takes too long is tried again before it counts
as hung: on a busy machine most of them are only slow. Where the client waits for an answer that does not come, no
machine is to blame, and it has that time at once. What failed where a client can recover is tried again too, since a
suite may be flaky.

Must not know which cells are tried, nor how they are shown.
"""

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct, json, structs

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import CLIENT_VARIABLES, OPTIONS, UsageError
from image_workflow_emulator.sweep import evidence, noted_command
from image_workflow_emulator.sweep.cells import CLIENT, SLOW_SECONDS, Cell
from image_workflow_emulator.testing.emulator import Emulator

Outcome = Literal["survived", "unnoticed", "noticed", "failed", "hung", "damaged"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
"""From the best to the worst; `noticed`: a test failed, or the conduct of the broken client had an error."""
WHOLE: Final = ""
"""The place of a command that has no tests with sandboxes of their own."""
_PLUGIN: Final = {"IMAGE_WORKFLOW_PYTEST": "image_workflow_emulator.sweep.in_pytest"}
"""The variable by which the plugin of pytest loads another."""
_PAUSES: Final = 20
"""How many of its longest pauses a client may make at the second attempt."""
_STOP_SECONDS: Final = 5.0
"""How long a run may take to end after SIGTERM."""
_START_SECONDS: Final = 10.0
"""How much longer than the clean run the first test may take to begin."""


class Run(Struct, frozen=True):
    """How a trial ended. `status` is that of the command, or 1 for a test that failed; None if it did not end in time.

    `struck` tells whether the fault happened; `is_flaky`: it failed, and when it was repeated it did not.
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
    def trial(self) -> Cell:
        """What was tried."""
        return Cell.read(self.cell, self.test)

    @property
    def errors(self) -> list[str]:
        """The rules that were broken with damage."""
        return list(
            dict.fromkeys(
                one["rule"] for one in self.findings if one["severity"] == "error"
            )
        )


class Runner:
    """Starts the runs of a command; to be closed. `given` are the options of the emulator, as texts."""

    def __init__(
        self,
        words: Sequence[str],
        ignored: Sequence[str],
        given: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> None:
        self._variables = {
            name: value
            for name, value in environment.items()
            if name not in CLIENT_VARIABLES
        }
        self._words, self._ignored, self._options = (
            words,
            ignored,
            {"clock": "auto", **given},
        )
        self.timeout_seconds: float | None = None
        """How long a test or a command may take; None: three times the longest so far, and at least 10 s."""
        self.first: dict[Cell, Run] = {}
        """How trials that are to be tried again ended the first time."""
        self._pauses_seconds: dict[Cell, float] = {}
        """Of trials that did not end in time: how long a client may pause at the next attempt."""
        self.output: int | None = 2
        """Where the output of runs goes, as `subprocess` takes it: at first to standard error; None: to that of this
        process.
        """
        self._resources = contextlib.ExitStack()
        folder = tempfile.TemporaryDirectory("sweep", ignore_cleanup_errors=True)
        self._folder = self._resources.enter_context(folder)
        self.stopped = threading.Event()
        """Ends the runs that are under way."""

    def close(self) -> None:
        """End the emulator, and remove all files. No run may be under way."""
        self._resources.close()

    def clean(self) -> None:
        """Run the command as it is. Raises UsageError if it fails, EmulatorError if no emulator starts."""
        with tempfile.TemporaryDirectory(
            dir=self._folder, ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            whole = self._execute(folder, self._options, math.inf)
            if status := whole.tests[WHOLE]["failed"]:
                raise UsageError(
                    f"the command must succeed without a fault; its clean run exited with status {status}"
                )
            self.places = evidence.places_of(folder)[0] or {WHOLE: whole}
            """What happened without a fault."""
        self.output = subprocess.DEVNULL
        if WHOLE not in self.places:
            emulator = self._resources.enter_context(Emulator.start(**self._options))
            self._variables |= emulator.default.env
            if "control_token" in self._options:
                self._variables["EMULATOR_CONTROL_TOKEN"] = self._options[
                    "control_token"
                ]
        journals = [
            journal for place in self.places.values() for journal in place.journals
        ]
        self._kinds = {
            work.operation: work.kind
            for journal in journals
            for work in evidence.works_of(journal)
        }
        self._clean_seconds = whole.seconds
        self._longest_seconds = max(place.seconds for place in self.places.values())

    def run(self, trials: Sequence[Cell]) -> dict[Cell, Run | None]:
        """Run the command once, with the cells of some trials, each of another test.

        Return how each ended; None if it has to be tried again, as the run was ended because of another.
        """
        limit_seconds = max(map(self._limit_seconds, trials))
        with tempfile.TemporaryDirectory(
            dir=self._folder, ignore_cleanup_errors=True
        ) as name:
            folder = Path(name)
            if WHOLE in self.places:
                (trial,) = trials
                options = {**self._options, "scenario": self._scenario(folder, trial)}
                places = {WHOLE: self._execute(folder, options, limit_seconds)}
                begun = {WHOLE} - places[WHOLE].tests.keys()
                has_ended = not begun
            else:
                scenarios = {
                    trial.test: trial.scenario(self._kinds) for trial in trials
                }
                tasks = {
                    test: {"scenario": one, "tests": [*self.places[test].tests]}
                    for test, one in scenarios.items()
                }
                (folder / evidence.TASKS).write_bytes(json.encode(tasks))
                late_seconds = self._clean_seconds + _START_SECONDS
                has_ended = (
                    self._run(folder, self._words, limit_seconds, late_seconds)
                    is not None
                )
                places, begun = evidence.places_of(folder)
        runs: dict[Cell, Run | None] = {}
        for trial in trials:
            place, tests = (
                places.get(trial.test, evidence.Place()),
                self.places[trial.test].tests.keys(),
            )
            is_cut_off = bool(begun & tests)
            if not is_cut_off and place.tests.keys() < tests:
                runs[trial] = None
            elif is_cut_off and not has_ended:
                runs[trial] = self._judged(trial, place, None, limit_seconds)
            else:
                status = (
                    1
                    if is_cut_off
                    else max(int(ended["failed"]) for ended in place.tests.values())
                )
                runs[trial] = self._judged(trial, place, status, place.seconds)
        return runs

    def _limit_seconds(self, trial: Cell) -> float:
        """Return how long a test or command may take: when it is tried again, or only once, three times as long. Its
        pauses do not count, nor does an answer that is late.
        """
        if self.timeout_seconds:
            return self.timeout_seconds
        usual = max(10.0, 3 * self._longest_seconds)
        if trial.is_silent or trial in self.first:
            usual *= 3
        late = 0.0
        if trial.is_silent:
            late = SLOW_SECONDS + 1
            if trial.lasts:
                late *= 3
        return usual + late + self._pauses_seconds.get(trial, 0)

    def waits(self, trial: Cell) -> bool:
        """Tell whether the client of a trial is likely to wait: that takes time, and no processor."""
        return trial.is_silent or trial in self._pauses_seconds  # it hung

    def _execute(
        self, folder: Path, options: Mapping[str, Any], seconds: float
    ) -> evidence.Place:
        """Run the command by `exec`; return what happened. It has no test if it took too long."""
        files = [
            "--quiet",
            f"--report={folder}/report.json",
            f"--journal={folder}/journal.json",
        ]
        noting: list[str] = []
        if seconds < math.inf:
            launcher = noted_command.__file__
            noting = [sys.executable, "-I", "-S", launcher, f"{folder}/group"]
        words = [*flags(options), *files, "--", *noting, *self._words]
        program = [sys.executable, "-m", "image_workflow_emulator", "exec", *words]
        place, began_ms = evidence.Place(), host_elapsed_ms()
        status = self._run(folder, program, seconds)
        if status is not None:
            place.tests[WHOLE] = {
                "failed": status,
                "seconds": (host_elapsed_ms() - began_ms) / 1000,
            }
        else:
            with contextlib.suppress(
                FileNotFoundError, ValueError
            ):  # the command did not begin
                _kill_group(int((folder / "group").read_text()))
        with contextlib.suppress(
            OSError, ValueError
        ):  # it was killed before it could write them
            place.journals += evidence.lives_of(
                json.decode((folder / "journal.json").read_bytes())["data"]
            )
            place.findings = json.decode((folder / "report.json").read_bytes())[
                "findings"
            ]
        return place

    def _scenario(self, folder: Path, cell: Cell) -> str:
        """Write the scenario of a cell, before the rules of the one that was asked for; return the name of its file."""
        own, scenario = self._options.get("scenario"), cell.scenario(self._kinds)
        if own is not None:
            named = scenario_file(own)
            text = (
                ScenarioLibrary(load_contract()).text(own).encode()
                if named is None
                else read_file(named)
            )
            given = read_document(text, own).data
            scenario = {**given, "rules": [*scenario["rules"], *given.get("rules", ())]}
        file = folder / "scenario.json"
        file.write_bytes(json.encode(scenario))
        return str(file)

    def _run(
        self,
        folder: Path,
        words: Sequence[str],
        seconds: float,
        late_seconds: float = 0,
    ) -> int | None:
        """Run a program, and end all that it leaves; return its status, None if it did not end in time.

        Each time that the notes of a run of tests grow, it has that time again; the first may be some seconds late.
        """
        process = subprocess.Popen(  # noqa: S603
            words,
            env={**self._variables, **_PLUGIN, evidence.FOLDER_VARIABLE: str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            start_new_session=True,  # Ctrl-C is for the sweep
        )
        ends_at_ms, notes, size = (
            host_elapsed_ms() + 1000 * (seconds + late_seconds),
            folder / evidence.NOTES,
            0,
        )
        try:
            while process.poll() is None and host_elapsed_ms() < ends_at_ms:
                if self.stopped.wait(0.05):
                    break
                if notes.exists() and notes.stat().st_size > size:
                    ends_at_ms, size = (
                        host_elapsed_ms() + 1000 * seconds,
                        notes.stat().st_size,
                    )
            return process.poll()
        finally:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_STOP_SECONDS)
            _kill_group(process.pid)
            process.wait()

    def _judged(
        self, trial: Cell, place: evidence.Place, status: int | None, seconds: float
    ) -> Run:
        """Judge what happened in a place. `status` is None where it did not end in time."""
        findings = [one for one in place.findings if one["rule"] not in self._ignored]
        if trial.is_answered_once and not any(
            one["severity"] == "error" for one in findings
        ):
            findings += evidence.made_twice(
                self.places[trial.test].journals, place.journals
            )
        harmful = any(one["severity"] == "error" for one in findings)
        outcome: Outcome = "survived"
        if status is None:
            outcome = "hung"
        elif harmful:
            outcome = "damaged"
        elif status:
            outcome = "failed"
        if trial.operation == CLIENT:
            outcome = "unnoticed" if outcome == "survived" else "noticed"
        rules = (
            entry["rule"]["name"]
            for one in place.journals
            for entry in one
            if entry["rule"]
        )
        if status is None and not trial.is_silent:
            self._pauses_seconds[trial] = _PAUSES * place.longest_pause_seconds
        elif not trial.is_silent:
            self._longest_seconds = max(self._longest_seconds, seconds)
        return Run(
            str(trial),
            trial.test,
            outcome,
            status,
            round(seconds, 3),
            findings,
            str(trial) in rules,
        )


def is_sure(run: Run) -> bool:
    """Tell whether chance cannot have ended a run so: a busy machine is slow, and a suite may be flaky."""
    if run.outcome == "failed":
        return not run.trial.is_recoverable
    return (
        run.outcome != "hung" or run.trial.is_silent
    ) and evidence.MADE_TWICE not in run.errors


def agreed(first: Run, second: Run) -> Run:
    """Return what two runs of a trial are together: a failure that a repetition does not show is flaky."""
    if first.outcome == "hung" or OUTCOMES.index(second.outcome) > OUTCOMES.index(
        first.outcome
    ):
        return second
    is_flaky = second.outcome != first.outcome or (
        second.outcome == "failed" and not second.struck
    )
    return (
        structs.replace(first, outcome="failed", is_flaky=True) if is_flaky else first
    )


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return options of the emulator as they are typed."""
    given = ((option.flag, options.get(option.field, ())) for option in OPTIONS)
    return [
        f"{flag}={text}"
        for flag, value in given
        for text in ([value] if isinstance(value, str) else value)
    ]


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
