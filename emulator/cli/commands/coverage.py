"""`coverage`: merge the coverage of several runs, show it, and hold it to a threshold. Needs no emulator."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from emulator.cli.errors import writable_files, write_file
from emulator.cli.output import add_format, show
from emulator.cli.verdict import coverage_verdict
from emulator.kernel.wording import first_of
from emulator.settings import UsageError
from emulator.testing.files import read_file

if TYPE_CHECKING:
    from emulator.examiner.coverage import Coverage

_MOST_GAPS = 3


def add_arguments(parser: ArgumentParser) -> None:
    """Take the files, and the form of the result."""
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="what `exec --coverage FILE` or the pytest plugin wrote"
    )
    parser.add_argument("--html", metavar="FILE", help="write the coverage as a page")
    parser.add_argument("--fail-under", metavar="N", type=float, help="exit with 1 below so many percent")
    add_format(parser, "table", "json")


def run(options: Namespace, environment: Mapping[str, str]) -> int:
    """Merge and show. Raises UsageError for files that cannot be read, used or written."""
    from emulator.examiner.coverage import merged, rows
    from emulator.examiner.coverage_page import coverage_page

    files = writable_files(options, "html")
    coverage = merged([_read(name) for name in options.files])
    if "html" in files:
        write_file(files["html"], coverage_page(coverage))
    shown = [(name, f"{met}/{of}", first_of(gaps, _MOST_GAPS) or None) for name, met, of, gaps in rows(coverage)]
    is_low = options.fail_under is not None and coverage["percent"] < options.fail_under
    answer = coverage_verdict(coverage, ok=not is_low) | coverage if options.format == "json" else coverage
    show(options, environment, answer, ("OPERATION", "MET", "GAPS"), shown)
    if options.format == "table":
        print(f"\n{coverage['percent']:g} % of all points, {coverage['percent_of_used']:g} % of the operations used")
        for gap in coverage["next_gaps"]:
            print(f"next: {gap['operation']}: {gap['point']} ({_closing_words(gap['closed_by'])})")
    return int(is_low)


def _read(name: str) -> "Coverage":
    """Read a file. Raises UsageError for one that cannot be read, or is not a coverage document."""
    from emulator.examiner.coverage import read

    try:
        return read(json.loads(read_file(name)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def _closing_words(closed_by: Mapping[str, object]) -> str:
    (kind, what), *_ = closed_by.items()
    return f"scenario {what}" if kind == "scenario" else f"a {kind}, see --format json"
