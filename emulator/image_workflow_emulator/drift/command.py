"""`drift`: which readings the real service has."""

from collections.abc import Collection
from pathlib import Path

import click

from image_workflow_emulator.console.options import ignoring, reporting
from image_workflow_emulator.console.report_output import ReportOutput
from image_workflow_emulator.console.values import FILE, OutputFile
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.settings import SettingError


@click.command("drift", no_args_is_help=True)
@click.argument(
    "files",
    metavar="FILE ...",
    type=FILE,
    nargs=-1,
    required=True,
)
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
    from image_workflow_emulator.drift.judgement import DriftOptions, judge_recordings
    from image_workflow_emulator.scenario.readings import readings_of_option

    known = NO_READINGS
    if readings:
        known = readings_of_option(readings)
    options = DriftOptions(
        readings=known,
        ignore=ignored,
        fail_on=_verdicts_of_option(fail_on),
        pin=pin,
    )
    return output.conclude(judge_recordings(files, options))


def _verdicts_of_option(text: str | None) -> Collection[str]:
    """Read what `--fail-on` takes. Raises SettingError."""
    from image_workflow_emulator.drift.judgement import FAILURES

    if text is None:
        return FAILURES
    words = [word for word in text.split(",") if word]
    for word in words:
        if word not in FAILURES:
            expected = f"some of {', '.join(FAILURES)}, with commas between"
            raise SettingError("--fail-on", word, expected)
    return words
