"""`conduct` and `coverage`: what the clients of a running emulator did wrong, and what they and other runs have
covered.

Turns what the examiner found into reports; `exec` uses the same words. Recorded traffic is the room `drift`'s.
"""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import convert

from image_workflow_emulator.cli.output import page
from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.examiner.findings import SEVERITIES, Conduct, Finding, request_numbers
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable
from image_workflow_emulator.settings import UsageError

if TYPE_CHECKING:
    from image_workflow_emulator.examiner.coverage import Coverage

# Conduct --------------------------------------------------------------------------------------------------------------


def conduct(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Judge what the clients of a running emulator do wrong, as far as its journal shows it."""
    found = convert(_asked(options, environment), Conduct)
    return Report(
        kind="conduct",
        ok=not found.errors,
        summary=f"{_judged_words(found.judged)}; conduct: {conduct_words(found.findings, found.checked)}",
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
    return finding.reported(request_numbers(finding.requests) + (f", by {agent}" if agent else "") + place)


def conduct_words(findings: Sequence[Finding], checked: Mapping[str, int]) -> str:
    """Say in short what was found, and how many rules could have found something."""
    severities = Counter(finding.severity for finding in findings)
    found = ", ".join(count_of(severities[word], word) for word in SEVERITIES if severities[word])
    occasions = sum(number > 0 for number in checked.values())
    return f"{found or 'nothing wrong'}; {occasions} of {count_of(len(checked), 'rule')} had an occasion"


def _judged_words(judged: Mapping[str, int]) -> str:
    left = f", {judged['left']} left the journal before" if judged["left"] else ""
    return f"{count_of(judged['requests'], 'request')} judged{left}"


# Coverage -------------------------------------------------------------------------------------------------------------

_MAX_GAPS = 3
"""The most gaps of an operation that its row in the table names."""


def coverage(options: Namespace, environment: Mapping[str, str]) -> Report:
    """Show what files cover together; without files, what the journal of a running emulator does. Holds it to a
    threshold.

    Raises UsageError for a file that cannot be read, or is not a coverage document.
    """
    if options.files:
        from image_workflow_emulator.examiner.coverage import merged

        return coverage_report(merged([_read_coverage(name) for name in options.files]), options.fail_under)
    answer = _asked(options, environment)
    judged = answer.pop("judged")
    report = coverage_report(answer, options.fail_under)
    report.summary = f"{_judged_words(judged)}; {report.summary}"
    report.details = {**report.details, "judged": judged}
    return report


def _read_coverage(name: str) -> "Coverage":
    from image_workflow_emulator.examiner.coverage import read

    try:
        return read(json.loads(read_file(name)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None


def coverage_report(found: "Coverage", least: float | None = None) -> Report:
    """Report a coverage. It fails where it covers less percent than the least."""
    from image_workflow_emulator.examiner.coverage import rows

    is_low = least is not None and found["percent"] < least
    counts = ((name, covered, f"{covered}/{of}", first_of(gaps, _MAX_GAPS)) for name, covered, of, gaps in rows(found))
    used = [(name, words, gaps or None) for name, covered, words, gaps in counts if covered]
    table = ReportTable(title="Points of the operations used", columns=("operation", "covered", "gaps"), rows=used)
    return Report(
        kind="coverage",
        ok=not is_low,
        summary=f"{coverage_words(found)}{f'; wanted {least:g} %' if is_low else ''}",
        findings=[_gap_finding(gap) for gap in found["next_gaps"]],
        tables=[table] if used else [],
        details=found,
        status=int(is_low),
    )


def coverage_words(found: "Coverage") -> str:
    """Say in short how much is covered."""
    return f"{found['percent']:g} % of the contract, {found['percent_of_used']:g} % of the operations used"


def _gap_finding(gap: Mapping[str, Any]) -> ReportFinding:
    """Return a gap, with what closes it."""
    by, command = gap["closed_by"], None
    remedy = by.get("request") or "call it so that it answers this"
    if "scenario" in by:
        remedy = f"run it with the scenario {by['scenario']}"
        command = f"image-workflow-emulator exec --scenario {by['scenario']} -- CMD"
    elif "rule" in by:
        remedy = f"write this rule in a scenario file: {json.dumps(by['rule'])}"
    where, message = f"{gap['operation']} {gap['point']}", "not covered yet"
    return ReportFinding(
        rule="not-covered", severity="note", where=where, message=message, remedy=remedy, command=command
    )


def coverage_text(found: "Coverage", suffix: str) -> str:
    """Return the content of a file of coverage: a page where its name ends in .html, else JSON that
    `coverage` reads.
    """
    return page(coverage_report(found)) if suffix.lower() == ".html" else json.dumps(found, indent=1) + "\n"
