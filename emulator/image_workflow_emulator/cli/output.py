"""How commands print: tables for people, JSON for programs, and any report (`report.py`) as text for a terminal, JSON,
JUnit XML or an HTML page. Knows no rule and no command.

Owns the limit of the JSON that is printed: standard output is often read by a model, which pays for each byte. Whatever
a client or a file put into a report, the output is well-formed: control characters and lone surrogates become JSON
escapes.
"""

import contextlib
import json
import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from operator import gt
from pathlib import Path
from typing import Any, Final

from msgspec import to_builtins

from image_workflow_emulator.cli.background_writer import written_in_background
from image_workflow_emulator.client.local_files import (
    UnusableFileError,
    check_writable,
    write_file,
)
from image_workflow_emulator.kernel.wording import printable, printable_lines
from image_workflow_emulator.report import Report, ReportFinding
from image_workflow_emulator.settings import SettingError

GAP: Final = "  "
LEAST_WIDTH: Final = 6
"""No column is made narrower, however narrow the terminal is."""


def show(
    options: Namespace,
    answer: Any,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
) -> None:
    """Print an answer as --format asks for: as JSON, or as a table of these rows.

    On a terminal a table fits its width; elsewhere each row is one line.
    """
    if options.format == "json":
        print_json(answer)
    else:
        print(
            "\n".join(
                table_lines(
                    columns, rows, terminal_width() if sys.stdout.isatty() else None
                )
            )
        )


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def terminal_width() -> int:
    """Return how many characters a line of the terminal has: 80 where there is none."""
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None
) -> Iterator[str]:
    """Iterate over the lines of a table: the names of its columns, if they have any, and its rows. None is shown as a
    dash.

    In a width, the widest columns are as narrow as it takes, and their cells have several lines. A word is broken only
    where it does not help to break between words.
    """
    heads = [[name.replace("_", " ").upper() for name in columns]] if columns else []
    cells = [
        ["-" if cell is None else printable(str(cell)) for cell in row]
        for row in (*heads, *rows)
    ]
    by_column = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    if width is not None:
        room = width - len(GAP) * (len(widths) - 1)
        longest_words = [
            max(len(word) for cell in column for word in cell.split(" "))
            for column in by_column
        ]
        for narrowest in (longest_words, [LEAST_WIDTH] * len(widths)):
            while sum(widths) > room and any(map(gt, widths, narrowest)):
                wide = [
                    number
                    for number, least in enumerate(narrowest)
                    if widths[number] > least
                ]
                widths[max(wide, key=widths.__getitem__)] -= 1
    for row in cells:
        for pieces in zip_longest(*map(_pieces, row, widths), fillvalue=""):
            yield GAP.join(map(str.ljust, pieces, widths)).rstrip()


def _pieces(cell: str, width: int) -> list[str]:
    return (
        [cell]
        if len(cell) <= width
        else textwrap.wrap(cell, width, break_on_hyphens=False)
    )


def complain(message: str) -> None:
    """Print each line of a message to standard error, if somebody reads it."""
    with contextlib.suppress(OSError):
        for line in message.split("\n"):
            print(
                f"image-workflow-emulator: {printable(line)}",
                file=sys.stderr,
                flush=True,
            )


# Reports --------------------------------------------------------------------------------------------------------------

MAX_PRINTED_BYTES: Final = 16 * 2**10
"""Limit of a report as JSON on standard output, unless all of it is asked for."""
MAX_EXEC_BYTES: Final = 4 * 2**10
"""The same of `exec`, which programs run most."""


def conclude(
    judge: Callable[[Namespace, Mapping[str, str]], Report],
    options: Namespace,
    given: Mapping[str, str],
) -> int:
    """Let a command judge, with its options and the environment; write and print its report as the options ask. Return
    the exit status.

    Raises UnusableFileError for a file that cannot be written: before the command runs, as far as that can be known.
    """
    files = {
        check_writable("--report", name): _emitter(name) for name in options.report
    }
    report = judge(options, given)
    if (
        report.kind == "exec"
    ):  # its status stays that of the command, whether or not anybody reads
        with (
            written_in_background(sys.stderr) as stream,
            contextlib.redirect_stderr(stream),
        ):
            _publish(report, files, options)
    else:
        _publish(report, files, options)
    return report.status


def _publish(
    report: Report, files: Mapping[Path, Callable[[Report], str]], options: Namespace
) -> None:
    """Write a report to files, and print it as the options ask."""
    for file, emit in files.items():
        write_or_say(report, file, emit(report))
    is_exec = report.kind == "exec"
    if options.format == "json":
        most_bytes = MAX_EXEC_BYTES if is_exec else MAX_PRINTED_BYTES
        print(json_text(report, None if options.all else most_bytes))
    elif not is_exec:
        print("\n".join(text_lines(report, terminal_width())))
    elif not options.quiet:
        with contextlib.suppress(OSError):
            print("\n".join(text_lines(report, terminal_width())), file=sys.stderr)


def _emitter(name: str) -> Callable[[Report], str]:
    """Return what writes a file of this name. Raises SettingError."""
    emitter = _EMITTERS.get(Path(name).suffix.lower())
    if emitter is None:
        raise SettingError(
            "--report", name, f"a file whose name ends in {', '.join(_EMITTERS)}"
        )
    return emitter


def write_or_say(report: Report, file: Path, content: str | bytes) -> None:
    """Write a file of a report; if that fails, say so, and let the command end with status 2."""
    try:
        write_file(file, content)
    except UnusableFileError as error:
        complain(error.detail)
        report.status = report.status or 2


def text_lines(report: Report, width: int) -> Iterator[str]:
    """Iterate over a report for people: outcome, findings, tables, and what to do next."""
    shown = set[str]()
    yield from _wrapped(report.summary, width)
    for finding in report.findings:
        sentence, *others = _lines(finding)
        yield from _wrapped(sentence, width, "  ")
        for words in others:
            if words == finding.command and words not in shown:
                yield f"    {printable(words)}"
            elif words not in shown:
                yield from _wrapped(words, width, "    ")
        shown.update(others)
    for table in report.tables:
        if table.columns:
            yield from (
                "",
                *_wrapped(table.title, width),
                *table_lines(table.columns, table.rows, width),
            )
        else:  # names, and what is known of them
            yield from (f"  {line}" for line in table_lines((), table.rows, width - 2))
    yield from (f"next: {printable(command)}" for command in report.next)


def _lines(finding: ReportFinding) -> Iterator[str]:
    """Iterate over what a finding says: what is wrong, and what is known of it."""
    where = f" ({finding.where})" if finding.where else ""
    yield f"{finding.severity}: {finding.rule}: {finding.message}{where}"
    remedy = finding.remedy and f"remedy: {finding.remedy}"
    yield from filter(None, (finding.source, remedy, finding.command))


def _wrapped(text: str, width: int, margin: str = "") -> list[str]:
    """Break a text into lines, of which all but the first are indented once more. Commands and addresses stay whole."""
    wrapper = textwrap.TextWrapper(
        width, margin, f"{margin}  ", break_long_words=False, break_on_hyphens=False
    )
    return wrapper.wrap(printable(text))


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON: the members that only its kind has are under their own names."""
    document: dict[str, Any] = to_builtins(report)
    del document["status"]
    details: dict[str, Any] = document.pop("details")
    return document | details


def json_text(report: Report, most_bytes: int | None = None) -> str:
    """Return a report as JSON on one line. Above the limit, the ends of its longest lists are left out.

    `not_shown` is the number of entries that were left out.
    """
    document = as_json(report)
    text = _encoded(document)
    if most_bytes is None or len(text) < most_bytes:
        return text
    document["not_shown"] = 0
    size, lists = len(_encoded(document)) + len(str(most_bytes)), list(_lists(document))
    while size >= most_bytes and any(lists):
        size -= len(_encoded(max(lists, key=len).pop())) + 1
        document["not_shown"] += 1
    return _encoded(document)


def _encoded(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _lists(value: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Iterate over the lists of a report that may be shortened: its tables stay, but for their rows."""
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _lists(inner)
        elif name == "tables":
            yield from (table["rows"] for table in inner)
        elif isinstance(inner, list):
            yield inner


# JUnit XML and HTML ---------------------------------------------------------------------------------------------------

_PAGE_WIDTH: Final = 120
_STYLE: Final = ":root { color-scheme: light dark } pre { font: 15px/1.5 ui-monospace, monospace; margin: 2rem }"


def _junit(report: Report) -> str:
    """Return a report as a test suite: a test case for the outcome, and for each rule."""
    from xml.etree.ElementTree import (
        Element,
        SubElement,
        tostring,
    )  # which take time to import

    suite = Element(
        "testsuite", name=f"image-workflow-emulator.{report.kind}", errors="0"
    )

    def add(rule: str, kind: str, message: str, text: str) -> None:
        case = SubElement(
            suite, "testcase", classname=suite.attrib["name"], name=printable(rule)
        )
        if kind:
            inner = SubElement(
                case,
                kind,
                {} if kind == "system-out" else {"message": printable(message)},
            )
            inner.text = printable_lines(text)

    for rule in dict.fromkeys(
        (*report.checked, *(finding.rule for finding in report.findings))
    ):
        findings = [finding for finding in report.findings if finding.rule == rule]
        errors = [
            finding.message
            for finding in findings
            if finding.severity == "error" and not report.ok
        ]
        kind = (
            "failure"
            if errors
            else "system-out"
            if findings
            else ""
            if report.checked[rule]
            else "skipped"
        )
        add(
            rule,
            kind,
            "; ".join(errors) or "no occasion, or not checked",
            "\n".join(chain(*map(_lines, findings))),
        )
    is_told = report.ok or suite.find("*/failure") is not None
    add(
        "outcome",
        "system-out" if is_told else "failure",
        report.summary,
        report.summary,
    )
    for attribute, path in (
        ("tests", "testcase"),
        ("failures", "*/failure"),
        ("skipped", "*/skipped"),
    ):
        suite.set(attribute, str(len(suite.findall(path))))
    return f"<?xml version='1.0' encoding='utf-8'?>\n<testsuites>{tostring(suite, 'unicode')}</testsuites>\n"


def page(report: Report) -> str:
    """Return a report as a page for browsers: its text, without script and network."""
    from html import escape  # of which only pages have need

    title, text = (
        f"{'✓' if report.ok else '✗'} {report.kind}",
        "\n".join(text_lines(report, _PAGE_WIDTH)),
    )
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body><pre>{escape(text)}</pre></body></html>\n'


_EMITTERS: Final[Mapping[str, Callable[[Report], str]]] = {
    ".json": lambda report: json.dumps(as_json(report), indent=2) + "\n",
    ".xml": _junit,
    ".html": page,
}
