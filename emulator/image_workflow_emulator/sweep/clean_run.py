"""What the run without a fault shows: mistakes that need no fault, and whether it is
one that others can be compared with.

Pure functions of what happened in its places. Must not know which faults are tried.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from msgspec import structs

from image_workflow_emulator.examiner.conduct import RULES
from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.report import ReportFinding
from image_workflow_emulator.sweep.evidence import WHOLE, Place
from image_workflow_emulator.sweep.journals import Entry, Journal

UNREAD_PAGE: Final = "unread-page"
"""The rule that is broken where a list was not read to its end."""
UNAWAITED_WRITE: Final = "unawaited-write"
"""The rule that is broken where a client did not wait for the answer to a write."""
CONDUCT_RULES: Final = frozenset(rule.name for rule in RULES)

_MAX_TESTS: Final = 3
"""How many tests a finding names."""


def findings_of(
    places: Mapping[str, Place],
    ignored_rules: Collection[str],
) -> list[ReportFinding]:
    """Return what a clean run shows, by the names of its places: each rule of conduct
    once, and each list.
    """
    findings = list(_misconduct(places, ignored_rules))
    for name, place in places.items():
        findings += _unawaited_writes(place, name)
        findings += unread_pages(place.journals, name)
    return findings


def _misconduct(
    places: Mapping[str, Place],
    ignored_rules: Collection[str],
) -> Iterator[ReportFinding]:
    """Yield each rule of conduct that was broken once, with the tests that broke it."""
    counted_rules = CONDUCT_RULES.difference(ignored_rules)
    first_findings: dict[str, ReportFinding] = {}
    tests_by_rule: defaultdict[str, list[str]] = defaultdict(list)
    for name, place in places.items():
        for finding in place.findings:
            if finding.rule in counted_rules:
                first_findings.setdefault(finding.rule, finding)
                tests_by_rule[finding.rule].append(name)
    for rule, finding in first_findings.items():
        tests = dict.fromkeys(tests_by_rule[rule])
        where = "the clean run"
        if WHOLE not in tests:
            where = f"the clean run of {first_of(tests, _MAX_TESTS)}"
        yield structs.replace(finding, where=where)


def is_comparable(place: Place) -> bool:
    """Tell whether a run with a fault should make as much as this one: not if the
    client gave a write up, and may have sent another in its place.
    """
    return not any(map(_is_unawaited_write, place.entries))


def _unawaited_writes(place: Place, name: str) -> Iterator[ReportFinding]:
    """Yield a finding if nothing can be compared with what a place has made."""
    writes = [entry for entry in place.entries if _is_unawaited_write(entry)]
    if not writes:
        return
    operations = dict.fromkeys(entry.name for entry in writes)
    yield ReportFinding(
        rule=UNAWAITED_WRITE,
        severity="note",
        where=name or None,
        message=f"without a fault the client did not wait for the answer to "
        f"{first_of(operations)}: no run is judged by what it makes less than this one",
        remedy="give the client a longer time limit, or sweep on a machine with less "
        "to do",
    )


def _is_unawaited_write(entry: Entry) -> bool:
    """Tell whether a client gave a write up, unless a scenario of its own made it do
    so.
    """
    return entry.abandoned and not entry.is_read and not entry.rule_name


def unread_pages(journals: Iterable[Journal], place: str) -> Iterator[ReportFinding]:
    """Yield a finding for each list whose next page was never asked for."""
    for journal in journals:
        unread: dict[str, Entry] = {}
        for entry in journal:
            page = entry.answer.get("page")
            if isinstance(page, dict) and page.get("has_more"):
                unread.setdefault(entry.name, entry)
            if "after=" in entry.query:
                unread.pop(entry.name, None)
        for name, entry in unread.items():
            yield ReportFinding(
                rule=UNREAD_PAGE,
                severity="note",
                where=place or None,
                message=f"{name}: the answer to request {entry.sequence} has more "
                "pages, and none was read",
                remedy="read a list to its end, by `has_more`, unless its first page "
                "is all that you want (docs/survive.md, section 10)",
            )
