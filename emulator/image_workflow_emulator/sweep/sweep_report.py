"""The results of a sweep: which outcomes fail it, what is to be fixed, each cause once, and all of it as a report; and
reports of shards joined again.

A cause is an operation and the habit that its client lacks there, one of docs/survive.md, in the words of the
catalogue's recovery. Must not know how a run is made.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, convert, json, structs

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.documents.document import read_document
from image_workflow_emulator.documents.files import MAX_RECORDING_BYTES
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.settings import SettingError
from image_workflow_emulator.sweep.cells import DEFECTS, Cell, Plan, by_urgency
from image_workflow_emulator.sweep.runs import OUTCOMES, Outcome, Run

EXPECTED_FILE: Final = "sweep.expected.yaml"
"""The file that is read where it lies in the working directory."""
_ONE_KEY, _RETRY, _GIVE_UP, _TIMEOUT, _POLL, _WAIT, _NEW_UPLOAD = 1, 2, 5, 6, 7, 9, 11
"""The habits of docs/survive.md, whose sections have these numbers."""
_REMEDIES: Final = {
    _GIVE_UP: "give up after a number of attempts, or a total time, and say so",
    _TIMEOUT: "give every request a time limit",
    _POLL: "poll until `completed` or `failed`, and look at each output",
}


class Expectation(Struct, frozen=True, forbid_unknown_fields=True):
    """An outcome that is accepted of the cells that a glob fits, and why. Nothing excuses damage."""

    cell: str
    outcome: Literal["survived", "failed", "hung"]
    reason: str

    def fits(self, run: Run) -> bool:
        """Tell whether it is about the cell of a run."""
        return fnmatchcase(run.cell, self.cell)


class Gate(Struct, frozen=True):
    """Judges runs."""

    strict: str = "off"
    """`recoverable`, `all` or `off`."""
    expectations: tuple[Expectation, ...] = ()
    least_percent: float = 100.0
    """How many of the classes have to be tried."""

    def accepts(self, run: Run) -> bool:
        """Tell whether the outcome of a run is expected."""
        return any(
            one.fits(run) and one.outcome == run.outcome for one in self.expectations
        )

    def is_weakness(self, run: Run) -> bool:
        """Tell whether a run shows something to fix: damage, hanging, or no recovery from what a client can recover
        from.
        """
        if run.outcome == "damaged":
            return True
        is_sure = not run.is_flaky and not self.accepts(run)
        return is_sure and (
            run.outcome == "hung"
            or (run.outcome == "failed" and run.trial.is_recoverable)
        )

    def fails(self, run: Run) -> bool:
        """Tell whether a run makes the sweep exit with 1."""
        if run.outcome == "failed" and self.strict != "recoverable":
            return self.strict == "all" and not self.accepts(run)
        return self.is_weakness(run)

    def unused(self, runs: Iterable[Run]) -> list[Expectation]:
        """Return the expectations about cells that were run, none of which ended so."""
        fitting = {
            one: [run.outcome for run in runs if one.fits(run)]
            for one in self.expectations
        }
        return [
            one
            for one, outcomes in fitting.items()
            if outcomes and one.outcome not in outcomes
        ]


def read_expectations(name: str | None) -> tuple[Expectation, ...]:
    """Read the file of this name; for None the usual one, if it is there. Raises DocumentError or UnusableFileError."""
    if name is None and not Path(EXPECTED_FILE).exists():
        return ()
    file = name or EXPECTED_FILE
    document = read_document(read_file(file), file)
    document.check(Schemas(json.schema(list[Expectation]), formats={}))
    return tuple(convert(document.value, list[Expectation]))


class Cause(Struct, frozen=True):
    """What several runs have in common, what the client has to do, and the command that repeats one of them."""

    summary: str
    outcome: Outcome
    remedy: str
    section: str
    cells: Sequence[str]
    tests: Sequence[str]
    command: str


class Swept(Struct, eq=False):
    """A sweep so far. `repeat` holds the options that a repetition has to have; `why_stopped` says by what it was
    stopped.

    `shard` is which part of the plan it was, such as `2/8`.
    """

    plan: Plan
    runs: dict[Cell, Run]
    words: Sequence[str]
    repeat: Sequence[str]
    gate: Gate
    shard: str | None = None
    why_stopped: str = ""
    number: int = 1
    """How many runs there were, with the clean one."""
    missing: Sequence[str] = ()
    """The shards whose reports were not merged."""

    @property
    def ended(self) -> list[Run]:
        """The runs that have ended, in the order of the plan."""
        return [self.runs[trial] for trial in self.plan.cells if trial in self.runs]

    @property
    def not_run(self) -> list[Cell]:
        """The trials that have not ended."""
        return [trial for trial in self.plan.cells if trial not in self.runs]

    def line_to_repeat(self, cell: str, test: str) -> str:
        """Return the command line that repeats a cell."""
        in_test = ["--test", test] if test else []
        words = ["sweep", *self.repeat, "--only", cell, *in_test, "--", *self.words]
        return shlex.join(["image-workflow-emulator", *words])

    @property
    def causes(self) -> list[Cause]:
        """What is to be fixed, the worst first, and of what is equal the most frequent."""
        groups: dict[tuple[str, int], list[Run]] = {}
        ranks = {run.trial: OUTCOMES.index(run.outcome) for run in self.ended}
        for run in sorted(self.ended, key=lambda run: -ranks[run.trial]):
            once = structs.replace(run.trial, lasts=False)
            is_worse = (
                once == run.trial or ranks.get(once, 0) < ranks[run.trial]
            )  # else it suffices that it is once
            if self.gate.is_weakness(run) and is_worse:
                groups.setdefault((run.trial.operation, _habit(run)), []).append(run)
        for operation, habit in [*groups]:
            if (
                habit == _WAIT and (operation, _RETRY) in groups
            ):  # who never tries again does not either after a wait
                groups[operation, _RETRY] += groups.pop((operation, habit))
        causes = sorted(
            groups.items(),
            key=lambda group: (-ranks[group[1][0].trial], -len(group[1])),
        )
        return [self._cause(habit, runs) for (_, habit), runs in causes] + [
            *self._unnoticed()
        ]

    def _cause(self, habit: int, runs: Sequence[Run]) -> Cause:
        faults: dict[str, dict[str, None]] = {}
        for run in runs:
            ending = {"failed": "no recovery from", "hung": "no end after"}.get(
                run.outcome
            )
            faults.setdefault(ending or f"{', '.join(run.errors)} after", {})[
                run.trial.fault
            ] = None
        first, endings = (
            runs[0],
            [f"{ending} {first_of([*names])}" for ending, names in faults.items()],
        )
        summary, section = (
            f"{first.trial.operation}: {'; '.join(endings)}",
            f"docs/survive.md, section {habit}",
        )
        cells = list(dict.fromkeys(run.cell for run in runs))
        tests = list(dict.fromkeys(run.test for run in runs if run.test))
        command = self.line_to_repeat(first.cell, first.test)
        return Cause(
            summary, first.outcome, _remedy(habit, runs), section, cells, tests, command
        )

    def _unnoticed(self) -> Iterator[Cause]:
        """Iterate over what no test noticed of a broken client, although requests were changed."""
        noticed = {run.cell for run in self.ended if run.outcome == "noticed"}.union(
            map(str, self.not_run)
        )
        struck = [
            run.cell for run in self.ended if run.outcome == "unnoticed" and run.struck
        ]
        for cell in dict.fromkeys(one for one in struck if one not in noticed):
            defect, command = (
                DEFECTS[Cell.read(cell).fault],
                self.line_to_repeat(cell, ""),
            )
            remedy = f"add a test that fails if {defect}, or fail it by its conduct"
            summary = f"no test of yours would notice if {defect}"
            yield Cause(
                summary, "unnoticed", remedy, "docs/conduct.md", [cell], [], command
            )

    def percent(self) -> float:
        """Return how many of the classes were tried, in percent; of a shard, of those in it."""
        planned = (
            {trial.class_name for trial in self.plan.cells}
            if self.shard
            else self.plan.classes.keys()
        )
        left = {trial.class_name for trial in self.not_run}
        return (
            100
            * len({run.trial.class_name for run in self.ended} - left)
            / max(len(planned), 1)
        )

    def report(self) -> Report:
        """Return the report."""
        causes, failing = (
            self.causes,
            {run.cell for run in self.ended if self.gate.fails(run)},
        )
        if self.gate.strict == "all":
            failing.update(
                cell
                for cause in causes
                if cause.outcome == "unnoticed"
                for cell in cause.cells
            )
        least, columns = self.gate.least_percent, ("operation", "outcome", "faults")
        is_short = self.percent() < least or (
            least == 100 and bool(self.not_run or self.missing)
        )
        counts: dict[str, int] = {
            outcome: sum(run.outcome == outcome for run in self.ended)
            for outcome in OUTCOMES
        }
        findings = [
            ReportFinding(
                rule=cause.outcome,
                severity="error" if failing.intersection(cause.cells) else "warning",
                where=f"{first_of(cause.cells)}{' in ' + first_of(cause.tests) if cause.tests else ''}",
                message=cause.summary,
                remedy=f"{cause.remedy} ({cause.section})",
                command=cause.command,
            )
            for cause in causes
        ]
        status = 0
        if failing:
            status = 1
        elif is_short:
            status = 3
        return Report(
            kind="sweep",
            ok=not failing and not is_short,
            summary=self._summary(counts),
            findings=findings,
            counts={**counts, "not_run": len(self.not_run), "runs": self.number},
            checked={outcome: len(self.ended) for outcome in OUTCOMES[1:]},
            tables=[
                ReportTable(
                    title="Calls by outcome", columns=columns, rows=self._rows()
                )
            ],
            next=[cause.command for cause in causes[:1]],
            details={
                "cells": [structs.asdict(run) for run in self.ended],
                "classes": [
                    {
                        "class": name,
                        "stands_for": list(map(str, cells)),
                        "outcome": self._outcome(cells),
                    }
                    for name, cells in self.plan.classes.items()
                ],
                "causes": [structs.asdict(cause) for cause in causes],
                "flaky": [run.cell for run in self.ended if run.is_flaky],
                "unused_expectations": [
                    structs.asdict(one) for one in self.gate.unused(self.ended)
                ],
                "left_out": [
                    {"cell": str(cell), "why": why}
                    for cell, why in self.plan.left_out.items()
                ],
                "not_run": [
                    {"cell": str(trial), "test": trial.test} for trial in self.not_run
                ],
                "command": list(self.words),
                "options": list(self.repeat),
                "shard": self.shard,
            },
            status=status,
        )

    def _outcome(self, cells: Sequence[Cell]) -> Outcome | None:
        """Return the worst outcome of some cells."""
        names = set(map(str, cells))
        return max(
            (run.outcome for run in self.ended if run.cell in names),
            key=OUTCOMES.index,
            default=None,
        )

    def _summary(self, counts: Mapping[str, int]) -> str:
        """Return the number of runs by outcome, and what was not run, each in a sentence."""
        words = ", ".join(
            f"{count} {one}"
            for one, count in counts.items()
            if count or "noticed" not in one
        )
        sentences = [
            f"{count_of(len(self.ended), 'cell')} tried in {count_of(self.number, 'run')}: {words}"
        ]
        if self.not_run:
            left = (
                f"{count_of(len(self.not_run), 'cell')} not tried, {self.why_stopped}"
            )
            sentences.append(
                f"incomplete: {left}; {self.percent():.0f} % of the classes were tried"
            )
        if self.missing:
            sentences.append(
                f"incomplete: no report of the shards {first_of(self.missing)}"
            )
        return ". ".join(sentences)

    def _rows(self) -> list[list[str]]:
        """Return the faults of each operation by outcome; `+` marks those that last."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for run in self.ended:
            operation, _, fault = run.trial.class_name.partition(":")
            found.setdefault((operation, run.outcome), {})[fault] = None
        return [[*place, ", ".join(faults)] for place, faults in sorted(found.items())]


def merged(files: Sequence[str], gate: Gate) -> Swept:
    """Join the reports of the shards of one sweep. Raises SettingError, UnusableFileError."""
    contents = [read_file(name, MAX_RECORDING_BYTES) for name in files]
    try:
        return _joined([json.decode(content) for content in contents], gate)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise SettingError(
            "--merge", " ".join(files), "whole JSON reports of the shards of one sweep"
        ) from None


def _joined(reports: Sequence[Mapping[str, Any]], gate: Gate) -> Swept:
    first = reports[0]
    same = [
        [report[key] for key in ("kind", "command", "options", "left_out")]
        for report in reports
    ]
    if (
        same.count(same[0]) < len(same)
        or first["kind"] != "sweep"
        or any("not_shown" in report for report in reports)
    ):
        raise ValueError
    runs = {
        run.trial: run
        for report in reports
        for run in convert(report["cells"], list[Run])
    }
    left = {
        Cell.read(row["cell"], row["test"])
        for report in reports
        for row in report["not_run"]
    }
    plan = Plan(by_urgency({*runs, *left}))
    plan.classes = {
        row["class"]: [*map(Cell.read, row["stands_for"])] for row in first["classes"]
    }
    plan.left_out = {Cell.read(row["cell"]): row["why"] for row in first["left_out"]}
    swept = Swept(plan, runs, first["command"], first["options"], gate)
    swept.number = sum(report["counts"]["runs"] for report in reports)
    shards = {report["shard"] for report in reports} - {None}
    number = int(max(shards, default="/0").partition("/")[2])
    swept.missing = [
        f"{one}/{number}"
        for one in range(1, number + 1)
        if f"{one}/{number}" not in shards
    ]
    swept.why_stopped = "in the shards that were merged"
    return swept


def _habit(run: Run) -> int:
    """Return the habit of docs/survive.md that the client lacks, by its number."""
    if run.outcome == "damaged":
        return _ONE_KEY
    if run.outcome == "hung" and (run.trial.lasts or run.trial.is_silent):
        return _GIVE_UP if run.trial.lasts else _TIMEOUT
    if run.trial.group == "outputs":
        return _POLL
    if run.trial.fault in MENDED_BY_CLIENT:
        return _NEW_UPLOAD
    return _WAIT if run.trial.fault == "resource_operation_in_progress" else _RETRY


def _remedy(habit: int, runs: Sequence[Run]) -> str:
    if habit == _ONE_KEY:
        return next(
            str(one["remedy"]) for one in runs[0].findings if one["severity"] == "error"
        )
    if habit in _REMEDIES:
        return _REMEDIES[habit]
    usual = CATALOGUE["internal_error"]
    recoveries = {CATALOGUE.get(run.trial.fault, usual).recovery for run in runs}
    recovery = usual.recovery if len(recoveries) > 1 else recoveries.pop()
    is_deletion = habit == _RETRY and runs[0].trial.operation.startswith("delete")
    return recovery + (
        "; a DELETE that is repeated and finds 404 is done" if is_deletion else ""
    )
