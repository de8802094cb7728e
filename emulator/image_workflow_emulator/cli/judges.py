"""`conduct` and `coverage`: what the clients of a running emulator did wrong, and what they and other runs have
covered.

Turns what the examiner found into reports; `exec` uses the same words. Recorded traffic is the room `drift`'s.
"""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import convert

from image_workflow_emulator.cli.output import page
from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.documents.files import MAX_RECORDING_BYTES
from image_workflow_emulator.examiner.findings import (
    SEVERITIES,
    Conduct,
    Finding,
    request_numbers,
)
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.settings import UsageError

_MAX_AGENT = 200
_MAX_GAPS = 3
"""Limit of the gaps of an operation that its row in the table names."""


def conduct(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Judge what the clients of a running emulator do wrong, as far as its journal shows it."""
    found = convert(_asked(options, environment), Conduct)
    return Report(
        kind="conduct",
        ok=not found.errors,
        summary=f"{judged_words(found.judged)}; conduct: {conduct_words(found.findings, found.checked)}",
        findings=list(map(conduct_finding, found.findings)),
        counts=found.judged,
        checked=found.checked,
        details={"judged": found.judged, "not_checked": found.not_checked},
        status=int(bool(found.errors)),
    )


def _asked(options: Namespace, environment: Mapping[str, str]) -> Any:
    """Return what the running emulator answers, whose path has the name of the command."""
    from image_workflow_emulator.cli.remote import control_client

    return control_client(options, environment).call("GET", options.command)


def conduct_finding(finding: Finding, place: str = "") -> ReportFinding:
    """Return a finding of a report. `place`: where else its requests were sent, in words."""
    agent = finding.client.get("user_agent")
    return finding.reported(
        request_numbers(finding.requests)
        + (f", by {agent[:_MAX_AGENT]}" if agent else "")
        + place
    )


def conduct_words(
    findings: Iterable[Finding | ReportFinding], checked: Mapping[str, int]
) -> str:
    """Say in short what was found, and how many rules could have found something."""
    severities = Counter(finding.severity for finding in findings)
    found = ", ".join(
        count_of(severities[word], word) for word in SEVERITIES if severities[word]
    )
    occasions = sum(number > 0 for number in checked.values())
    return f"{found or 'nothing wrong'}; {occasions} of {count_of(len(checked), 'rule')} had an occasion"


def judged_words(judged: Mapping[str, int]) -> str:
    """Say how many requests were judged, and how many had left the journal before."""
    left = f" ({judged['left']} more left the journal before)" if judged["left"] else ""
    return f"{count_of(judged['requests'], 'request')}{left}"


def coverage(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Show what files cover together; without files, what the journal of a running emulator does. Holds it to a
    threshold.

    Raises UsageError for a file that cannot be read, or is not a coverage document.
    """
    if options.files:
        from image_workflow_emulator.examiner.coverage import merged

        return coverage_report(
            merged([_read_coverage(name) for name in options.files]), options.fail_under
        )
    answer = _asked(options, environment)
    report = coverage_report(answer, options.fail_under)
    report.summary = f"{judged_words(answer['judged'])}; {report.summary}"
    return report


def _read_coverage(name: str) -> dict[str, Any]:
    from image_workflow_emulator.examiner.coverage import read

    try:
        return read(json.loads(read_file(name, MAX_RECORDING_BYTES)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def coverage_report(found: dict[str, Any], least: float | None = None) -> Report:
    """Report a coverage document. The report fails if less percent than the least is covered."""
    from image_workflow_emulator.examiner.coverage import rows

    is_low = least is not None and found["percent"] < least
    used = [
        (name, f"{covered}/{of}", first_of(gaps, _MAX_GAPS) or None)
        for name, covered, of, gaps in rows(found)
        if covered
    ]
    table = ReportTable(
        title="Points of the operations used",
        columns=("operation", "covered", "gaps"),
        rows=used,
    )
    return Report(
        kind="coverage",
        ok=not is_low,
        summary=f"{coverage_words(found)}{f'; wanted {least:g} %' if is_low else ''}",
        findings=list(map(_gap_finding, found["next_gaps"])),
        tables=[table] if used else [],
        details=found,
        status=int(is_low),
    )


def coverage_words(found: Mapping[str, Any]) -> str:
    """Say in short how much is covered."""
    return f"{found['percent']:g} % of the contract, {found['percent_of_used']:g} % of the operations used"


def _gap_finding(gap: Mapping[str, Any]) -> ReportFinding:
    """Return a gap, with what closes it."""
    where, command = f"{gap['operation']} {gap['point']}", None
    match gap["closed_by"]:
        case {"scenario": name}:
            remedy, command = (
                f"run it with the scenario {name}",
                f"image-workflow-emulator exec --scenario {name} -- CMD",
            )
        case {"rule": rule}:
            remedy = f"write this rule in a scenario file: {json.dumps(rule)}"
        case by:
            remedy = by.get("request") or "call it so that it answers this"
    found: dict[str, Any] = {"where": where, "remedy": remedy, "command": command}
    return ReportFinding(
        rule="not-covered", severity="note", message="not covered yet", **found
    )


def coverage_text(found: dict[str, Any], suffix: str) -> str:
    """Return the content of a coverage file: a page where its name ends in .html, else JSON that `coverage` reads."""
    return (
        page(coverage_report(found))
        if suffix.lower() == ".html"
        else json.dumps(found, indent=1) + "\n"
    )
