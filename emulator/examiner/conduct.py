"""Conduct: what the clients of a sandbox did wrong, by the rules of conduct, from the record that it keeps.

Notes are judged when the conduct is requested, or before the record drops them; findings are kept. Must not know
how a note is taken.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from emulator.examiner.history import History
from emulator.examiner.rules.base import Breach, Rule
from emulator.examiner.rules.registry import RULES
from emulator.service.record import MAXIMUM_FINDINGS, Finding, Note, Record
from emulator.service.sandbox import Sandbox
from emulator.service.store import Store

MAXIMUM_REQUESTS = 100
"""The most requests that a finding names."""
_BY_NAME = {rule.name: rule for rule in RULES}
_GIVES_WAY_TO = {rule.name: rule.gives_way_to for rule in RULES}


class Conduct(Struct, frozen=True):
    """The findings, in the order in which they were made, and how often each rule could have been broken."""

    findings: tuple[Finding, ...]
    checked: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, as in the answers of the control plane."""
        return {"findings": [describe(finding) for finding in self.findings], "checked": dict(self.checked)}


def describe(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "source": finding.source,
        "requests": list(finding.requests),
        "client": {"credential": finding.credential, "user_agent": finding.user_agent},
        "remedy": finding.remedy,
    }


def examine(sandbox: Sandbox, has_ended: bool = False) -> Conduct:
    """Return the conduct in a sandbox so far. `has_ended`: no more requests will come, so what was left is abandoned."""
    record = sandbox.record
    found, checked = _judge(record.notes, sandbox.store, sandbox.clock.now(), has_ended)
    totals = Counter(record.checked) + checked
    findings = merged([*record.findings, *found])
    return Conduct(tuple(findings[:MAXIMUM_FINDINGS]), {rule.name: totals[rule.name] for rule in RULES})


def condensed(record: Record, store: Store, now: int, notes: Sequence[Note]) -> Record:
    """Return a record with only these notes, in which the findings and counts of all others are kept."""
    whole, checked = _judge(record.notes, store, now, has_ended=False)
    _, checked_again = _judge(notes, store, now, has_ended=False)
    settled = Counter(record.checked) + (checked - checked_again)
    findings = merged([*record.findings, *whole])[:MAXIMUM_FINDINGS]
    return Record(list(notes), findings, dict(settled), dict(record.met), record.has_failed)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Merge the findings of one rule about one subject, in the order of their first requests."""
    by_subject: dict[tuple[str, str], tuple[Finding, set[int]]] = {}
    for finding in findings:
        _, requests = by_subject.setdefault((finding.rule, finding.subject), (finding, set()))
        requests.update(finding.requests)
    kept = [
        structs.replace(finding, requests=tuple(sorted(requests)[:MAXIMUM_REQUESTS]))
        for finding, requests in by_subject.values()
        if (_GIVES_WAY_TO.get(finding.rule), finding.subject) not in by_subject
    ]
    return sorted(kept, key=lambda finding: (finding.requests, finding.rule))


def _judge(notes: Sequence[Note], store: Store, now: int, has_ended: bool) -> tuple[list[Finding], Counter[str]]:
    history = History(notes, store, now, has_ended)
    found: dict[tuple[str, str], tuple[Breach, set[int]]] = {}
    checked: Counter[str] = Counter()
    for rule in RULES:
        verdicts = 0
        for verdict in rule.examine(history):
            verdicts += 1 if verdict is None else verdict.times
            if verdict is not None:
                name = verdict.rule or rule.name, verdict.subject
                known = found.get(name)
                if known is None:
                    found[name] = verdict, set(verdict.requests)
                else:
                    known[1].update(verdict.requests)
        if verdicts:
            checked[rule.name] = verdicts
    senders = {note.sequence: note for note in notes} if found else {}
    findings = [_finding(_BY_NAME[name], *breach, senders) for (name, _), breach in found.items()]
    return findings, checked


def _finding(rule: Rule, breach: Breach, requests: set[int], notes: Mapping[int, Note]) -> Finding:
    sender = notes[breach.requests[0]]
    return Finding(
        rule=rule.name,
        subject=breach.subject,
        severity=breach.severity or rule.severity,
        message=breach.message,
        source=rule.source,
        requests=tuple(sorted(requests)[:MAXIMUM_REQUESTS]),
        remedy=rule.remedy,
        credential=sender.credential,
        user_agent=sender.user_agent,
    )
