"""Conduct: what the clients of a sandbox did wrong, by the rules of conduct, from the records of their requests."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from image_workflow_emulator.examiner.findings import SEVERITIES, Finding
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.judgement import MAX_FINDINGS, MAX_REQUESTS, Judgement, Place
from image_workflow_emulator.examiner.library_words import in_words_of
from image_workflow_emulator.examiner.rules.registry import RULES
from image_workflow_emulator.examiner.rules.rule import Breach, ConductRule
from image_workflow_emulator.service.records.record import Observed

_TIMED = frozenset(rule.name for rule in RULES if rule.is_timed)


def examine(observed: Observed, has_ended: bool = False) -> Judgement:
    """Judge the clients that sent some requests. `has_ended`: no more will come, so what was left is abandoned."""
    history = History(observed, has_ended)
    found: dict[Place, Finding] = {}
    checked: dict[str, int] = {}
    for rule in RULES:
        breaches: defaultdict[Place, list[Breach]] = defaultdict(list)
        checked[rule.name] = 0
        for verdict in rule.examine(history):
            checked[rule.name] += 1 if verdict is None else verdict.times
            if verdict is not None:
                sender = verdict.records[0]
                breaches[rule.name, sender.title, sender.client].append(verdict)
        found |= {place: _finding(rule, place, several) for place, several in breaches.items()}
    off = _TIMED if any(not record.is_timed for record in history.records) else frozenset()
    return Judgement(dict(islice(found.items(), MAX_FINDINGS)), checked, off)


def _finding(rule: ConductRule, place: Place, breaches: Sequence[Breach]) -> Finding:
    """Return the breaches of one place as one finding, as the worst of them says."""
    _, _, (credential, user_agent) = place
    worst = min(breaches, key=lambda breach: SEVERITIES.index(breach.severity or rule.severity))
    return Finding(
        rule=rule.name,
        severity=worst.severity or rule.severity,
        message=worst.message,
        source=rule.source,
        requests=sorted({record.sequence for breach in breaches for record in breach.records})[:MAX_REQUESTS],
        client={"credential": credential, "user_agent": user_agent},
        remedy=in_words_of(user_agent, rule.name, rule.remedy),
    )
