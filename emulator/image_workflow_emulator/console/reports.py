"""The forms of a report (`report.py`) that are printed: text for people, and JSON.

Knows no rule, and no command.
"""

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from image_workflow_emulator.console.tables import table_lines
from image_workflow_emulator.kernel.wording import printable
from image_workflow_emulator.report import Report, ReportFinding, ReportTable

# Text ---------------------------------------------------------------------------------


def text_lines(
    report: Report,
    width: int,
    paint: Callable[[str], str] = str,
) -> Iterator[str]:
    """Iterate over a report for people: outcome, findings, tables, and what to do next.

    `paint` colours severities and outcomes.
    """
    yield from _wrapped(report.summary, width)
    told = set[str]()
    for finding in report.findings:
        yield from _finding_lines(finding, width, paint, told)
    for table in report.tables:
        yield from _table_lines(table, width, paint)
    for command in report.next:
        yield f"next: {printable(command)}"


def _finding_lines(
    finding: ReportFinding,
    width: int,
    paint: Callable[[str], str],
    told: set[str],
) -> Iterator[str]:
    """Iterate over a finding, without what was told of others before."""
    first, *others = _wrapped(sentence_of(finding), width, "  ")
    yield first.replace(finding.severity, paint(finding.severity), 1)
    yield from others
    for words in details_of(finding):
        if words in told:
            continue
        told.add(words)
        if words == finding.command:
            yield f"    {printable(words)}"
        else:
            yield from _wrapped(words, width, "    ")


def sentence_of(finding: ReportFinding) -> str:
    """Return what is wrong, and where."""
    sentence = f"{finding.severity}: {finding.rule}: {finding.message}"
    if finding.where:
        sentence += f" ({finding.where})"
    return sentence


def details_of(finding: ReportFinding) -> list[str]:
    """Return what is known of a finding beside its sentence."""
    details = []
    if finding.source:
        details.append(finding.source)
    if finding.remedy:
        details.append(f"remedy: {finding.remedy}")
    if finding.command:
        details.append(finding.command)
    return details


def _table_lines(
    table: ReportTable,
    width: int,
    paint: Callable[[str], str],
) -> Iterator[str]:
    if table.columns:
        yield ""
        yield from _wrapped(table.title, width)
        yield from table_lines(table.columns, table.rows, width, paint)
        return
    for line in table_lines((), table.rows, width - 2):  # names, and what they are
        yield f"  {line}"


def _wrapped(
    text: str,
    width: int,
    margin: str = "",
) -> list[str]:
    """Break a text into lines, of which all but the first are indented once more.

    Commands and addresses stay whole.
    """
    wrapper = textwrap.TextWrapper(
        width,
        initial_indent=margin,
        subsequent_indent=f"{margin}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(printable(text))


# JSON ---------------------------------------------------------------------------------


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON: the members that only its kind has are under their own
    names.
    """
    document: dict[str, Any] = to_builtins(report)
    del document["status"]
    if report.not_checked is None:
        del document["not_checked"]
    details: dict[str, Any] = document.pop("details")
    return document | details


def json_text(report: Report, most_bytes: int | None = None) -> str:
    """Return a report as JSON on one line. Above the limit, the ends of its longest
    lists are left out.

    `not_shown` is the number of entries that were left out.
    """
    document = as_json(report)
    text = _encoded(document)
    if most_bytes is None or len(text) < most_bytes:
        return text
    document["not_shown"] = 0
    size = len(_encoded(document)) + len(str(most_bytes))
    lists = list(_lists(document))
    while size >= most_bytes and any(lists):
        entry = max(lists, key=len).pop()
        size -= len(_encoded(entry)) + 1
        document["not_shown"] += 1
    return _encoded(document)


def _encoded(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _lists(value: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Iterate over the lists of a report that may be shortened: its tables stay, but
    for their rows.
    """
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _lists(inner)
        elif name == "tables":
            for table in inner:
                yield table["rows"]
        elif isinstance(inner, list):
            yield inner
