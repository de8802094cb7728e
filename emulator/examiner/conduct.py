"""Conduct: what the clients of a sandbox did wrong, by the rules of conduct, from the records of their requests."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from msgspec import Struct, structs

from emulator.examiner.findings import SEVERITIES, Conduct, Finding
from emulator.examiner.history import History
from emulator.examiner.library_words import in_words_of
from emulator.examiner.reading import Client, client_of, title_of
from emulator.examiner.rules.base import Breach
from emulator.examiner.rules.registry import RULES
from emulator.service.record import Observed

MAX_FINDINGS = 1_000
"""The most findings of one sandbox, and of all deleted ones together."""
MAX_REQUESTS = 100
"""The most requests that a finding names."""
_BY_NAME = {rule.name: rule for rule in RULES}
_RANK = {rule.name: rank for rank, rule in enumerate(RULES)}
_TIMED = frozenset(rule.name for rule in RULES if rule.is_timed)


Place: TypeAlias = tuple[str, str, Client]
"""What makes a finding one: its rule, the operation, and the client."""


class Judgement(Struct, frozen=True):
    """What records show: the findings, and how often each rule could have been broken.

    All breaches of one rule by one client at one operation are one finding. `off`: the rules that could not be checked of some requests,
    since an auto clock took every wait.
    """

    found: Mapping[Place, Finding] = {}
    checked: Mapping[str, int] = {}
    off: frozenset[str] = frozenset()

    def __add__(self, later: "Judgement") -> "Judgement":
        """Return what both show together."""
        found = dict(self.found)
        for place, finding in later.found.items():
            found[place] = _together(found.get(place, finding), finding)
        bounded = dict(islice(found.items(), MAX_FINDINGS))
        return Judgement(bounded, Counter(self.checked) + Counter(later.checked), self.off | later.off)

    @property
    def conduct(self) -> Conduct:
        """The findings, those that cost most first, and every rule with the number of its checks."""
        findings = [
            finding
            for (rule, *place), finding in self.found.items()
            if not (rule == "write-retried-with-new-key" and ("double-spend", *place) in self.found)
            and not self._is_twin(finding)
        ]
        findings.sort(key=lambda one: (SEVERITIES.index(one.severity), _RANK[one.rule], one.requests))
        return Conduct(findings=findings, checked={rule.name: self.checked.get(rule.name, 0) for rule in RULES})

    def _is_twin(self, finding: Finding) -> bool:
        """Whether the work that a finding says was left is what another says was paid twice."""
        return finding.rule == "abandoned-work" and any(
            rule == "double-spend" and not set(finding.requests) - set(paid_twice.requests)
            for (rule, _, _), paid_twice in self.found.items()
        )


def examine(observed: Observed, has_ended: bool = False) -> Judgement:
    """Judge the clients that sent some requests. `has_ended`: no more will come, so what was left is abandoned."""
    history = History(observed, has_ended)
    breaches: defaultdict[Place, list[Breach]] = defaultdict(list)
    checked: Counter[str] = Counter()
    for rule in RULES:
        for verdict in rule.examine(history):
            if verdict is None:
                checked[rule.name] += 1
                continue
            checked[rule.name] += verdict.times
            sender = verdict.records[0]
            breaches[rule.name, title_of(sender), client_of(sender)].append(verdict)
    off = _TIMED if any(not record.is_timed for record in history.records) else frozenset()
    found = {place: _finding(place, several) for place, several in islice(breaches.items(), MAX_FINDINGS)}
    return Judgement(found, checked, off)


def _finding(place: Place, breaches: Sequence[Breach]) -> Finding:
    """Return the breaches of one place as one finding, as the worst of them says."""
    name, _, (credential, user_agent) = place
    rule = _BY_NAME[name]
    worst = min(breaches, key=lambda breach: SEVERITIES.index(breach.severity or rule.severity))
    return Finding(
        rule=name,
        severity=worst.severity or rule.severity,
        message=worst.message,
        source=rule.source,
        requests=sorted({record.sequence for breach in breaches for record in breach.records})[:MAX_REQUESTS],
        client={"credential": credential, "user_agent": user_agent},
        remedy=in_words_of(user_agent, name, rule.remedy),
    )


def _together(one: Finding, other: Finding) -> Finding:
    """Return two findings of one place as one: the worse, with the requests of both."""
    worse = min(one, other, key=lambda finding: SEVERITIES.index(finding.severity))
    if len(one.requests) == MAX_REQUESTS and other.requests[0] > one.requests[-1]:
        return one if worse is one else structs.replace(worse, requests=one.requests)
    return structs.replace(worse, requests=sorted({*one.requests, *other.requests})[:MAX_REQUESTS])
