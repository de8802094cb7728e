"""`drift`: which readings the real service has."""

from pathlib import Path

import click

from image_workflow_emulator.console.options import ignoring, reporting
from image_workflow_emulator.console.report_output import ReportOutput
from image_workflow_emulator.console.values import FILE, OutputFile


@click.command("drift", no_args_is_help=True)
@click.argument("files", metavar="FILE ...", type=FILE, nargs=-1, required=True)
@click.option(
    "--readings",
    type=FILE,
    metavar="FILE",
    help="start from what is known: a file, readings or a set",
)
@click.option(
    "--pin",
    type=OutputFile(),
    help=("write the readings that were found, for serve, exec, sweep and pytest"),
)
@ignoring
@click.option(
    "--fail-on",
    metavar="VERDICTS",
    help="exit with 1 for these (default: other,neither,breach,bug)",
)
@reporting
def command(
    output: ReportOutput,
    files: tuple[str, ...],
    readings: str | None,
    pin: Path | None,
    ignored: tuple[str, ...],
    fail_on: str | None,
) -> int:
    """Judge which readings the real service has, by recorded traffic.

    FILE: a HAR, a VCR.py cassette, or a journal of this emulator.
    """
    from image_workflow_emulator.drift.judgement import drift

    return output.conclude(
        drift(files, readings=readings, pin=pin, ignored=ignored, fail_on=fail_on)
    )
