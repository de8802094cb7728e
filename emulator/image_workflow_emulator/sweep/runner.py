"""The runs of a sweep: the clean one, and those with faults.

Theory of operation. The clean run is one of `exec`, which writes the journal of all
sandboxes. If the plugin of pytest noted sandboxes of tests in it, all further runs are
the command itself beside one emulator, and each tries a cell in each of some tests, or
several in as many rounds of these tests.
Otherwise each is a run of `exec` with one cell.

Must not know how the cells were chosen, nor how they are shown.
"""

import contextlib
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, json

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.client.proxies import no_proxy_variables
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.kernel.clock import host_elapsed_ms
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.settings import CLIENT_VARIABLES, OPTIONS, UsageError
from image_workflow_emulator.sweep import evidence
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.evidence import WHOLE, EndedTest, Notes, Place, Task
from image_workflow_emulator.sweep.journals import Entry, by_sandbox, works_of
from image_workflow_emulator.sweep.judging import Judge
from image_workflow_emulator.sweep.processes import TimeLimit, noting, run_to_end
from image_workflow_emulator.sweep.runs import Run
from image_workflow_emulator.sweep.time_limits import TimeLimits
from image_workflow_emulator.sweep.warming import warm_up
from image_workflow_emulator.testing.emulator import Emulator

_STANDARD_ERROR: Final = 2
_START_SECONDS: Final = 10.0
"""How much longer than the clean run the first test may take to begin."""
_FAULT: Final = "fault.json"
"""The scenario of a cell alone, for sandboxes that are made with `scenario: null`."""


@dataclass(frozen=True, kw_only=True)
class RunnerOptions:
    """What is run, and how."""

    words: Sequence[str]
    """The command."""
    option_texts: Mapping[str, Any]
    """The options of the emulator."""
    environment: Mapping[str, str]
    ignored_rules: Sequence[str]
    """Rules of conduct that are left out."""
    timeout_seconds: float | None
    """The limit of a test or the command; None: three times the longest so far, and at
    least 10 s."""


class _Journal(Struct):
    """The journal that `exec` writes."""

    data: list[Entry]


class _Report(Struct):
    """What is read of the report that `exec` writes."""

    findings: list[ReportFinding]


class _Seen(Struct):
    """What a run leaves."""

    rounds: Mapping[int, Notes]
    """What happened in each round of the tests."""
    has_ended: bool
    """Whether the command ended in time."""


class Runner:
    """Runs a command. To be closed."""

    def __init__(self, options: RunnerOptions) -> None:
        self._options = options
        self._option_texts = {"clock": "auto", **options.option_texts}
        self._variables = {
            name: value
            for name, value in options.environment.items()
            if name not in CLIENT_VARIABLES
        }
        self.limits = TimeLimits(options.timeout_seconds)
        self.output: int | None = _STANDARD_ERROR
        """Where the output of runs goes, as `subprocess` takes it. None: to that of
        this process."""
        self.stopped = threading.Event()
        """Ends the runs that are under way."""
        self.places: dict[str, Place] = {}
        """What happened without a fault, once the clean run has ended."""
        self._resources = contextlib.ExitStack()
        folder = tempfile.TemporaryDirectory("sweep", ignore_cleanup_errors=True)
        self._folder = self._resources.enter_context(folder)
        self._keep_bytecode()

    def _keep_bytecode(self) -> None:
        """Let Python keep compiled modules where it must not write them beside their
        source: each run would compile all of them, and pytest rewrite them, again.
        """
        if self._variables.pop("PYTHONDONTWRITEBYTECODE", ""):
            folder = str(Path(self._folder, "bytecode"))
            self._variables.setdefault("PYTHONPYCACHEPREFIX", folder)

    def close(self) -> None:
        """End the emulator, and remove all files. No run may be under way."""
        self._resources.close()

    @property
    def is_one_command(self) -> bool:
        """Whether the command has no tests with sandboxes of their own."""
        return WHOLE in self.places

    def clean(self) -> None:
        """Run the command as it is.

        Raises UsageError if it fails, EmulatorError if no emulator starts.
        """
        with self._run_folder() as folder:
            whole = self._execute(
                folder,
                self._options.words,
                self._option_texts,
                TimeLimit(),
                self.stopped.is_set,
            )
            if whole.status:
                raise UsageError(
                    "the command must succeed without a fault; its clean run exited "
                    f"with status {whole.status}"
                )
            notes = evidence.read_notes(folder)[0]
        self.places = notes.places or {WHOLE: whole}
        self.output = subprocess.DEVNULL
        self._clean_seconds = whole.seconds
        self._judge = Judge(self.places, self._options.ignored_rules)
        self._kinds: dict[str, str] = {}
        for place in self.places.values():
            self.limits.note_duration(place.seconds)
            for journal in place.journals:
                for work in works_of(journal):
                    self._kinds[work.operation] = work.kind
        if not self.is_one_command:
            self._start_emulator()

    def _start_emulator(self) -> None:
        """Start the emulator of all further runs."""
        emulator = Emulator.start(**self._option_texts)
        self._resources.enter_context(emulator)
        self._variables |= emulator.default.env
        self._variables |= no_proxy_variables(self._variables)
        token = self._option_texts.get("control_token")
        if token is not None:
            self._variables["EMULATOR_CONTROL_TOKEN"] = token
        warm_up(emulator, token)

    # A run with faults ----------------------------------------------------------------

    def run(
        self,
        trials: Sequence[Cell],
        given_up: threading.Event,
    ) -> dict[Cell, Run | None]:
        """Run the command once, with the cells of some trials. Several of one test are
        tried in as many rounds.

        `given_up` ends the run. Returns how each trial ended; None if it has to be
        tried again, as the run was ended because of another.
        """
        seconds = max(map(self.limits.seconds, trials))

        def is_stopped() -> bool:
            return given_up.is_set() or self.stopped.is_set()

        with self._run_folder() as folder:
            if self.is_one_command:
                (trial,) = trials
                seen = self._run_command(folder, trial, seconds, is_stopped)
            else:
                seen = self._run_tests(folder, trials, seconds, is_stopped)
        runs = {}
        for trial, number in rounds_of(trials).items():
            notes = seen.rounds.get(number, Notes())
            runs[trial] = self._judged(trial, notes, seconds, seen.has_ended)
        return runs

    def _run_command(
        self,
        folder: Path,
        trial: Cell,
        seconds: float,
        is_stopped: Callable[[], bool],
    ) -> _Seen:
        words = noting(folder, self._options.words)
        scenario_file = self._scenario(folder, trial)
        options = {**self._option_texts, "scenario": scenario_file}
        limit = TimeLimit(seconds=seconds)
        place = self._execute(folder, words, options, limit, is_stopped)
        notes = Notes({WHOLE: place})
        if WHOLE not in place.tests:
            notes.unfinished.add(WHOLE)
        return _Seen({0: notes}, has_ended=not notes.unfinished)

    def _run_tests(
        self,
        folder: Path,
        trials: Sequence[Cell],
        seconds: float,
        is_stopped: Callable[[], bool],
    ) -> _Seen:
        rounds: list[evidence.Tasks] = []
        for trial, number in rounds_of(trials).items():
            if number == len(rounds):
                rounds.append({})
            rounds[number][trial.test] = Task(
                tests=list(self.places[trial.test].tests),
                scenario=trial.scenario(self._kinds),
            )
        tasks_file = folder / evidence.TASKS
        tasks_file.write_bytes(json.encode(rounds))
        status = run_to_end(
            folder,
            self._options.words,
            variables=self._variables,
            output=self.output,
            limit=TimeLimit(
                seconds=seconds,
                first_seconds=self._clean_seconds + _START_SECONDS,
            ),
            is_stopped=is_stopped,
        )
        return _Seen(
            rounds=evidence.read_notes(folder),
            has_ended=status is not None,
        )

    def _judged(
        self,
        trial: Cell,
        notes: Notes,
        limit_seconds: float,
        has_ended: bool,
    ) -> Run | None:
        """Judge a trial by what happened in its round; None if its tests did not come.

        `has_ended` tells whether the command ended in time.
        """
        place = notes.places.get(trial.test, Place())
        tests = self.places[trial.test].tests.keys()
        is_cut_off = bool(notes.unfinished & tests)
        if is_cut_off and not has_ended:
            self.limits.note_hung(trial, place)
            return self._judge.judge(trial, place, None, limit_seconds)
        if not is_cut_off and place.tests.keys() < tests:
            return None
        if not trial.is_silent:
            self.limits.note_duration(place.seconds)
        status = place.status
        if is_cut_off:
            status = 1
        return self._judge.judge(trial, place, status, place.seconds)

    # A run of exec --------------------------------------------------------------------

    def _execute(
        self,
        folder: Path,
        words: Sequence[str],
        options: Mapping[str, Any],
        limit: TimeLimit,
        is_stopped: Callable[[], bool],
    ) -> Place:
        """Run a command by `exec`; return what happened. It has no test if it was ended
        early.
        """
        journal_file = folder / "journal.json"
        report_file = folder / "report.json"
        job_folder = Path(self._folder, "jobs")
        files = [
            f"--report={report_file}",
            f"--journal={journal_file}",
            f"--job-folder={job_folder}",
        ]
        fault_file = folder / _FAULT
        if fault_file.exists():
            files.append(f"--fault={fault_file}")
        emulator = [sys.executable, "-m", "image_workflow_emulator"]
        command = [
            *emulator,
            "exec",
            *flags(options),
            "--quiet",
            *files,
            "--",
            *words,
        ]
        began_ms = host_elapsed_ms()
        status = run_to_end(
            folder,
            command,
            variables=self._variables,
            output=self.output,
            limit=limit,
            is_stopped=is_stopped,
        )
        seconds = (host_elapsed_ms() - began_ms) / 1000
        place = Place()
        if status is not None:
            place.tests[WHOLE] = EndedTest(
                test=WHOLE,
                places=[WHOLE],
                status=status,
                seconds=seconds,
            )
        # Neither is written if it was killed.
        with contextlib.suppress(OSError, ValueError):
            journal = json.decode(journal_file.read_bytes(), type=_Journal)
            place.journals = by_sandbox(journal.data)
            place.is_recorded = True
            report = json.decode(report_file.read_bytes(), type=_Report)
            place.findings = report.findings
        return place

    def _scenario(self, folder: Path, cell: Cell) -> str:
        """Write the scenario of a cell, whose rule is before those of the scenario that
        was asked for. Return the name of its file.
        """
        scenario = cell.scenario(self._kinds)
        (folder / _FAULT).write_bytes(json.encode(scenario))
        name = self._option_texts.get("scenario")
        if name is not None:
            own = _read_scenario(name)
            rules = [*scenario["rules"], *own.get("rules", ())]
            scenario = {**own, "rules": rules}
        file = folder / "scenario.json"
        file.write_bytes(json.encode(scenario))
        return str(file)

    @contextlib.contextmanager
    def _run_folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(
            dir=self._folder,
            ignore_cleanup_errors=True,
        ) as name:
            yield Path(name)


def rounds_of(trials: Sequence[Cell]) -> dict[Cell, int]:
    """Return the round of each trial: that of a test's first one is 0."""
    counts = Counter[str]()
    rounds = {}
    for trial in trials:
        rounds[trial] = counts[trial.test]
        counts[trial.test] += 1
    return rounds


def _read_scenario(name: str) -> dict[str, Any]:
    """Return a scenario by its name or file. Raises DocumentError."""
    file = scenario_file(name)
    if file is None:
        library = ScenarioLibrary(load_contract())
        content = library.text(name).encode()
    else:
        content = read_file(file)
    scenario: dict[str, Any] = read_document(content, name).data
    return scenario


def flags(texts: Mapping[str, Any]) -> list[str]:
    """Return options of the emulator as they are typed."""
    words = []
    for option in OPTIONS:
        values = texts.get(option.field, ())
        if isinstance(values, str):
            values = [values]
        words += [f"{option.flag}={value}" for value in values]
    return words
