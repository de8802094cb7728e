"""The results of a sweep: what is to be fixed, each cause once, and all of it as a report.

A cause is an operation and what its client has to do, in the words of the catalogue's recovery; it names the section of
docs/survive.md about it. Must not know how a run is made.
"""

import shlex
from collections.abc import Sequence
from typing import Final

from msgspec import Struct, structs

from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT, MENDED_BY_TIME
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.sweep.cells import DEFECTS, Cell
from image_workflow_emulator.sweep.expected import Gate
from image_workflow_emulator.sweep.plan import Plan, Trial
from image_workflow_emulator.sweep.runs import OUTCOMES, Outcome, Run

PROGRAM: Final = "image-workflow-emulator"
NOT_RUN: Final = "not run"
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
    """A sweep so far. `repeat` holds the options that a repetition has to have; `why_stopped` says by what it was stopped.

    `shard` is which part of the plan it was, such as `2/8`; `least_percent`: how many of the classes the gate asks for.
    """

    plan: Plan
    runs: dict[Trial, Run]
    words: Sequence[str]
    repeat: Sequence[str]
    gate: Gate
    clean_seconds: float = 0.0
    shard: str | None = None
    least_percent: float = 100.0
    why_stopped: str = ""
    number: int = 0
    """How many runs there were."""
    missing: Sequence[str] = ()
    """The shards whose reports were not merged."""

    @property
    def ended(self) -> list[Run]:
        """The runs that have ended, in the order of the plan."""
        return [self.runs[trial] for trial in self.plan.trials if trial in self.runs]

    @property
    def not_run(self) -> list[Trial]:
        """The trials that have not ended."""
        return [trial for trial in self.plan.trials if trial not in self.runs]

    def line_to_repeat(self, cell: str, test: str) -> str:
        """Return the command line that repeats a cell."""
        in_test = ["--test", test] if test else []
        return shlex.join([PROGRAM, "sweep", *self.repeat, "--only", cell, *in_test, "--", *self.words])

    @property
    def causes(self) -> list[Cause]:
        """What is to be fixed, the worst first, and of what is equal the most frequent."""
        groups: dict[tuple[str, ...], list[Run]] = {}
        ranks = {run.trial: OUTCOMES.index(run.outcome) for run in self.ended}
        for run in filter(self.gate.is_weakness, self.ended):
            once = structs.replace(run.trial, cell=structs.replace(run.trial.cell, lasts=False))
            if once == run.trial or ranks.get(once, 0) < ranks[run.trial]:  # else it suffices that it happens once
                groups.setdefault((run.trial.cell.operation, run.outcome, *_remedy(run)), []).append(run)
        ordered = sorted(groups.values(), key=lambda runs: (-OUTCOMES.index(runs[0].outcome), -len(runs)))
        return [*map(self._cause, ordered), *map(self._unnoticed_cause, self.unnoticed)]

    def _cause(self, runs: Sequence[Run]) -> Cause:
        first, (remedy, section) = runs[0], _remedy(runs[0])
        endings = {"failed": "no recovery from", "hung": "no end after"}
        ending = endings.get(first.outcome) or f"{', '.join(first.errors)} after"
        faults = first_of(list(dict.fromkeys(run.trial.cell.fault for run in runs)))
        summary = f"{first.trial.cell.operation}: {ending} {faults}"
        cells = list(dict.fromkeys(run.cell for run in runs))
        tests = list(dict.fromkeys(run.test for run in runs if run.test))
        return Cause(summary, first.outcome, remedy, section, cells, tests, self.line_to_repeat(first.cell, first.test))

    def _unnoticed_cause(self, cell: str) -> Cause:
        summary = f"no test of yours would notice if {DEFECTS[Cell.read(cell).fault]}"
        remedy = "add a test that fails then, or a limit for the conduct of the client"
        return Cause(summary, "unnoticed", remedy, "docs/conduct.md", [cell], [], self.line_to_repeat(cell, ""))

    def percent(self) -> float:
        """Return how many of the classes were tried, in percent; of a shard, of those in it."""
        planned = {trial.cell.class_name for trial in self.plan.trials} if self.shard else self.plan.classes.keys()
        left = {trial.cell.class_name for trial in self.not_run}
        return 100 * len({run.trial.cell.class_name for run in self.ended} - left) / max(len(planned), 1)

    @property
    def unnoticed(self) -> list[str]:
        """The cells of a broken client that no test noticed, although requests were changed."""
        left, struck = {str(trial.cell) for trial in self.not_run}, {run.cell for run in self.ended if run.struck}
        worst = {name: self._outcome(cells) for name, cells in self.plan.classes.items()}
        return [cell for cell, outcome in worst.items() if outcome == "unnoticed" and cell in struck - left]

    def report(self) -> Report:
        """Return the report."""
        causes, failing = self.causes, {run.cell for run in self.ended if self.gate.fails(run)}
        if self.gate.strict == "all":
            failing |= set(self.unnoticed)
        is_left = self.least_percent == 100 and bool(self.not_run or self.missing)
        is_short = is_left or self.percent() < self.least_percent
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
        plan = self.plan
        return Report(
            kind="sweep",
            ok=not failing and not is_short,
            summary=self._summary(),
            findings=findings,
            counts={**self._counts, "not_run": len(self.not_run), "runs": self.number},
            checked={outcome: len(self.ended) for outcome in OUTCOMES[1:]},
            tables=[
                ReportTable(title="Calls by outcome", columns=("operation", "outcome", "faults"), rows=self._rows())
            ],
            next=[cause.command for cause in causes[:1]],
            details={
                "cells": [structs.asdict(run) for run in self.ended],
                "classes": [
                    {"class": name, "stands_for": list(map(str, cells)), "outcome": self._outcome(cells)}
                    for name, cells in plan.classes.items()
                ],
                "causes": [structs.asdict(cause) for cause in causes],
                "flaky": [run.cell for run in self.ended if run.is_flaky],
                "unused_expectations": [structs.asdict(one) for one in self.gate.unused(self.ended)],
                "left_out": [{"cell": str(cell), "why": why} for cell, why in plan.left_out.items()],
                "not_run": [{"cell": str(trial.cell), "test": trial.test} for trial in self.not_run],
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
            operation, _, fault = run.trial.cell.class_name.partition(":")
            found.setdefault((operation, run.outcome), {})[fault] = None
        return [[*place, ", ".join(faults)] for place, faults in sorted(found.items())]


def _remedy(run: Run) -> tuple[str, str]:
    """Return what would mend a run, and the section about it."""
    cell = run.trial.cell
    if run.outcome == "damaged":
        return next(str(one["remedy"]) for one in run.findings if one["severity"] == "error"), f"{_SURVIVE} 1"
    if run.outcome == "hung" and cell.is_silent:
        return "give every request a time limit", f"{_SURVIVE} 6"
    if run.outcome == "hung" and cell.lasts:
        return "give up after a number of attempts, or a total time, and say so", f"{_SURVIVE} 5"
    if cell.group == "outputs":
        return "poll until `completed` or `failed`, and look at each output", f"{_SURVIVE} 7"
    if cell.fault not in CATALOGUE or cell.fault in MENDED_BY_TIME - _WAITING:
        return CATALOGUE["internal_error"].recovery, f"{_SURVIVE} 2"
    return CATALOGUE[cell.fault].recovery, f"{_SURVIVE} {11 if cell.fault in MENDED_BY_CLIENT else 4}"
