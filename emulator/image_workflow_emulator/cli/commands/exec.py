"""`exec`: a command with an emulator of its own, and a report."""

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import click

from image_workflow_emulator.cli.groups import importing
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
from image_workflow_emulator.console.values import PERCENTAGE, OutputFile

MAX_PRINTED_BYTES: Final = 4 * 2**10
"""Limit of the report as JSON: programs run this command most."""


@click.command(
    "exec",
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
@reporting
@settings_options(port="0", access_log="off", journal_requests="100000")
@command_words
@click.pass_obj
def command(
    environment: Mapping[str, str],
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
) -> int:
    """Run a command with its own emulator."""
    if not words:
        raise click.UsageError(NO_COMMAND)
    with importing():
        from image_workflow_emulator.cli.background_writer import written_in_background
        from image_workflow_emulator.cli.execution import Execution, execute

    execution = Execution(
        words=words,
        journal_file=journal,
        state_file=save_state,
        coverage_file=coverage,
        conduct=conduct,
        ignored_rules=ignored,
        least_coverage=coverage_fail_under,
        is_json=output.is_json,
    )
    report, is_overruled = execute(execution, given.settings, environment)
    # The status is that of the command, also if nobody reads the report.
    with (
        written_in_background(sys.stderr) as stream,
        contextlib.redirect_stderr(stream),
    ):
        output.write_files(report)
        if output.is_json:
            output.print_json(report, MAX_PRINTED_BYTES)
        elif is_overruled or not is_quiet:
            with contextlib.suppress(OSError):
                print_text(report, to_stderr=True)
    return report.status
