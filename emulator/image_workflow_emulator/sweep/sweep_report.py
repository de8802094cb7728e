"""The report of a sweep. Must not know how a run is made."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import to_builtins

from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import (
    Report,
    ReportFinding,
    ReportTable,
    Severity,
)
from image_workflow_emulator.sweep.causes import Cause
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.clean_run import CONDUCT_RULES
from image_workflow_emulator.sweep.runs import GOOD_OUTCOMES, OUTCOMES, Outcome, Run
from image_workflow_emulator.sweep.swept import Swept

_FAILED: Final = 1
_NOTHING_TRIED: Final = 2
_INCOMPLETE: Final = 3
_ALWAYS_NAMED: Final = ("survived", "failed", "hung", "damaged")
"""The outcomes that a summary counts though there are none."""
_LEFT_UNDONE: Final = frozenset(
    {
        "abandoned-upload",
        "abandoned-work",
        "gave-up-on-retryable",
        "key-not-sent-again",
    }
)
"""The rules that a client breaks rightly if it gives up in the end, or cannot go on."""


def report_of(swept: Swept) -> Report:
    """Return the report of a sweep that has ended."""
    causes = swept.causes
    findings = [_finding_of(cause, swept) for cause in causes]
    status = _status(swept, findings)
    counts = _counts(swept)
    findings += _conduct_findings(swept)
    findings += swept.clean_findings
    bad_outcomes = [outcome for outcome in OUTCOMES if outcome != "survived"]
    return Report(
        kind="sweep",
        ok=status == 0,
        summary=_summary(swept),
        findings=findings,
        counts=counts,
        checked=dict.fromkeys(bad_outcomes, len(swept.tried)),
        tables=list(_tables(swept)),
        next=[cause.command for cause in causes[:1]],
        details=_details(swept, causes),
        status=status,
    )


def _status(swept: Swept, findings: Sequence[ReportFinding]) -> int:
    all_findings = [*findings, *swept.clean_findings]
    if any(finding.severity == "error" for finding in all_findings):
        return _FAILED
    if any(map(swept.gate.fails, swept.ended)):
        return _FAILED
    if swept.shard is None and swept.ended and not swept.tried:
        return _NOTHING_TRIED
    if _is_short(swept):
        return _INCOMPLETE
    return 0


def _is_short(swept: Swept) -> bool:
    """Tell whether less was tried than was asked for. What had no call in a shard
    counts when the shards are merged.
    """
    left = list(swept.not_run)
    if swept.shard:
        left = swept.without_run
    if swept.gate.least_percent == 100:
        return bool(left or swept.missing_shards)
    return bool(left) and swept.percent < swept.gate.least_percent


def _counts(swept: Swept) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for run in swept.ended:
        counts[run.outcome] += 1
    counts["not_run"] = len(swept.not_run)
    counts["runs"] = swept.run_count
    return counts


# Findings -----------------------------------------------------------------------------


def _finding_of(cause: Cause, swept: Swept) -> ReportFinding:
    where = first_of(cause.cells)
    if cause.tests:
        where += f" in {first_of(cause.tests)}"
    severity: Severity = "warning"
    if _fails(cause, swept):
        severity = "error"
    return ReportFinding(
        rule=cause.outcome,
        severity=severity,
        where=where,
        message=cause.summary,
        remedy=f"{cause.remedy} ({cause.section})",
        command=cause.command,
    )


def _fails(cause: Cause, swept: Swept) -> bool:
    """Tell whether a cause makes the sweep fail."""
    if cause.outcome == "unnoticed":
        return swept.gate.strict == "all"
    cells = set(cause.cells)
    return any(run.cell in cells and swept.gate.fails(run) for run in swept.ended)


def _conduct_findings(swept: Swept) -> Iterator[ReportFinding]:
    """Iterate over the misconduct in cells that no cause is about, each rule once."""
    cells: dict[str, list[str]] = {}
    firsts: dict[str, tuple[Run, ReportFinding]] = {}
    for run in swept.tried:
        if run.trial.is_of_client or run.is_flaky or swept.gate.is_weakness(run):
            continue
        for finding in run.findings:
            if _is_misconduct(finding, run):
                cells_of_rule = cells.setdefault(finding.rule, [])
                cells_of_rule.append(run.cell)
                firsts.setdefault(finding.rule, (run, finding))
    for rule, (run, finding) in firsts.items():
        distinct_cells = dict.fromkeys(cells[rule])
        yield ReportFinding(
            rule=rule,
            severity=finding.severity,
            where=first_of(distinct_cells, most=3),
            message=finding.message,
            source=finding.source,
            remedy=finding.remedy,
            command=swept.line_to_repeat(run.cell, run.test),
        )


def _is_misconduct(finding: ReportFinding, run: Run) -> bool:
    """Tell whether a finding of a cell is a mistake of the client."""
    if finding.rule in _LEFT_UNDONE:
        return run.trial.is_recoverable and run.status == 0
    return finding.rule in CONDUCT_RULES


# In words -----------------------------------------------------------------------------


def _summary(swept: Swept) -> str:
    """Return how many runs had which outcome, and what is left, each in a sentence."""
    tried = count_of(len(swept.ended), "cell")
    runs = count_of(swept.run_count, "run")
    sentences = [f"{tried} tried in {runs}: {_outcomes(swept)}"]
    right_count = sum(map(_fails_rightly, swept.ended))
    if right_count:
        sentences.append(
            f"{right_count} failed by faults that no client can mend, or that last"
        )
    if swept.not_run:
        left = "; ".join(_left(swept))
        sentences.append(
            f"incomplete: {left}; {swept.percent:.0f} % of the classes were tried"
        )
    if swept.missing_shards:
        shards = first_of(swept.missing_shards)
        sentences.append(f"incomplete: no report of the shards {shards}")
    return ". ".join(sentences)


def _outcomes(swept: Swept) -> str:
    """Say how many runs had which outcome; some are named though there are none."""
    counts = _counts(swept)
    named = [name for name in OUTCOMES if counts[name] or name in _ALWAYS_NAMED]
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in named)


def _left(swept: Swept) -> Iterator[str]:
    """Iterate over the reasons why cells were not tried, with their numbers."""
    cell_counts = Counter(swept.not_run.values())
    for reason, cell_count in cell_counts.items():
        cells = count_of(cell_count, "cell")
        yield f"{cells} not tried, since {reason}"


def _fails_rightly(run: Run) -> bool:
    """Tell whether a run failed as it should: no client can recover from its fault, and
    it said so.
    """
    if run.outcome != "failed" or run.leaves_outputs:
        return False
    return run.status != 0 and not run.trial.is_recoverable


def _tables(swept: Swept) -> Iterator[ReportTable]:
    """Yield the faults of each operation that it did not survive, by outcome. `+` marks
    those that last.
    """
    faults: dict[tuple[str, str], dict[str, None]] = {}
    for run in swept.tried:
        if run.outcome in GOOD_OUTCOMES or _fails_rightly(run):
            continue
        operation, _, fault = run.trial.class_name.partition(":")
        of_call = faults.setdefault((operation, run.outcome), {})
        of_call[fault] = None
    rows = []
    for (operation, outcome), names in sorted(faults.items()):
        rows.append([operation, outcome, ", ".join(names)])
    if rows:
        yield ReportTable(
            title="Calls that did not survive",
            columns=("operation", "outcome", "faults"),
            rows=rows,
        )


# For programs -------------------------------------------------------------------------


def _details(swept: Swept, causes: Sequence[Cause]) -> dict[str, Any]:
    classes = []
    for name, cells in swept.plan.classes.items():
        class_row = {
            "class": name,
            "stands_for": [str(cell) for cell in cells],
            "outcome": _worst_outcome(cells, swept.tried),
        }
        classes.append(class_row)
    left_out = []
    for cell, why in swept.plan.left_out.items():
        left_out.append({"cell": str(cell), "why": why})
    not_run = []
    for trial, why in swept.not_run.items():
        not_run.append({"cell": str(trial), "test": trial.test, "why": why})
    return {
        "cells": to_builtins(swept.ended),
        "classes": classes,
        "causes": to_builtins(causes),
        "flaky": [run.cell for run in swept.ended if run.is_flaky],
        "unused_expectations": to_builtins(swept.gate.unused(swept.tried)),
        "left_out": left_out,
        "not_run": not_run,
        "clean_findings": to_builtins(swept.clean_findings),
        "command": list(swept.words),
        "options": list(swept.repeat),
        "shard": swept.shard,
    }


def _worst_outcome(cells: Sequence[Cell], runs: Sequence[Run]) -> Outcome | None:
    """Return the worst outcome of some cells; None if none of them was tried."""
    names = set(map(str, cells))
    outcomes = [run.outcome for run in runs if run.cell in names]
    return max(outcomes, key=OUTCOMES.index, default=None)
