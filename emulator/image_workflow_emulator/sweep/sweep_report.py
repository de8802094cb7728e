"""The results of a sweep: what is to be fixed, each cause once, and all of it as a report; and reports of shards joined
again.

A cause is an operation and what its client has to do, in the words of the catalogue's recovery; it names the section of
docs/survive.md about it. Must not know how a run is made.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, convert, json, structs

from image_workflow_emulator.client.files import read_file
from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT, MENDED_BY_TIME
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.settings import SettingError
from image_workflow_emulator.sweep.cells import DEFECTS, Cell
from image_workflow_emulator.sweep.expected import Gate
from image_workflow_emulator.sweep.plan import Plan
from image_workflow_emulator.sweep.runs import OUTCOMES, Outcome, Run

PROGRAM: Final = "image-workflow-emulator"
INCOMPLETE: Final = 3
"""The exit status where nothing is wrong in what was tried, but not everything was."""
_SURVIVE: Final = "docs/survive.md, section"
_WAITING: Final = frozenset({"concurrency_limit_reached", "resource_operation_in_progress"})
"""The problems that end when work has finished: to repeat the request is not all."""


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
    clean_seconds: float = 0.0
    why_stopped: str = ""
    number: int = 0
    """How many runs there were."""
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
        return shlex.join([PROGRAM, "sweep", *self.repeat, "--only", cell, *in_test, "--", *self.words])

    @property
    def causes(self) -> list[Cause]:
        """What is to be fixed, the worst first, and of what is equal the most frequent."""
        groups: dict[tuple[str, ...], list[Run]] = {}
        ranks = {run.trial: OUTCOMES.index(run.outcome) for run in self.ended}
        unnoticed = self.unnoticed
        for run in self.ended:
            if self.gate.is_weakness(run) or run.cell in unnoticed:
                once = structs.replace(run.trial, lasts=False)
                if once == run.trial or ranks.get(once, 0) < ranks[run.trial]:  # else it suffices that it happens once
                    groups.setdefault((run.trial.operation, run.outcome, *_remedy(run)), []).append(run)
        return list(map(self._cause, sorted(groups.values(), key=lambda runs: (-ranks[runs[0].trial], -len(runs)))))

    def _cause(self, runs: Sequence[Run]) -> Cause:
        first, trial, (remedy, section) = runs[0], runs[0].trial, _remedy(runs[0])
        endings = {"failed": "no recovery from", "hung": "no end after"}
        ending = endings.get(first.outcome) or f"{', '.join(first.errors)} after"
        summary = f"{trial.operation}: {ending} {first_of(list(dict.fromkeys(run.trial.fault for run in runs)))}"
        if first.outcome == "unnoticed":
            summary = f"no test of yours would notice if {DEFECTS[trial.fault]}"
        cells = list(dict.fromkeys(run.cell for run in runs))
        tests = list(dict.fromkeys(run.test for run in runs if run.test and first.outcome != "unnoticed"))
        command = self.line_to_repeat(first.cell, first.test if tests else "")
        return Cause(summary, first.outcome, remedy, section, cells, tests, command)

    @property
    def unnoticed(self) -> set[str]:
        """The cells of a broken client that no test noticed, although requests were changed."""
        struck = {run.cell for run in self.ended if run.outcome == "unnoticed" and run.struck}
        noticed = {run.cell for run in self.ended if run.outcome == "noticed"}
        return struck - noticed - {str(trial) for trial in self.not_run}

    def percent(self) -> float:
        """Return how many of the classes were tried, in percent; of a shard, of those in it."""
        planned = {trial.class_name for trial in self.plan.cells} if self.shard else self.plan.classes.keys()
        left = {trial.class_name for trial in self.not_run}
        return 100 * len({run.trial.class_name for run in self.ended} - left) / max(len(planned), 1)

    def report(self) -> Report:
        """Return the report."""
        causes, failing = self.causes, {run.cell for run in self.ended if self.gate.fails(run)}
        if self.gate.strict == "all":
            failing |= self.unnoticed
        least, columns = self.gate.least_percent, ("operation", "outcome", "faults")
        is_short = self.percent() < least or (least == 100 and bool(self.not_run or self.missing))
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
        return Report(
            kind="sweep",
            ok=not failing and not is_short,
            summary=self._summary(),
            findings=findings,
            counts={**self._counts, "not_run": len(self.not_run), "runs": self.number},
            checked={outcome: len(self.ended) for outcome in OUTCOMES[1:]},
            tables=[ReportTable(title="Calls by outcome", columns=columns, rows=self._rows())],
            next=[cause.command for cause in causes[:1]],
            details={
                "cells": [structs.asdict(run) for run in self.ended],
                "classes": [
                    {"class": name, "stands_for": list(map(str, cells)), "outcome": self._outcome(cells)}
                    for name, cells in self.plan.classes.items()
                ],
                "causes": [structs.asdict(cause) for cause in causes],
                "flaky": [run.cell for run in self.ended if run.is_flaky],
                "unused_expectations": [structs.asdict(one) for one in self.gate.unused(self.ended)],
                "left_out": [{"cell": str(cell), "why": why} for cell, why in self.plan.left_out.items()],
                "not_run": [{"cell": str(trial), "test": trial.test} for trial in self.not_run],
                "command": list(self.words),
                "options": list(self.repeat),
                "clean_seconds": round(self.clean_seconds, 3),
                "shard": self.shard,
            },
            status=1 if failing else INCOMPLETE if is_short else 0,
        )

    @property
    def _counts(self) -> dict[str, int]:
        return {outcome: sum(run.outcome == outcome for run in self.ended) for outcome in OUTCOMES}

    def _outcome(self, cells: Sequence[Cell]) -> Outcome | None:
        """Return the worst outcome of some cells."""
        names = set(map(str, cells))
        return max((run.outcome for run in self.ended if run.cell in names), key=OUTCOMES.index, default=None)

    def _summary(self) -> str:
        """Return the number of runs by outcome, and what was not run, each in a sentence."""
        words = ", ".join(f"{count} {one}" for one, count in self._counts.items() if count or "noticed" not in one)
        sentences = [f"{count_of(len(self.ended), 'cell')} tried in {count_of(self.number, 'run')}: {words}"]
        if self.not_run:
            left = f"{count_of(len(self.not_run), 'cell')} not tried, {self.why_stopped}"
            sentences.append(f"incomplete: {left}; {self.percent():.0f} % of the classes were tried")
        if self.missing:
            sentences.append(f"incomplete: no report of the shards {first_of(self.missing)}")
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
    reports = [_read(name) for name in files]
    first = reports[0]
    for name, report in zip(files, reports, strict=True):
        if any(report[key] != first[key] for key in ("command", "options")) or _classes(report) != _classes(first):
            raise SettingError("--merge", name, f"the report of a shard of the same sweep as {files[0]}")
    runs = {run.trial: run for report in reports for run in convert(report["cells"], list[Run])}
    left = {Cell.read(row["cell"], row["test"]) for report in reports for row in report["not_run"]}
    plan = Plan([*runs, *(left - runs.keys())])
    plan.classes = _classes(first)
    plan.left_out = {Cell.read(row["cell"]): row["why"] for row in first["left_out"]}
    plan.order()
    swept = Swept(plan, runs, first["command"], first["options"], gate, None, first["clean_seconds"])
    swept.number = sum(report["counts"]["runs"] for report in reports)
    shards = {report["shard"] for report in reports} - {None}
    number = int(max(shards, default="/0").partition("/")[2])
    swept.missing = [f"{one}/{number}" for one in range(1, number + 1) if f"{one}/{number}" not in shards]
    swept.why_stopped = "in the shards that were merged"
    return swept


def _classes(report: Mapping[str, Any]) -> dict[str, list[Cell]]:
    return {row["class"]: list(map(Cell.read, row["stands_for"])) for row in report["classes"]}


def _read(name: str) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.decode(read_file(name))
        _ = report["cells"], report["not_run"], _classes(report)
    except (ValueError, TypeError, KeyError):
        raise SettingError("--merge", name, "a JSON report of sweep") from None
    return report


def _remedy(run: Run) -> tuple[str, str]:
    """Return what would mend a run, and the section about it."""
    cell = run.trial
    if run.outcome == "unnoticed":
        return f"add a test that fails if {DEFECTS[cell.fault]}, or fail it by its conduct", "docs/conduct.md"
    if run.outcome == "damaged":
        return next(str(one["remedy"]) for one in run.findings if one["severity"] == "error"), f"{_SURVIVE} 1"
    if run.outcome == "hung" and cell.is_silent:
        return "give every request a time limit", f"{_SURVIVE} 6"
    if run.outcome == "hung" and cell.lasts:
        return "give up after a number of attempts, or a total time, and say so", f"{_SURVIVE} 5"
    if cell.group == "outputs":
        return "poll until `completed` or `failed`, and look at each output", f"{_SURVIVE} 7"
    if cell.fault not in CATALOGUE or cell.fault in MENDED_BY_TIME - _WAITING:
        deletion = "; a DELETE that is repeated and finds 404 is done" if cell.operation.startswith("delete") else ""
        return CATALOGUE["internal_error"].recovery + deletion, f"{_SURVIVE} 2"
    return CATALOGUE[cell.fault].recovery, f"{_SURVIVE} {11 if cell.fault in MENDED_BY_CLIENT else 9}"
