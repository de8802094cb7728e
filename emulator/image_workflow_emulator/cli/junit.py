"""JUnit XML, with which a CI shows what commands found where it shows tests."""

from collections.abc import Iterable
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring


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
