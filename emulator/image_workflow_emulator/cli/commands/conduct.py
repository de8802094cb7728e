"""`conduct`: what clients do wrong."""

import click

from image_workflow_emulator.cli.addresses import of_sandbox
from image_workflow_emulator.cli.judges import conduct_report
from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.console.options import reporting
from image_workflow_emulator.console.report_output import ReportOutput
from image_workflow_emulator.console.values import FILE


@click.command(
    "conduct",
    epilog=(
        "The exit status is 1 if there is an error, and 2 if a file holds no call of "
        "the service."
    ),
)
@click.argument(
    "files",
    metavar="[FILE ...]",
    type=FILE,
    nargs=-1,
)
@reporting
@of_sandbox
def command(
    control: ControlClient,
    output: ReportOutput,
    files: tuple[str, ...],
) -> int:
    """Judge what clients do wrong: those of a running emulator, or of recordings.

    FILE: recorded traffic: a HAR, a VCR.py cassette, or a journal of this emulator.
    """
    if files:
        from image_workflow_emulator.drift.recorded_conduct import judge_conduct

        return output.conclude(judge_conduct(files))
    return output.conclude(conduct_report(control.call("GET", "conduct")))
