"""The reports of `conduct` and `coverage`: what the examiner found, in words.

`exec` and the pytest plugin use the same words. Recorded traffic is the room `drift`'s.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import convert

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.console.report_files import page
from image_workflow_emulator.examiner.findings import (
    SEVERITIES,
    Conduct,
    Finding,
    request_numbers,
)
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.settings import UsageError

_MAX_AGENT: Final = 200
_MAX_GAPS: Final = 3
"""Limit of the gaps of an operation that its row in the table names."""

# Conduct ------------------------------------------------------------------------------


def conduct_report(answer: Any) -> Report:
    """Report what the clients of a running emulator do wrong, by its answer."""
    conduct = convert(answer, Conduct)
    judged = judged_words(conduct.judged)
    words = conduct_words(conduct.findings, conduct.checked)
    return Report(
        kind="conduct",
        ok=not conduct.errors,
        summary=f"{judged}; conduct: {words}",
        findings=list(map(conduct_finding, conduct.findings)),
        counts=conduct.judged,
        checked=conduct.checked,
        not_checked=conduct.not_checked,
        details={"judged": conduct.judged},
        status=int(bool(conduct.errors)),
    )


def conduct_finding(finding: Finding, place: str = "") -> ReportFinding:
    """Return a finding of a report. `place`: where else its requests were sent, in
    words.
    """
    where = request_numbers(finding.requests)
    agent = finding.client.get("user_agent")
    if agent:
        where += f", by {agent[:_MAX_AGENT]}"
    return finding.reported(where + place)


def conduct_words(
    findings: Iterable[Finding | ReportFinding],
    checked: Mapping[str, int],
) -> str:
    """Say in short what was found, and how many rules could have found something."""
    counts = Counter(finding.severity for finding in findings)
    severities = [
        count_of(counts[severity], severity)
        for severity in SEVERITIES
        if counts[severity]
    ]
    words = ", ".join(severities) or "nothing wrong"
    occasions = sum(number > 0 for number in checked.values())
    return f"{words}; {occasions} of {count_of(len(checked), 'rule')} had an occasion"


def judged_words(judged: Mapping[str, int]) -> str:
    """Say how many requests were judged, and how many had left the journal before."""
    words = count_of(judged["requests"], "request")
    if judged["left"]:
        words += f" ({judged['left']} more left the journal before)"
    return words


# Coverage -----------------------------------------------------------------------------


def merged_files(names: Iterable[str]) -> dict[str, Any]:
    """Return what coverage documents cover together.

    Raises UsageError for a file that cannot be read, or is no such document.
    """
    from image_workflow_emulator.examiner.coverage import merged

    return merged([_read_coverage(name) for name in names])


def _read_coverage(name: str) -> dict[str, Any]:
    from image_workflow_emulator.examiner.coverage import read

    try:
        return read(json.loads(read_file(name)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def coverage_report(coverage: dict[str, Any], least: float | None = None) -> Report:
    """Report a coverage document. The report fails if less percent than the least is
    covered.
    """
    summary = coverage_words(coverage)
    is_low = least is not None and coverage["percent"] < least
    if is_low:
        summary += f"; wanted {least:g} %"
    table = _table_of_used(coverage)
    return Report(
        kind="coverage",
        ok=not is_low,
        summary=summary,
        findings=list(map(_gap_finding, coverage["next_gaps"])),
        tables=[table] if table.rows else [],
        details=coverage,
        status=int(is_low),
    )


def _table_of_used(coverage: dict[str, Any]) -> ReportTable:
    """Return the points of the operations that were used at all."""
    from image_workflow_emulator.examiner.coverage import rows

    used = []
    for name, covered, points, gaps in rows(coverage):
        if covered:
            used.append(
                (name, f"{covered}/{points}", first_of(gaps, _MAX_GAPS) or None)
            )
    return ReportTable(
        title="Points of the operations used",
        columns=("operation", "covered", "gaps"),
        rows=used,
    )


def coverage_words(coverage: Mapping[str, Any]) -> str:
    """Say in short how much is covered."""
    of_all = f"{coverage['percent']:g} % of the contract"
    of_used = f"{coverage['percent_of_used']:g} % of the operations used"
    return f"{of_all}, {of_used}"


def _gap_finding(gap: Mapping[str, Any]) -> ReportFinding:
    """Return a gap, with what closes it."""
    command = None
    match gap["closed_by"]:
        case {"scenario": name}:
            remedy = f"run it with the scenario {name}"
            command = f"image-workflow-emulator exec --scenario {name} -- CMD"
        case {"rule": rule}:
            remedy = f"write this rule in a scenario file: {json.dumps(rule)}"
        case way:
            remedy = way.get("request") or "call it so that it answers this"
    return ReportFinding(
        rule="not-covered",
        severity="note",
        where=f"{gap['operation']} {gap['point']}",
        message="not covered yet",
        remedy=remedy,
        command=command,
    )


def coverage_text(coverage: dict[str, Any], suffix: str) -> str:
    """Return the content of a coverage file: a page where its name ends in .html, else
    JSON that `coverage` reads.
    """
    if suffix.lower() == ".html":
        return page(coverage_report(coverage))
    return json.dumps(coverage, indent=1) + "\n"
