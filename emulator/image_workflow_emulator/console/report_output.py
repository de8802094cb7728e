"""Where the report of a command goes: to the terminal or a program, and into files.

Owns the limit of the JSON that is printed: standard output is often read by a model,
which pays for each byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from image_workflow_emulator.client.local_files import UnusableFileError, write_file
from image_workflow_emulator.console.messages import complain
from image_workflow_emulator.console.report_files import content_of
from image_workflow_emulator.console.reports import json_text, text_lines
from image_workflow_emulator.console.styles import coloured
from image_workflow_emulator.console.tables import terminal_width
from image_workflow_emulator.report import Report

MAX_PRINTED_BYTES: Final = 16 * 2**10
"""Limit of a report as JSON on standard output, unless all of it is asked for."""


@dataclass(frozen=True)
class ReportOutput:
    """Where the report of a command goes, and in which form."""

    is_json: bool
    """Whether JSON is printed, else text."""
    is_whole: bool
    """Whether all of the JSON is printed, however long it is."""
    files: Sequence[Path]

    def conclude(self, report: Report) -> int:
        """Write and print a report. Return the exit status of the command."""
        self.write_files(report)
        if self.is_json:
            self.print_json(report, MAX_PRINTED_BYTES)
        else:
            print_text(report)
        return report.status

    def write_files(self, report: Report) -> None:
        """Write the report to each of the files."""
        for file in self.files:
            write_or_say(report, file, content_of(report, file))

    def print_json(self, report: Report, most_bytes: int) -> None:
        """Print the report as JSON, within a limit unless all of it is asked for."""
        limit: int | None = most_bytes
        if self.is_whole:
            limit = None
        click.echo(json_text(report, limit))


def print_text(report: Report, *, to_stderr: bool = False) -> None:
    """Print a report for people."""
    for line in text_lines(report, terminal_width(), coloured):
        click.echo(line, err=to_stderr)


def write_or_say(
    report: Report,
    file: Path,
    content: str | bytes,
) -> None:
    """Write a file of a report; if that fails, say so, and let the command end with
    status 2.
    """
    try:
        write_file(file, content)
    except UnusableFileError as error:
        complain(error.detail)
        report.status = report.status or 2
