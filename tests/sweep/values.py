"""Requests of journals, cells and runs, as tests write them down."""

from typing import Any

from msgspec import structs

from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.evidence import EndedTest, Place
from image_workflow_emulator.sweep.gate import Gate
from image_workflow_emulator.sweep.journals import Entry
from image_workflow_emulator.sweep.planning import Plan
from image_workflow_emulator.sweep.runs import Outcome, Run
from image_workflow_emulator.sweep.swept import Swept

DEMO = {"id": "cred_1", "team": {"id": "team_1"}}
OTHER_TEAM = {"id": "cred_2", "team": {"id": "team_2"}}


def entry(
    operation: str,
    status: int | None = 200,
    **members: Any,
) -> Entry:
    """A request of a journal."""
    method = "POST"
    if operation.startswith(("get", "list")):
        method = "GET"
    values = {
        "sequence": 2,
        "at": "2026-01-01T00:00:00.000Z",
        "arrived_at": "2026-01-01T00:00:00.000Z",
        "method": method,
        "path": f"/v1/{operation}",
        "operation": operation,
        "credential": DEMO,
        "status": status,
        **members,
    }
    return Entry(**values)


def upload(**members: Any) -> Entry:
    """A request that opens an Upload Session."""
    values = {"path": "/v1/uploads", "committed": True, "idempotency_key": "a"}
    return entry("createUpload", 201, **(values | members))


def product(**members: Any) -> Entry:
    """A request that makes a Product."""
    values = {"path": "/v1/products", "committed": True, "idempotency_key": "a"}
    return entry("createProduct", 201, **(values | members))


def download(number: int) -> Entry:
    """A request that carries a picture."""
    return Entry(
        sequence=number,
        at="2026-01-01T00:00:00.000Z",
        method="GET",
        path=f"/files/{number}",
        bytes="download",
        status=200,
    )


def refused(
    request: Entry,
    cell: str,
    code: str = "service_unavailable",
) -> Entry:
    """The same request, which the fault of a cell refused."""
    rule = {"name": cell}
    return structs.replace(
        request,
        status=503,
        code=code,
        committed=False,
        rule=rule,
    )


def place(
    *journals: list[Entry],
    status: int = 0,
    error: str | None = None,
) -> Place:
    """What happened in a place, in which one test ended."""
    ended = EndedTest("test_it", [""], status, 0.1, error)
    return Place({"test_it": ended}, list(journals), [], is_recorded=True)


def cells(*calls: str, fault: str = "rate_limited") -> dict[Cell, str]:
    """Cells with the same fault, none of which is left out."""
    return {Cell.read(f"{call}:{fault}"): "" for call in calls}


def run(
    cell: str,
    outcome: Outcome,
    *findings: ReportFinding,
    test: str = "",
    **members: Any,
) -> Run:
    """How the trial of a cell ended."""
    status = {"hung": None, "failed": 1}.get(outcome, 0)
    return Run(cell, test, outcome, status, 0.1, findings, **members)


def finding(rule: str, severity: Any = "error") -> ReportFinding:
    """Something that a run did wrong."""
    return ReportFinding(
        rule=rule,
        severity=severity,
        where=None,
        message="2",
        remedy="same key",
    )


MADE_TWICE = finding("made-twice")
MADE_LESS = finding("made-less")


def swept(
    *runs: Run,
    gate: Gate | None = None,
    without_run: str = "",
) -> Swept:
    """A sweep that has ended so, in which each cell is a class of its own.

    `without_run` is a cell that was not run.
    """
    trials = [run.trial for run in runs]
    if without_run:
        trials.append(Cell.read(without_run))
    classes = {trial.class_name: [trial] for trial in trials}
    return Swept(
        plan=Plan(trials, classes),
        words=["pytest"],
        repeat=(),
        gate=gate or Gate(),
        runs={run.trial: run for run in runs},
        why_stopped="it was stopped",
    )
