"""Options of several commands: the form of an output, where a report goes, and which
findings to leave out.
"""

import functools
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import click
from click.shell_completion import CompletionItem

from image_workflow_emulator.console.values import OutputFile, words_beginning

Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], Function]


command_words: Final = click.argument(
    "words",
    metavar="COMMAND [ARGUMENT ...]",
    nargs=-1,
    type=click.UNPROCESSED,
)
"""Adds the command that is run, as `words`."""
NO_COMMAND: Final = "expected -- and a command after the options"


def form(*words: str, of: str = "output") -> Decorator:
    """Add --format, whose default is the first word, as `form`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(words),
        default=words[0],
        show_default=True,
        help=f"form of the {of}",
    )


class _ReportFile(OutputFile):
    """A file of a report, whose suffix names its form."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Return the file. Raises SettingError for an unknown suffix."""
        from image_workflow_emulator.console.report_files import check_suffix

        file = super().convert(value, param, ctx)
        check_suffix("--report", file)
        return file


def reporting(function: Function) -> Function:
    """Add the options of every command that makes a Report, as one `output`."""

    @form("text", "json", of="report")
    @click.option(
        "--all",
        "is_whole",
        is_flag=True,
        help="with --format json: print a report of more than 16 KiB whole",
    )
    @click.option(
        "--report",
        "report_files",
        type=_ReportFile(),
        multiple=True,
        help=(
            "write the report to FILE.json, FILE.xml (JUnit) or FILE.html; "
            "can be repeated"
        ),
    )
    @functools.wraps(function)
    def command(
        *,
        form: str,
        is_whole: bool,
        report_files: Any,
        **values: Any,
    ) -> Any:
        from image_workflow_emulator.console.report_output import ReportOutput

        output: ReportOutput = ReportOutput(form == "json", is_whole, report_files)
        return function(output=output, **values)

    return command


def _rules_beginning(
    _context: click.Context,
    _parameter: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    from image_workflow_emulator.examiner.conduct import RULES

    return words_beginning(incomplete, [rule.name for rule in RULES])


ignoring: Final[Decorator] = click.option(
    "--ignore",
    "ignored",
    metavar="RULE",
    multiple=True,
    shell_complete=_rules_beginning,
    help="leave out what this rule finds; can be repeated",
)
