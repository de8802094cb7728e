"""A sweep as JUnit XML: a test case for each run; what makes the sweep exit with 1 is a failure."""

from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from emulator.cli.sweep.matrix import Sweep
from emulator.cli.sweep.runs import Run

_SUITE: Final = "image-workflow-emulator.sweep"


def junit_text(sweep: Sweep, _file: Path | None = None) -> str:
    """Return the report as JUnit XML."""
    failures = sum(map(sweep.gate.fails, sweep.runs))
    totals = f'tests="{len(sweep.runs) + len(sweep.not_run)}" failures="{failures}" errors="0"'
    head = f'<testsuite name="{_SUITE}" {totals} skipped="{len(sweep.not_run)}">'
    cases = [_case(run.cell, run.seconds, _result(sweep, run)) for run in sweep.runs]
    cases += [_case(str(cell), 0, f"<skipped message={quoteattr(sweep.why_stopped)}/>") for cell in sweep.not_run]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", head, *cases, "</testsuite>", "</testsuites>"]
    return "\n".join(lines) + "\n"


def _case(cell: str, seconds: float, result: str) -> str:
    return f'<testcase classname={quoteattr(_SUITE)} name={quoteattr(cell)} time="{seconds:.3f}">{result}</testcase>'


def _result(sweep: Sweep, run: Run) -> str:
    if run.outcome == "survived":
        return ""
    cause = next((cause.summary for cause in sweep.causes if run.cell in cause.cells), f"{run.cell}: {run.outcome}")
    findings = [f"{one['severity']} {one['rule']}: {one['message']}" for one in run.findings]
    text = escape("\n".join([f"{run.outcome}: {run.end}", *findings, sweep.line_to_repeat(run.cell)]))
    if not sweep.gate.fails(run):
        return f"<system-out>{text}</system-out>"
    return f'<failure type="{run.outcome}" message={quoteattr(cause)}>{text}</failure>'
