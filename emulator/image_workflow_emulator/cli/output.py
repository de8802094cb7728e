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
from html import escape
from itertools import zip_longest
from operator import gt
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import to_builtins

from image_workflow_emulator.client.local_files import UnusableFileError, check_writable, write_file
from image_workflow_emulator.kernel.wording import printable, printable_lines
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.settings import SettingError

GAP: Final = "  "
LEAST_WIDTH: Final = 6
"""No column is made narrower, however narrow the terminal is."""


def show(options: Namespace, answer: Any, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print an answer as --format asks for: as JSON, or as a table of these rows."""
    if options.format == "json":
        print_json(answer)
    else:
        print_table(columns, rows)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(printable_lines(json.dumps(value, indent=2, ensure_ascii=False)))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows below the names of their columns. On a terminal a table fits its width; elsewhere each row is one
    line.
    """
    print("\n".join(table_lines(columns, rows, terminal_width() if sys.stdout.isatty() else None)))


def terminal_width() -> int:
    """Return how many characters a line of the terminal has: 80 where there is none."""
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int | None) -> Iterator[str]:
    """Iterate over the lines of a table: the names of its columns, if they have any, and its rows. None is shown as a
    dash.

    In a width, the widest columns are as narrow as it takes, and their cells have several lines. A word is broken only
    where it does not help to break between words.
    """
    heads = [[name.replace("_", " ").upper() for name in columns]] if columns else []
    cells = [["-" if cell is None else printable(str(cell)) for cell in row] for row in (*heads, *rows)]
    by_column = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in by_column]
    if width is not None:
        room = width - len(GAP) * (len(widths) - 1)
        longest_words = [max(len(word) for cell in column for word in cell.split(" ")) for column in by_column]
        for narrowest in (longest_words, [LEAST_WIDTH] * len(widths)):
            while sum(widths) > room and any(map(gt, widths, narrowest)):
                wide = [number for number, least in enumerate(narrowest) if widths[number] > least]
                widths[max(wide, key=widths.__getitem__)] -= 1
    for row in cells:
        for pieces in zip_longest(*map(_pieces, row, widths), fillvalue=""):
            yield GAP.join(map(str.ljust, pieces, widths)).rstrip()


def _pieces(cell: str, width: int) -> list[str]:
    return [cell] if len(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)


def print_bytes(content: bytes) -> None:
    """Print a file as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


# Reports --------------------------------------------------------------------------------------------------------------


Judge: TypeAlias = Callable[[Namespace, Mapping[str, str]], Report]
"""A command that judges: it gets its options, and the environment."""

MAX_PRINTED_BYTES: Final = 16 * 2**10
"""Limit of a report as JSON on standard output, unless all of it is asked for."""
MAX_EXEC_BYTES: Final = 4 * 2**10
"""The same of `exec`, which programs run most."""
MAX_PRINTED_CHARACTERS: Final = 500
"""Limit of a text in a report that is longer than that."""
_SUITE: Final = "image-workflow-emulator"
_NO_OCCASION: Final = "this rule had no occasion, or could not be checked"


def conclude(judge: Judge, options: Namespace, environment: Mapping[str, str]) -> int:
    """Let a command judge; write and print its report as the options ask. Return the exit status.

    Raises UnusableFileError for a file that cannot be written: before the command runs, as far as that can be known.
    """
    files = {check_writable("--report", name): _emitter(name) for name in options.report}
    report = judge(options, environment)
    for file, emit in files.items():
        try:
            write_file(file, emit(report))
        except UnusableFileError as error:
            print(printable(f"--report: {error}"), file=sys.stderr)
            report.status = report.status or 2
    if options.format == "json":
        most_bytes = MAX_EXEC_BYTES if report.kind == "exec" else MAX_PRINTED_BYTES
        print(json_text(report, None if options.all else most_bytes))
    elif not vars(options).get("quiet"):
        is_exec = report.kind == "exec"  # its command has standard output for itself
        with contextlib.suppress(OSError) if is_exec else contextlib.nullcontext():  # its status is that of its command
            print("\n".join(text_lines(report)), file=sys.stderr if is_exec else sys.stdout)
    return report.status


def _emitter(name: str) -> Callable[[Report], str]:
    """Return what writes a file of this name. Raises SettingError."""
    emitter = _EMITTERS.get(Path(name).suffix.lower())
    if emitter is None:
        raise SettingError("--report", name, f"a file whose name ends in {', '.join(_EMITTERS)}")
    return emitter


# Text -----------------------------------------------------------------------------------------------------------------


def text_lines(report: Report) -> Iterator[str]:
    """Iterate over a report for people, in the width of the terminal: outcome, findings, tables, and what
    to do next.
    """
    width, shown = terminal_width(), set[str | None]()
    yield from _wrapped(report.summary, width)
    for finding in report.findings:
        yield from _wrapped(f"{finding.severity}: {finding.rule}: {_sentence(finding)}", width, "  ")
        for words in (finding.source, finding.remedy and f"remedy: {finding.remedy}"):
            if words and words not in shown:
                yield from _wrapped(words, width, "    ")
        if finding.command and finding.command not in shown:
            yield f"    {printable(finding.command)}"
        shown |= {finding.source, f"remedy: {finding.remedy}", finding.command}
    for table in report.tables:
        if table.columns:
            yield from ("", *_wrapped(table.title, width), *table_lines(table.columns, table.rows, width))
        else:  # names, and what is known of them
            yield from (f"  {line}" for line in table_lines((), table.rows, width - 2))
    yield from (f"next: {printable(command)}" for command in report.next)


def _sentence(finding: ReportFinding) -> str:
    return f"{finding.message} ({finding.where})" if finding.where else finding.message


def _wrapped(text: str, width: int, margin: str = "") -> list[str]:
    """Break a text into lines, of which all but the first are indented once more. Commands and addresses stay whole."""
    return textwrap.wrap(
        printable(text),
        width,
        initial_indent=margin,
        subsequent_indent=f"{margin}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


# JSON -----------------------------------------------------------------------------------------------------------------


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON: the members that only its kind has are under their own names."""
    document: dict[str, Any] = to_builtins(report)
    del document["status"]
    details: dict[str, Any] = document.pop("details")
    return document | details


def json_text(report: Report, most_bytes: int | None = None) -> str:
    """Return a report as JSON on one line. Above the limit texts are cut, and then the ends of the longest lists.

    `not_shown` is the number of entries that were left out.
    """
    document = as_json(report)
    if most_bytes is None or len(_encoded(document)) < most_bytes:
        return _encoded(document)
    document = {**_cut(document), "not_shown": 0}
    size, lists = len(_encoded(document)) + len(str(most_bytes)), list(_lists(document))
    while size >= most_bytes and any(lists):
        size -= len(_encoded(max(lists, key=len).pop())) + 1
        document["not_shown"] += 1
    return _encoded(document)


def _encoded(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _indented(report: Report) -> str:
    return json.dumps(as_json(report), indent=2) + "\n"


def _cut(value: Any) -> Any:
    match value:
        case dict():
            return {name: _cut(inner) for name, inner in value.items()}
        case list():
            return [_cut(inner) for inner in value]
        case str() if len(value) > MAX_PRINTED_CHARACTERS:
            return f"{value[: MAX_PRINTED_CHARACTERS - 1]}…"
    return value


def _lists(value: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Iterate over the lists of a report that may be shortened: its tables stay, but for their rows."""
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _lists(inner)
        elif name == "tables":
            yield from (table["rows"] for table in inner)
        elif isinstance(inner, list):
            yield inner


# JUnit XML ------------------------------------------------------------------------------------------------------------


def _junit(report: Report) -> str:
    """Return a report as a test suite: a test case for the outcome, and for each rule."""
    by_rule: dict[str, list[ReportFinding]] = {rule: [] for rule in report.checked}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    cases, kinds = [], []
    for rule, findings in by_rule.items():
        errors = [finding.message for finding in findings if finding.severity == "error" and not report.ok]
        text = escape(printable_lines("\n".join(map(_finding_text, findings))))
        kinds.append("failure" if errors else "system-out" if findings else "" if report.checked[rule] else "skipped")
        cases.append(_case(report, rule, kinds[-1], "; ".join(errors) or _NO_OCCASION, text))
    is_outcome_bad = not report.ok and "failure" not in kinds
    kinds.append("failure" if is_outcome_bad else "system-out")
    cases.insert(0, _case(report, "outcome", kinds[-1], report.summary, _html(report.summary)))
    numbers = f'tests="{len(cases)}" failures="{kinds.count("failure")}" errors="0" skipped="{kinds.count("skipped")}"'
    suite = f'<testsuite name="{_SUITE}.{report.kind}" {numbers}>\n{"".join(cases)}</testsuite>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suite}\n</testsuites>\n'


def _case(report: Report, name: str, kind: str, message: str, text: str) -> str:
    """Return a test case with what it holds, if anything."""
    said = "" if kind == "system-out" else f' type="error" message="{_html(message)}"'
    inner = f"<{kind}{said}>{text}</{kind}>" if kind else ""
    return f'<testcase classname="{_SUITE}.{report.kind}" name="{_html(name)}" time="0">{inner}</testcase>\n'


def _finding_text(finding: ReportFinding) -> str:
    remedy = finding.remedy and f"remedy: {finding.remedy}"
    lines = (f"{finding.severity}: {_sentence(finding)}", finding.source, remedy, finding.command)
    return "\n".join(filter(None, lines))


# A page ---------------------------------------------------------------------------------------------------------------

_STYLE: Final = """
:root { color-scheme: light dark }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif }
table { border-collapse: collapse }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; border-bottom: 1px solid #8884 }
td { font-variant-numeric: tabular-nums }
article { border-left: .3rem solid #8888; margin: 1rem 0; padding: .1rem 1rem }
.error { border-color: #d33 } .warning { border-color: #e90 } p, h3 { margin: .4rem 0 }
code { overflow-wrap: anywhere } .panel { overflow-x: auto }
"""


def page(report: Report) -> str:
    """Return a report as one page for browsers, self-contained: no script, no network."""
    title = f"{'✓' if report.ok else '✗'} {report.kind}"
    parts = [
        f"<h1>{title}</h1><p>{_html(report.summary)}</p>",
        *map(_article, report.findings),
        *map(_html_table, report.tables),
        *(f"<p>next: <code>{_html(command)}</code></p>" for command in report.next),
        "</body></html>\n",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>\n'
        "<body>" + "\n".join(parts)
    )


def _article(finding: ReportFinding) -> str:
    return (
        f'<article class="{finding.severity}"><h3>{finding.severity}: {_html(finding.rule)}</h3>'
        f"<p>{_html(_sentence(finding))}</p>"
        + "".join(f"<p>{_html(words)}</p>" for words in (finding.source, finding.remedy) if words)
        + (f"<p><code>{_html(finding.command)}</code></p>" if finding.command else "")
        + "</article>"
    )


def _html_table(table: ReportTable) -> str:
    heads = "".join(f"<th>{_html(column)}</th>" for column in table.columns)
    rows = [f"<tr>{''.join(f'<td>{_html(cell)}</td>' for cell in row)}</tr>" for row in table.rows]
    body = f"{f'<thead><tr>{heads}</tr></thead>' if heads else ''}<tbody>{''.join(rows)}</tbody>"
    return f'{f"<h2>{_html(table.title)}</h2>" if table.title else ""}<div class="panel"><table>{body}</table></div>'


def _html(text: str | int | None) -> str:
    return escape(printable(str("" if text is None else text)))


_EMITTERS: Final[Mapping[str, Callable[[Report], str]]] = {".json": _indented, ".xml": _junit, ".html": page}
