"""What records show of their clients, for one sandbox and for all of them together.

Must not know how a record is judged.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any, TypeAlias

from msgspec import Struct, field, structs

from image_workflow_emulator.examiner.findings import SEVERITIES, Conduct, Finding
from image_workflow_emulator.examiner.points import Point
from image_workflow_emulator.service.records.record import Client

MAX_FINDINGS = 1_000
"""The most findings of one sandbox, and of all deleted ones together."""
MAX_REQUESTS = 100
"""The most requests that a finding names."""
Place: TypeAlias = tuple[str, str, Client]
"""What makes a finding one: its rule, the operation, and the client."""


class Judgement(Struct, frozen=True):
    """What records show: the findings, and how often each rule could have been broken.

    All breaches of one rule by one client at one operation are one finding.
    """

    found: Mapping[Place, Finding] = {}
    checked: Mapping[str, int] = {}
    """By rule, in the order in which rules are reported."""
    off: frozenset[str] = frozenset()
    """The rules that could not be checked of some requests, since an auto clock took every wait."""
    covered: Counter[Point] = field(default_factory=Counter)
    """How often each point of the coverage was reached, where that was asked for."""

    def __add__(self, later: "Judgement") -> "Judgement":
        """Return what both show together."""
        found = dict(self.found)
        for place, finding in later.found.items():
            found[place] = _together(found.get(place, finding), finding)
        bounded = dict(islice(found.items(), MAX_FINDINGS))
        checked = _added(self.checked, later.checked)
        return Judgement(bounded, checked, self.off | later.off, self.covered + later.covered)

    @property
    def conduct(self) -> Conduct:
        """The findings, those that cost most first, and every rule with the number of its checks."""
        ranks = list(self.checked)
        findings = [finding for place, finding in self.found.items() if not self._is_part(place, finding)]
        findings.sort(key=lambda one: (SEVERITIES.index(one.severity), ranks.index(one.rule), one.requests))
        return Conduct(findings=findings, checked=self.checked)

    def _is_part(self, place: Place, finding: Finding) -> bool:
        """Whether a finding tells of a part of what another says was paid twice: a new key, or work that was left."""
        if finding.rule == "write-retried-with-new-key":
            return ("double-spend", *place[1:]) in self.found
        paid = [one for one in self.found.values() if one.rule == "double-spend"]
        return finding.rule == "abandoned-work" and any(set(finding.requests) <= set(one.requests) for one in paid)


class Totals(Struct, frozen=True):
    """The findings of all sandboxes, each with the sandbox's id, and how often each rule could have been broken."""

    findings: tuple[tuple[str, Finding], ...] = ()
    checked: Mapping[str, int] = {}
    off: frozenset[str] = frozenset()
    """The rules that could not be checked of some requests, since an auto clock took every wait."""
    covered: Counter[Point] = field(default_factory=Counter)
    """How often each point of the coverage was reached."""

    def with_sandbox(self, sandbox_id: str, judgement: Judgement) -> "Totals":
        """Return what was found here and in one more sandbox."""
        findings = *self.findings, *((sandbox_id, finding) for finding in judgement.conduct.findings)
        checked = _added(self.checked, judgement.checked)
        return Totals(findings[:MAX_FINDINGS], checked, self.off | judgement.off, self.covered + judgement.covered)

    @property
    def has_errors(self) -> bool:
        """Whether something was done that costs money, leaks a credential or gets a client banned."""
        return any(finding.severity == "error" for _, finding in self.findings)

    def without(self, rules: frozenset[str]) -> "Totals":
        """Return the same, but for some rules."""
        findings = tuple((sandbox, finding) for sandbox, finding in self.findings if finding.rule not in rules)
        checked = {rule: number for rule, number in self.checked.items() if rule not in rules}
        return structs.replace(self, findings=findings, checked=checked, off=self.off - rules)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON: as in the control plane, with the `sandbox` of each finding."""
        findings = [{"sandbox": sandbox, **structs.asdict(finding)} for sandbox, finding in self.findings]
        not_checked = [rule for rule in self.checked if rule in self.off]
        return {"findings": findings, "checked": self.checked, "not_checked": not_checked}


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**other, **one}}


def _together(one: Finding, other: Finding) -> Finding:
    """Return two findings of one place as one: the worse, with the requests of both."""
    worse = min(one, other, key=lambda finding: SEVERITIES.index(finding.severity))
    return structs.replace(worse, requests=sorted({*one.requests, *other.requests})[:MAX_REQUESTS])
