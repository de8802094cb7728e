"""Conduct: what the clients of a sandbox did wrong, by the rules of conduct, from the records of their requests."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice

from msgspec import Struct, structs

from emulator.examiner.findings import Conduct, Finding
from emulator.examiner.history import History
from emulator.examiner.reading import credential_of, shortened
from emulator.examiner.rules.base import Breach, ConductRule
from emulator.examiner.rules.registry import RULES
from emulator.service.record import Observed, RequestRecord

MAX_FINDINGS = 1_000
"""The most findings of one sandbox, and of all deleted ones together."""
MAX_REQUESTS = 100
"""The most requests that a finding names."""
_BY_NAME = {rule.name: rule for rule in RULES}
_TIMED = frozenset(rule.name for rule in RULES if rule.is_timed)


class Judgement(Struct, frozen=True):
    """What records show: the findings by rule and subject, and how often each rule could have been broken.

    All breaches of one rule about one subject are one finding. `off`: the rules that could not be checked of some requests,
    since an auto clock took every wait.
    """

    found: Mapping[tuple[str, str], Finding] = {}
    checked: Mapping[str, int] = {}
    off: frozenset[str] = frozenset()

    def __add__(self, later: "Judgement") -> "Judgement":
        """Return what both show together."""
        found = dict(self.found)
        for place, finding in later.found.items():
            known = found.get(place, finding)
            found[place] = _with_requests(known, {*known.requests, *finding.requests})
        bounded = dict(islice(found.items(), MAX_FINDINGS))
        return Judgement(bounded, Counter(self.checked) + Counter(later.checked), self.off | later.off)

    @property
    def conduct(self) -> Conduct:
        """The findings in the order of their first requests, and every rule with the number of its checks."""
        findings = [
            finding
            for (rule, subject), finding in self.found.items()
            if (_BY_NAME[rule].gives_way_to, subject) not in self.found
        ]
        findings.sort(key=lambda finding: (finding.requests, finding.rule))
        return Conduct(findings=findings, checked={rule.name: self.checked.get(rule.name, 0) for rule in RULES})


def examine(observed: Observed, has_ended: bool = False) -> Judgement:
    """Judge the clients that sent some requests. `has_ended`: no more will come, so what was left is abandoned."""
    history = History(observed, has_ended)
    found: dict[tuple[str, str], tuple[Breach, set[int]]] = {}
    checked: Counter[str] = Counter()
    for rule in RULES:
        for verdict in rule.examine(history):
            if verdict is None:
                checked[rule.name] += 1
                continue
            name = verdict.rule or rule.name
            for counted in {name, rule.name}:
                checked[counted] += verdict.times
            _, requests = found.setdefault((name, verdict.subject), (verdict, set()))
            requests.update(verdict.requests)
    senders = {record.sequence: record for record in history.records} if found else {}
    off = _TIMED if any(not record.is_timed for record in history.records) else frozenset()
    return Judgement(
        {
            place: _finding(_BY_NAME[place[0]], breach, requests, senders[breach.requests[0]])
            for place, (breach, requests) in islice(found.items(), MAX_FINDINGS)
        },
        checked,
        off,
    )


def _finding(rule: ConductRule, breach: Breach, requests: set[int], sender: RequestRecord) -> Finding:
    finding = Finding(
        rule=rule.name,
        severity=breach.severity or rule.severity,
        message=breach.message,
        source=rule.source,
        requests=[],
        client={"credential": credential_of(sender), "user_agent": shortened(sender.user_agent)},
        remedy=rule.remedy,
    )
    return _with_requests(finding, requests)


def _with_requests(finding: Finding, requests: set[int]) -> Finding:
    return structs.replace(finding, requests=sorted(requests)[:MAX_REQUESTS])
