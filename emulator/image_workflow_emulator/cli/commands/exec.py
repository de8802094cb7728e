"""`exec`: a command with an emulator of its own, and a report."""

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import click
from msgspec import structs

from image_workflow_emulator.cli.groups import importing
from image_workflow_emulator.cli.next_command import RememberingCommand, TypedCommand
from image_workflow_emulator.console.options import (
    NO_COMMAND,
    command_words,
    ignoring,
    reporting,
)
from image_workflow_emulator.console.report_output import ReportOutput, print_text
from image_workflow_emulator.console.settings_options import (
    GivenSettings,
    settings_options,
)
from image_workflow_emulator.console.values import FILE, PERCENTAGE, OutputFile
from image_workflow_emulator.kernel.wording import count_of

MAX_PRINTED_BYTES: Final = 4 * 2**10
"""Limit of the report as JSON: programs run this command most."""
REPORT_SECONDS: Final = 10.0
"""How long the report waits for a slow reader, such as a pager behind a pipe."""
SPEAKER: Final = "Image Workflow Emulator"
"""Names who speaks among the words of the command."""


@click.command(
    "exec",
    cls=RememberingCommand,
    options_metavar="[OPTIONS] --",
    no_args_is_help=True,
    context_settings={"allow_interspersed_args": False},
    epilog=(
        "The command finds IMAGE_WORKFLOW_BASE_URL, IMAGE_WORKFLOW_API_KEY and "
        "EMULATOR_URL in its environment. The report goes to standard error; with "
        "--format json, to standard output."
    ),
)
@click.option(
    "--journal",
    type=OutputFile(),
    help="write all requests of the run as JSON, or as HAR to FILE.har",
)
@click.option(
    "--save-state",
    type=OutputFile(),
    help=(
        "save the default sandbox at the end of the run, or as a session for the page "
        "to FILE.json"
    ),
)
@click.option(
    "--coverage",
    type=OutputFile(),
    help=(
        "write how much of the contract was covered, as JSON, or as a page to FILE.html"
    ),
)
@click.option("--quiet", "is_quiet", is_flag=True, help="do not print the report")
@click.option(
    "--conduct",
    type=click.Choice(["off", "report", "fail"]),
    default="report",
    show_default=True,
    help=(
        "report mistakes of the client; `fail`: exit with status 1 if one is an error"
    ),
)
@ignoring
@click.option(
    "--coverage-fail-under",
    type=PERCENTAGE,
    help="exit with 1 if less of it was covered",
)
@click.option(
    "--fault",
    type=FILE,
    hidden=True,
    help="the fault that a sweep tries",
)
@click.option(
    "--job-folder",
    type=FILE,
    hidden=True,
    help="where the runs of a sweep share their image work",
)
@reporting
@settings_options(
    port="0",
    access_log="off",
    journal_requests="100000",
)
@command_words
@click.pass_context
def command(
    context: click.Context,
    given: GivenSettings,
    output: ReportOutput,
    words: tuple[str, ...],
    journal: Path | None,
    save_state: Path | None,
    coverage: Path | None,
    is_quiet: bool,
    conduct: Literal["off", "report", "fail"],
    ignored: tuple[str, ...],
    coverage_fail_under: float | None,
    fault: str | None,
    job_folder: str | None,
) -> int:
    """Run a command with its own emulator."""
    if not words:
        raise click.UsageError(NO_COMMAND)
    environment: Mapping[str, str] = context.obj
    with importing():
        from image_workflow_emulator.cli.background_writer import written_in_background
        from image_workflow_emulator.cli.execution import Execution, execute

    execution = Execution(
        typed=TypedCommand.of(context, words),
        journal_file=journal,
        state_file=save_state,
        coverage_file=coverage,
        conduct=conduct,
        ignored_rules=ignored,
        least_coverage=coverage_fail_under,
        is_json=output.is_json,
    )
    settings = given.settings._replace(
        fault=fault,
        job_folder=job_folder,
    )
    report, is_overruled = execute(execution, settings, environment)
    # The status is that of the command, also if nobody reads the report.
    with (
        written_in_background(sys.stderr, _lost_note, REPORT_SECONDS) as stream,
        contextlib.redirect_stderr(stream),
    ):
        output.write_files(report)
        if output.is_json:
            output.print_json(report, MAX_PRINTED_BYTES)
        elif is_overruled or not is_quiet:
            text = structs.replace(report, summary=f"{SPEAKER}: {report.summary}")
            with contextlib.suppress(OSError):
                print_text(text, to_stderr=True)
    return report.status


def _lost_note(lines: int) -> str:
    """Return what is written in place of a report that nobody read in time."""
    return (
        f"image-workflow-emulator: {count_of(lines, 'line')} of the report left out: "
        "nobody read standard error; write it to a file with --report"
    )
