"""`coverage`: how much of the contract clients have covered."""

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.judges import (
    coverage_report,
    judged_words,
    merged_files,
)
from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.console.options import reporting
from image_workflow_emulator.console.report_output import ReportOutput
from image_workflow_emulator.console.values import FILE, PERCENTAGE


@click.command("coverage")
@click.argument(
    "files",
    metavar="[FILE ...]",
    type=FILE,
    nargs=-1,
)
@click.option("--fail-under", type=PERCENTAGE, help="exit with 1 if less is covered")
@reporting
@of_sandbox
def command(
    control: ControlClient,
    output: ReportOutput,
    files: tuple[str, ...],
    fail_under: float | None,
) -> int:
    """Show how much of the contract clients have covered: those of a running emulator,
    or of several runs together.

    FILE: what `exec --coverage FILE` or the pytest plugin wrote.
    """
    if files:
        return output.conclude(coverage_report(merged_files(files), fail_under))
    answer = control.call("GET", "coverage")
    report = coverage_report(answer, fail_under)
    report.summary = f"{judged_words(answer['judged'])}; {report.summary}"
    return output.conclude(report)
