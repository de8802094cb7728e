"""JUnit XML, with which a CI shows what commands found where it shows tests."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from emulator.cli.report import Report

CONDUCT_SUITE = "image-workflow-emulator.conduct"


class Case(NamedTuple):
    """A test case: it failed if `failure` is its message, whose `details` are shown; else these are its output."""

    name: str
    failure: str | None = None
    skipped: str | None = None
    details: str = ""
    kind: str = "error"
    seconds: float = 0.0


def junit_text(suite: str, cases: Iterable[Case]) -> str:
    """Return a suite as JUnit XML."""
    listed, root = list(cases), Element("testsuites")
    failures = sum(case.failure is not None for case in listed)
    skipped = sum(case.skipped is not None for case in listed)
    totals = {"tests": len(listed), "failures": failures, "errors": 0, "skipped": skipped}
    shown = SubElement(root, "testsuite", {"name": suite, **{name: str(number) for name, number in totals.items()}})
    for case in listed:
        names = {"classname": suite, "name": case.name, "time": f"{case.seconds:.3f}"}
        element = SubElement(shown, "testcase", names)
        if case.failure is not None:
            SubElement(element, "failure", {"type": case.kind, "message": case.failure}).text = case.details
        elif case.skipped is not None:
            SubElement(element, "skipped", {"message": case.skipped})
        elif case.details:
            SubElement(element, "system-out").text = case.details
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def conduct_junit(report: Report, fails: bool) -> str:
    """Return the conduct of a run, with a case for each rule. `fails`: errors make the run fail."""
    conduct = report["conduct"] or {"findings": [], "checked": {}, "not_checked": []}
    cases = []
    for rule, number in conduct["checked"].items():
        found = [finding for finding in conduct["findings"] if finding["rule"] == rule]
        errors = [finding["message"] for finding in found if fails and finding["severity"] == "error"]
        is_off = rule in conduct["not_checked"]
        why = "not checked on an auto clock" if is_off else "nothing that this rule is about has happened"
        skipped = None if found or number else why
        cases.append(Case(rule, "; ".join(errors) or None, skipped, "".join(map(_text, found))))
    return junit_text(CONDUCT_SUITE, cases)


def _text(finding: dict[str, Any]) -> str:
    requests = ", ".join(map(str, finding["requests"]))
    sentences = f"{finding['severity']}: {finding['message']}\nrequests: {requests}\n{finding['source']}\n"
    return f"{sentences}remedy: {finding['remedy']}\n"
