"""The report of a sweep. Must not know how a run is made."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import to_builtins

from image_workflow_emulator.examiner.conduct import RULES
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.sweep.causes import Cause
from image_workflow_emulator.sweep.cells import Cell
from image_workflow_emulator.sweep.runs import GOOD_OUTCOMES, OUTCOMES, Outcome, Run
from image_workflow_emulator.sweep.swept import Swept

_FAILED: Final = 1
_NOTHING_TRIED: Final = 2
_INCOMPLETE: Final = 3
_CONDUCT_RULES: Final = frozenset(rule.name for rule in RULES)
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
    return Report(
        kind="sweep",
        ok=status == 0,
        summary=_summary(swept),
        findings=findings,
        counts=counts,
        checked={
            outcome: len(swept.tried) for outcome in OUTCOMES if outcome != "survived"
        },
        tables=list(_tables(swept)),
        next=[cause.command for cause in causes[:1]],
        details=_details(swept, causes),
        status=status,
    )


def _status(swept: Swept, findings: Sequence[ReportFinding]) -> int:
    if any(finding.severity == "error" for finding in findings):
        return _FAILED
    if any(map(swept.gate.fails, swept.ended)):
        return _FAILED
    if swept.shard is None and swept.ended and not swept.tried:
        return _NOTHING_TRIED
    return _INCOMPLETE if _is_short(swept) else 0


def _is_short(swept: Swept) -> bool:
    """Tell whether less was tried than was asked for. What had no call in a shard
    counts when the shards are merged.
    """
    left = swept.without_run if swept.shard else list(swept.not_run)
    if swept.gate.least_percent == 100:
        return bool(left or swept.missing_shards)
    return bool(left) and swept.percent < swept.gate.least_percent


def _counts(swept: Swept) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
    for run in swept.ended:
        counts[run.outcome] += 1
    return {**counts, "not_run": len(swept.not_run), "runs": swept.run_count}


# Findings -----------------------------------------------------------------------------


def _finding_of(cause: Cause, swept: Swept) -> ReportFinding:
    where = first_of(cause.cells)
    if cause.tests:
        where += f" in {first_of(cause.tests)}"
    return ReportFinding(
        rule=cause.outcome,
        severity="error" if _fails(cause, swept) else "warning",
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
                cells.setdefault(finding.rule, []).append(run.cell)
                firsts.setdefault(finding.rule, (run, finding))
    for rule, (run, finding) in firsts.items():
        yield ReportFinding(
            rule=rule,
            severity=finding.severity,
            where=first_of(dict.fromkeys(cells[rule]), most=3),
            message=finding.message,
            source=finding.source,
            remedy=finding.remedy,
            command=swept.line_to_repeat(run.cell, run.test),
        )


def _is_misconduct(finding: ReportFinding, run: Run) -> bool:
    """Tell whether a finding of a cell is a mistake of the client."""
    if finding.rule in _LEFT_UNDONE:
        return run.trial.is_recoverable and run.status == 0
    return finding.rule in _CONDUCT_RULES


# In words -----------------------------------------------------------------------------


def _summary(swept: Swept) -> str:
    """Return how many runs had which outcome, and what is left, each in a sentence."""
    counts = _counts(swept)
    words = [
        f"{counts[outcome]} {outcome}"
        for outcome in OUTCOMES
        if counts[outcome] or outcome in ("survived", "failed", "hung", "damaged")
    ]
    tried = count_of(len(swept.ended), "cell")
    runs = count_of(swept.run_count, "run")
    sentences = [f"{tried} tried in {runs}: {', '.join(words)}"]
    right = sum(map(_fails_rightly, swept.ended))
    if right:
        sentences.append(
            f"{right} failed by faults that no client can mend, or that last"
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


def _left(swept: Swept) -> Iterator[str]:
    """Iterate over the reasons why cells were not tried, with their numbers."""
    reasons = list(swept.not_run.values())
    for reason in dict.fromkeys(reasons):
        yield f"{count_of(reasons.count(reason), 'cell')} not tried, since {reason}"


def _fails_rightly(run: Run) -> bool:
    """Tell whether a run failed as it should: no client can recover from its fault, and
    it said so.
    """
    is_failed = run.outcome == "failed" and not run.leaves_outputs
    return is_failed and run.status != 0 and not run.trial.is_recoverable


def _tables(swept: Swept) -> Iterator[ReportTable]:
    """Yield the faults of each operation that it did not survive, by outcome. `+` marks
    those that last.
    """
    faults: dict[tuple[str, str], dict[str, None]] = {}
    for run in swept.tried:
        if run.outcome in GOOD_OUTCOMES or _fails_rightly(run):
            continue
        operation, _, fault = run.trial.class_name.partition(":")
        faults.setdefault((operation, run.outcome), {})[fault] = None
    if faults:
        yield ReportTable(
            title="Calls that did not survive",
            columns=("operation", "outcome", "faults"),
            rows=[[*key, ", ".join(names)] for key, names in sorted(faults.items())],
        )


# For programs -------------------------------------------------------------------------


def _details(swept: Swept, causes: Sequence[Cause]) -> dict[str, Any]:
    classes = []
    for name, cells in swept.plan.classes.items():
        texts = list(map(str, cells))
        outcome = _worst_outcome(cells, swept.tried)
        classes.append({"class": name, "stands_for": texts, "outcome": outcome})
    left_out = [
        {"cell": str(cell), "why": why} for cell, why in swept.plan.left_out.items()
    ]
    not_run = [
        {"cell": str(trial), "test": trial.test, "why": why}
        for trial, why in swept.not_run.items()
    ]
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
