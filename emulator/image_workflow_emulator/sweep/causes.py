"""The results of a sweep: what is to be fixed, each cause once, and all of it as a report.

A cause is an operation and what its client has to do, in the words of the catalogue's recovery; it names the section of
docs/survive.md about it. Must not know how a run is made.
"""

import shlex
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct, structs

from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.problems import CATALOGUE, MENDED_BY_CLIENT, MENDED_BY_TIME
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.scenario.matching import BYTE_SURFACES
from image_workflow_emulator.sweep.cells import DEFECTS, Cell, circumstance
from image_workflow_emulator.sweep.evidence import MADE_TWICE
from image_workflow_emulator.sweep.expected import Gate
from image_workflow_emulator.sweep.plan import Plan, Trial
from image_workflow_emulator.sweep.runs import OUTCOMES, Outcome, Run

PROGRAM: Final = "image-workflow-emulator"
NOT_RUN: Final = "not run"
INCOMPLETE: Final = 3
"""The exit status where nothing is wrong in what was tried, but not everything was."""
_SURVIVE: Final = "docs/survive.md, section"
_DELETED: Final = "repeat it: a DELETE whose answer was lost and that finds 404 is done"
_SAME_KEY: Final = "send it again with the Idempotency-Key of its first attempt"
_READ_AGAIN: Final = "ask again after a growing pause: a read changes nothing"
_PUT_AGAIN: Final = "send the same bytes again, or create a new Upload Session"


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
        return [self._cause(runs) for runs in ordered]

    def _cause(self, runs: Sequence[Run]) -> Cause:
        first, (remedy, section) = runs[0], _remedy(runs[0])
        cells = list(dict.fromkeys(run.cell for run in runs))
        tests = list(dict.fromkeys(run.test for run in runs if run.test))
        return Cause(
            _summary(runs), first.outcome, remedy, section, cells, tests, self.line_to_repeat(first.cell, first.test)
        )

    def percent(self) -> float:
        """Return how many of the classes were tried, in percent; of a shard, of those in it."""
        planned = {trial.cell.class_name for trial in self.plan.trials} if self.shard else self.plan.classes.keys()
        left = {trial.cell.class_name for trial in self.not_run}
        return 100 * len({run.trial.cell.class_name for run in self.ended} - left) / max(len(planned), 1)

    @property
    def unnoticed(self) -> list[str]:
        """The cells of a broken client that no test noticed, although requests were changed."""
        found: dict[str, list[Run]] = {}
        for run in self.ended:
            found.setdefault(run.cell, []).append(run)
        left = {str(trial.cell) for trial in self.not_run}
        return [
            cell
            for cell, runs in found.items()
            if {run.outcome for run in runs} == {"unnoticed"} and any(run.struck for run in runs) and cell not in left
        ]

    def report(self) -> Report:
        """Return the report."""
        causes, failing = self.causes, [run for run in self.ended if self.gate.fails(run)]
        is_left = self.least_percent == 100 and bool(self.not_run or self.missing)
        is_short, unnoticed = is_left or self.percent() < self.least_percent, self.unnoticed
        is_failed = bool(failing) or (bool(unnoticed) and self.gate.strict == "all")
        findings = [
            ReportFinding(
                rule=cause.outcome,
                severity="error" if any(run.cell in cause.cells for run in failing) else "warning",
                where=f"{first_of(cause.cells)}{' in ' + first_of(cause.tests) if cause.tests else ''}",
                message=cause.summary,
                remedy=f"{cause.remedy} ({cause.section})",
                command=cause.command,
            )
            for cause in causes
        ]
        findings += [
            ReportFinding(
                rule="unnoticed",
                severity="error" if self.gate.strict == "all" else "warning",
                where=cell,
                message=f"no test of yours would notice if {DEFECTS[Cell.read(cell).fault]}",
                remedy="add a test that fails then, or a limit for the conduct of the client (docs/conduct.md)",
                command=self.line_to_repeat(cell, ""),
            )
            for cell in unnoticed
        ]
        plan = self.plan
        return Report(
            kind="sweep",
            ok=not is_failed and not is_short,
            summary=self._summary(),
            findings=findings,
            counts={outcome: sum(run.outcome == outcome for run in self.ended) for outcome in OUTCOMES}
            | {"not_run": len(self.not_run), "runs": self.number},
            checked={outcome: len(self.ended) for outcome in OUTCOMES[1:]},
            tables=[
                ReportTable(title="Calls by outcome", columns=("operation", "outcome", "faults"), rows=self._rows())
            ],
            next=[cause.command for cause in causes[:1]],
            details={
                "cells": [structs.asdict(run) for run in self.ended],
                "classes": [self._class(name, cells) for name, cells in plan.classes.items()],
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
            status=1 if is_failed else INCOMPLETE if is_short else 0,
        )

    def _class(self, name: str, cells: Sequence[Cell]) -> dict[str, Any]:
        """Return a class of cells with the worst outcome of those that were tried."""
        names = list(map(str, cells))
        outcomes = [run.outcome for run in self.ended if run.cell in names]
        return {"class": name, "stands_for": names, "outcome": max(outcomes, key=OUTCOMES.index, default=None)}

    def _summary(self) -> str:
        """Return the number of runs by outcome, and what was not run or is flaky, each in a sentence."""
        ended, plan = self.ended, self.plan
        counts = {one: sum(run.outcome == one for run in ended) for one in OUTCOMES}
        words = ", ".join(f"{counts[one]} {one}" for one in OUTCOMES if counts[one] or "noticed" not in one)
        sentences = [f"{count_of(len(ended), 'cell')} tried in {count_of(self.number, 'run')}: {words}"]
        flaky = [run.cell for run in ended if run.is_flaky]
        if flaky:
            sentences.append(f"flaky: {first_of(flaky)} failed, and did not when repeated")
        sentences += [
            f"expected, but did not occur: {one.cell} {one.outcome} ({one.reason})" for one in self.gate.unused(ended)
        ]
        if self.not_run:
            tried = f"{self.percent():.0f} % of the classes were tried"
            sentences.append(
                f"incomplete: {count_of(len(self.not_run), 'cell')} not tried, {self.why_stopped}; {tried}"
            )
        if self.missing:
            sentences.append(f"incomplete: no report of the shards {first_of(self.missing)}")
        members = {cell for cells in plan.classes.values() for cell in cells}
        similar = len(members - {trial.cell for trial in plan.trials}) + len(plan.left_out)
        if similar and self.shard is None:
            sentences.append(
                f"{count_of(similar, 'cell')} skipped that cannot differ or are similar; --faults all tries them"
            )
        return ". ".join(sentences)

    def _rows(self) -> list[list[str]]:
        """Return the faults of each operation by outcome; operations are in the order of the contract."""
        order = [*load_contract().operations, *BYTE_SURFACES]
        found: dict[tuple[int, bool, int], dict[str, None]] = {}
        for run in self.ended:
            cell = run.trial.cell
            if not cell.number:
                continue
            place = order.index(cell.operation), cell.lasts, -OUTCOMES.index(run.outcome)
            found.setdefault(place, {})[cell.fault] = None
        return [
            [order[index], f"{OUTCOMES[-rank]}{' while it lasts' if lasts else ''}", ", ".join(faults)]
            for (index, lasts, rank), faults in sorted(found.items())
        ]


def _remedy(run: Run) -> tuple[str, str]:
    """Return what would mend a run, and the section about it."""
    cell = run.trial.cell
    operation = load_contract().operations.get(cell.operation)
    if run.outcome == "damaged" and MADE_TWICE not in run.errors:
        remedies = [one["remedy"] for one in run.findings if one["severity"] == "error"]
        return str(remedies[0]), f"{_SURVIVE} 1"
    if run.outcome == "damaged":
        return _SAME_KEY, f"{_SURVIVE} 1"
    if run.outcome == "hung" and cell.is_silent:
        return "give every request a time limit", f"{_SURVIVE} 6"
    if run.outcome == "hung" and cell.lasts:
        return "give up after a number of attempts, or a total time, and say so", f"{_SURVIVE} 5"
    if cell.group == "outputs":
        return "poll until `completed` or `failed`, and look at each output", f"{_SURVIVE} 7"
    if cell.fault in MENDED_BY_CLIENT:
        return CATALOGUE[cell.fault].recovery, f"{_SURVIVE} 11"
    if operation is not None and operation.method == "DELETE":
        return _DELETED, f"{_SURVIVE} 2"
    if cell.fault in CATALOGUE and (cell.fault not in MENDED_BY_TIME or cell.fault in _WAITING):
        return CATALOGUE[cell.fault].recovery, f"{_SURVIVE} 4"
    if operation is None:
        return _PUT_AGAIN if cell.operation == "upload" else _READ_AGAIN, f"{_SURVIVE} 2"
    return _SAME_KEY if operation.takes_key else _READ_AGAIN, f"{_SURVIVE} 2"


_WAITING: Final = frozenset({"concurrency_limit_reached", "resource_operation_in_progress"})
"""The problems that end when work has finished: to repeat the request is not all."""


def _summary(runs: Sequence[Run]) -> str:
    """Say what several runs of one cause have in common."""
    faults = first_of(list(dict.fromkeys(circumstance(run.trial.cell.fault) for run in runs)))
    name, run = runs[0].trial.cell.operation, runs[0]
    match run.outcome:
        case "failed":
            return f"{name} does not recover from {faults}"
        case "hung":
            return f"{name} does not end after {faults}{' that lasts' if run.trial.cell.lasts else ''}"
    return (
        f"{name} may be made twice after {faults}"
        if MADE_TWICE in run.errors
        else f"{name}: {', '.join(run.errors)} after {faults}"
    )
