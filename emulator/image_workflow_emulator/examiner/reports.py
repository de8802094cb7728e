"""Conduct and coverage as reports (report.py), for every command that shows them."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from image_workflow_emulator.examiner.coverage import Coverage, rows
from image_workflow_emulator.examiner.findings import SEVERITIES, Conduct, Finding, request_numbers
from image_workflow_emulator.kernel.wording import count_of, first_of
from image_workflow_emulator.report import Report, ReportFinding, ReportTable

_MAX_GAPS: Final = 3


def conduct_report(found: Sequence[tuple[str | None, Conduct]], ignored: Collection[str] = ()) -> Report:
    """Return the conduct of clients as a report; some rules can be left out.

    Where several sandboxes were judged, each but the default one has its id.
    """
    checked = Counter[str]()
    for _, conduct in found:
        checked.update({rule: number for rule, number in conduct.checked.items() if rule not in ignored})
    findings = [
        _report_finding(sandbox, finding)
        for sandbox, conduct in found
        for finding in conduct.findings
        if finding.rule not in ignored
    ]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    severities = Counter(finding.severity for finding in findings)
    wrong = ", ".join(count_of(severities[word], word) for word in SEVERITIES if severities[word])
    occasions = f"{sum(map(bool, checked.values()))} of {len(checked)} rules had an occasion"
    judged = {name: sum(getattr(conduct.judged, name) for _, conduct in found) for name in ("requests", "left")}
    not_checked = {rule for _, conduct in found for rule in conduct.not_checked} - set(ignored)
    return Report(
        kind="conduct",
        ok=not severities["error"],
        summary=f"conduct: {wrong or 'nothing wrong'}; {occasions}",
        findings=findings,
        counts={**{word: severities[word] for word in SEVERITIES}, **judged},
        checked=checked,
        details={"not_checked": [rule for rule in checked if rule in not_checked], "judged": judged},
        status=int(severities["error"] > 0),
    )


def _report_finding(sandbox: str | None, finding: Finding) -> ReportFinding:
    user_agent = finding.client["user_agent"]
    where = request_numbers(finding.requests) + (f", by {user_agent}" if user_agent else "")
    return ReportFinding(
        rule=finding.rule,
        severity=finding.severity,
        where=where if sandbox is None else f"{where}, in the sandbox {sandbox}",
        message=finding.message,
        remedy=f"{finding.remedy} ({finding.source})",
        requests=finding.requests,
    )


def coverage_report(coverage: Coverage, least: float | None = None) -> Report:
    """Return the coverage of some runs as a report, which is good if it is `least` percent or more."""
    is_low = least is not None and coverage["percent"] < least
    listed = list(rows(coverage))
    used = f"{coverage['percent_of_used']:g} % of the operations used"
    wanted = f", wanted {least:g} %" if is_low else ""
    return Report(
        kind="coverage",
        ok=not is_low,
        summary=f"coverage: {coverage['percent']:g} % of the contract{wanted}; {used}",
        counts={"covered": sum(covered for _, covered, _, _ in listed), "points": sum(of for _, _, of, _ in listed)},
        tables=[
            ReportTable(
                title="Operations",
                columns=("Operation", "Covered", "Gaps"),
                rows=[
                    (name, f"{covered}/{of}", first_of(gaps, _MAX_GAPS) or None) for name, covered, of, gaps in listed
                ],
            ),
            ReportTable(
                title="Next gaps to close",
                columns=("Operation", "Point", "Closed by"),
                rows=[(gap["operation"], gap["point"], _closing(gap["closed_by"])) for gap in coverage["next_gaps"]],
            ),
        ],
        details=coverage,
        status=int(is_low),
    )


def _closing(closed_by: Mapping[str, Any]) -> str:
    """Name what closes a gap."""
    if "scenario" in closed_by:
        return f"scenario {closed_by['scenario']}"
    return (
        f"rule {json.dumps(closed_by['rule'])}" if "rule" in closed_by else closed_by.get("request", "the call itself")
    )
