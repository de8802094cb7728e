"""Conduct: what the clients of a sandbox did wrong, by the rules of conduct, from the records of their requests."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, structs

from emulator.examiner.history import History
from emulator.examiner.reading import credential_of, shortened
from emulator.examiner.rules.base import Breach, Rule
from emulator.examiner.rules.registry import RULES
from emulator.service.record import Observed, RequestRecord

MAX_FINDINGS = 1_000
"""The most findings of one sandbox, and of all deleted ones together."""
MAX_REQUESTS = 100
"""The most requests that a finding names."""
_BY_NAME = {rule.name: rule for rule in RULES}
_TIMED = frozenset(rule.name for rule in RULES if rule.is_timed)


class Finding(Struct, frozen=True):
    """A breach of a rule of conduct. All breaches of one rule about one subject are one finding.

    `credential` and `user_agent` are those of its first request: the credential's id, or a digest of an unknown one.
    """

    rule: str
    subject: str
    severity: str
    message: str
    source: str
    requests: tuple[int, ...]
    remedy: str
    credential: str | None
    user_agent: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, as in the answers of the control plane."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "message": self.message,
            "source": self.source,
            "requests": list(self.requests),
            "client": {"credential": self.credential, "user_agent": self.user_agent},
            "remedy": self.remedy,
        }


class Conduct(Struct, frozen=True):
    """The findings, in the order of their first requests, and how often each rule could have been broken."""

    findings: tuple[Finding, ...] = ()
    checked: Mapping[str, int] = {}
    off: frozenset[str] = frozenset()
    """The rules that could not be checked of some requests, since an auto clock took every wait."""

    def __add__(self, later: "Conduct") -> "Conduct":
        """Return the conduct of both together."""
        findings = _merged([*self.findings, *later.findings])
        return Conduct(
            tuple(findings[:MAX_FINDINGS]), Counter(self.checked) + Counter(later.checked), self.off | later.off
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, as in the answers of the control plane."""
        checked = {rule.name: self.checked.get(rule.name, 0) for rule in RULES}
        return {"findings": [finding.as_json() for finding in self.findings], "checked": checked}


def examine(observed: Observed, has_ended: bool = False) -> Conduct:
    """Return the conduct that records show. `has_ended`: no more requests will come, so what was left is abandoned."""
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
    findings = [_finding(_BY_NAME[name], *breach, senders) for (name, _), breach in found.items()]
    off = _TIMED if any(not record.is_timed for record in history.records) else frozenset()
    return Conduct(tuple(_merged(findings)[:MAX_FINDINGS]), checked, off)


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Merge the findings of one rule about one subject, in the order of their first requests."""
    by_subject: dict[tuple[str, str], tuple[Finding, set[int]]] = {}
    for finding in findings:
        _, requests = by_subject.setdefault((finding.rule, finding.subject), (finding, set()))
        requests.update(finding.requests)
    kept = [
        structs.replace(finding, requests=tuple(sorted(requests)[:MAX_REQUESTS]))
        for finding, requests in by_subject.values()
        if (_BY_NAME[finding.rule].gives_way_to, finding.subject) not in by_subject
    ]
    return sorted(kept, key=lambda finding: (finding.requests, finding.rule))


def _finding(rule: Rule, breach: Breach, requests: set[int], records: Mapping[int, RequestRecord]) -> Finding:
    sender = records[breach.requests[0]]
    return Finding(
        rule=rule.name,
        subject=breach.subject,
        severity=breach.severity or rule.severity,
        message=breach.message,
        source=rule.source,
        requests=tuple(sorted(requests)[:MAX_REQUESTS]),
        remedy=rule.remedy,
        credential=credential_of(sender),
        user_agent=shortened(sender.user_agent),
    )
