"""A sweep as JUnit XML: a test case for each run; what makes the sweep exit with 1 is a failure."""

from typing import Final

from emulator.cli import junit
from emulator.cli.sweep.matrix import Sweep
from emulator.cli.sweep.runs import Run

_SUITE: Final = "image-workflow-emulator.sweep"


def junit_text(sweep: Sweep) -> str:
    """Return the report as JUnit XML."""
    cases = [_case(sweep, run) for run in sweep.runs]
    cases += [junit.Case(str(cell), skipped=sweep.why_stopped) for cell in sweep.not_run]
    return junit.junit_text(_SUITE, cases)


def _case(sweep: Sweep, run: Run) -> junit.Case:
    if run.outcome == "survived":
        return junit.Case(run.cell, seconds=run.seconds)
    cause = next((cause.summary for cause in sweep.causes if run.cell in cause.cells), f"{run.cell}: {run.outcome}")
    findings = [f"{one['severity']} {one['rule']}: {one['message']}" for one in run.findings]
    text = "\n".join([f"{run.outcome}: {run.end}", *findings, sweep.line_to_repeat(run)])
    failure = cause if sweep.gate.fails(run) else None
    return junit.Case(run.cell, failure, details=text, kind=run.outcome, seconds=run.seconds)
