"""A report as a file, in the form that its suffix names: JSON, JUnit XML, or a page.

What a client or a file put into a report does not make its form invalid.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from image_workflow_emulator.console.reports import (
    as_json,
    details_of,
    sentence_of,
    text_lines,
)
from image_workflow_emulator.kernel.wording import printable, printable_lines
from image_workflow_emulator.report import Report, ReportFinding
from image_workflow_emulator.settings import SettingError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PAGE_WIDTH: Final = 120
_STYLE: Final = (
    ":root { color-scheme: light dark } "
    "pre { font: 15px/1.5 ui-monospace, monospace; margin: 2rem }"
)


def check_suffix(option: str, file: Path) -> None:
    """Check that the suffix of a file names a form. Raises SettingError."""
    if file.suffix.lower() not in EMITTERS:
        expected = f"a file whose name ends in {', '.join(EMITTERS)}"
        raise SettingError(option, str(file), expected)


def content_of(report: Report, file: Path) -> str:
    """Return what a file of a report holds, whose suffix was checked."""
    return EMITTERS[file.suffix.lower()](report)


def json_file(report: Report) -> str:
    """Return a report as indented JSON."""
    return json.dumps(as_json(report), indent=2) + "\n"


def page(report: Report) -> str:
    """Return a report as a page for browsers: its text, without script and network."""
    from html import escape  # of which only pages have need

    mark = "✗"
    if report.ok:
        mark = "✓"
    text = "\n".join(text_lines(report, _PAGE_WIDTH))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{mark} {report.kind}</title><style>{_STYLE}</style></head>"
        f"<body><pre>{escape(text)}</pre></body></html>\n"
    )


# JUnit XML ----------------------------------------------------------------------------


def junit(report: Report) -> str:
    """Return a report as a test suite: a test case for the outcome, and for each rule."""
    from xml.etree.ElementTree import Element, tostring  # which take time to import

    suite = Element(
        "testsuite",
        name=f"image-workflow-emulator.{report.kind}",
        errors="0",
    )
    outcome = _add_case(suite, "outcome")
    broken_rules = [finding.rule for finding in report.findings]
    for rule in dict.fromkeys([*report.checked, *broken_rules]):
        _add_rule(suite, report, rule)
    if report.ok or suite.find("*/failure") is not None:
        _add_text(outcome, report.summary)
    else:
        _add_failure(outcome, report.summary, report.summary)
    failures = suite.findall("*/failure")
    skipped = suite.findall("*/skipped")
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(failures)))
    suite.set("skipped", str(len(skipped)))
    suites = tostring(suite, "unicode")
    return (
        f"<?xml version='1.0' encoding='utf-8'?>\n<testsuites>{suites}</testsuites>\n"
    )


def _add_rule(
    suite: "Element",
    report: Report,
    rule: str,
) -> None:
    """Add the test case of a rule: it fails by an error, and is skipped where the rule
    was not checked, or had no occasion.
    """
    from xml.etree.ElementTree import SubElement

    case = _add_case(suite, rule)
    findings = [finding for finding in report.findings if finding.rule == rule]
    errors = [finding.message for finding in findings if finding.severity == "error"]
    if errors and not report.ok:
        _add_failure(case, "; ".join(errors), _text_of(findings))
    elif findings:
        _add_text(case, _text_of(findings))
    elif not report.checked[rule]:
        reason = "no occasion"
        if rule in (report.not_checked or ()):
            reason = "not checked"
        SubElement(case, "skipped", message=reason)


def _text_of(findings: list[ReportFinding]) -> str:
    lines = []
    for finding in findings:
        lines.append(sentence_of(finding))
        lines += details_of(finding)
    return "\n".join(lines)


def _add_case(suite: "Element", name: str) -> "Element":
    from xml.etree.ElementTree import SubElement

    return SubElement(
        suite,
        "testcase",
        classname=suite.attrib["name"],
        name=printable(name),
    )


def _add_failure(
    case: "Element",
    message: str,
    text: str,
) -> None:
    from xml.etree.ElementTree import SubElement

    failure = SubElement(case, "failure", message=printable(message))
    failure.text = printable_lines(text)


def _add_text(case: "Element", text: str) -> None:
    from xml.etree.ElementTree import SubElement

    SubElement(case, "system-out").text = printable_lines(text)


EMITTERS: Final[Mapping[str, Callable[[Report], str]]] = {
    ".json": json_file,
    ".xml": junit,
    ".html": page,
}
"""What writes a file, by its suffix."""
