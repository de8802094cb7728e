"""The conduct of a run as JUnit XML: a test case for each rule, so that a CI shows what was found where it shows tests.

A finding is a failure where it makes the run fail; others go to the case's output. A rule that was never checked was
skipped.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from emulator.cli.report import Report
from emulator.examiner.examiner import Totals
from emulator.examiner.findings import Finding

SUITE = "image-workflow-emulator.conduct"


def junit_text(report: Report, fails: bool) -> str:
    """Return the report's conduct as JUnit XML. `fails`: errors make the run fail."""
    conduct = report.conduct
    checked = conduct.checked if conduct is not None else {}
    found = [finding for _, finding in conduct.findings] if conduct is not None else []
    cases = [
        _case(rule, _why_skipped(conduct, rule), [one for one in found if one.rule == rule], fails) for rule in checked
    ]
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    totals = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    head = f'<testsuite name="{SUITE}" {totals} time="{report.duration_ms / 1000:.3f}">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", head, *cases, "</testsuite>", "</testsuites>"]
    return "\n".join(lines) + "\n"


def _why_skipped(conduct: Totals | None, rule: str) -> str | None:
    """Say why a rule was never checked; None if it was."""
    if conduct is None or conduct.checked[rule]:
        return None
    if rule in conduct.off:
        return "not checked on an auto clock"
    return "nothing that this rule is about has happened"


def _case(rule: str, skipped: str | None, findings: Sequence[Finding], fails: bool) -> str:
    failures = [finding for finding in findings if fails and finding.severity == "error"]
    others = [finding for finding in findings if finding not in failures]
    inner = ""
    if failures:  # most readers show the first failure of a case alone
        message = quoteattr("; ".join(finding.message for finding in failures))
        inner = f'<failure type="error" message={message}>{escape("".join(map(_text, failures)))}</failure>'
    if others:
        inner += f"<system-out>{escape(''.join(map(_text, others)))}</system-out>"
    if not inner and skipped is not None:
        inner = f"<skipped message={quoteattr(skipped)}/>"
    return f"<testcase classname={quoteattr(SUITE)} name={quoteattr(rule)}>{inner}</testcase>"


def _text(finding: Finding) -> str:
    requests = ", ".join(map(str, finding.requests))
    return f"{finding.severity}: {finding.message}\nrequests: {requests}\n{finding.source}\nremedy: {finding.remedy}\n"
