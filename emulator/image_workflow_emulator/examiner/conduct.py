"""Conduct: what the clients of a sandbox did wrong, judged from their requests.

Owns the list of the rules, each of which is a file's function in `rules`, and how its
breaches become findings.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from image_workflow_emulator.examiner.findings import SEVERITIES, Conduct, Finding
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.identity import Client, title_of
from image_workflow_emulator.examiner.request import Outcomes, Requests
from image_workflow_emulator.examiner.rules import (
    backoff,
    credentials,
    identifiers,
    keys,
    lists,
    new_keys,
    refusals,
    retries,
    uploads,
    waits,
    work,
)
from image_workflow_emulator.examiner.rules.libraries import retry_policy_for
from image_workflow_emulator.examiner.rules.rule import Breach, ConductRule
from image_workflow_emulator.report import Severity

RULES: Final[tuple[ConductRule, ...]] = (
    new_keys.DOUBLE_SPEND,
    new_keys.WRITE_RETRIED_WITH_NEW_KEY,
    credentials.CREDENTIAL_SENT_TO_BYTES,
    credentials.CREDENTIAL_IN_REQUEST,
    identifiers.BROKEN_ID,
    keys.KEY_NOT_SENT_AGAIN,
    keys.KEY_REUSED,
    keys.KEY_AFTER_RETENTION,
    waits.RETRY_BEFORE_RETRY_AFTER,
    work.POLL_BEFORE_RETRY_AFTER,
    backoff.NO_BACKOFF,
    refusals.RETRY_OF_THE_HOPELESS,
    refusals.GOES_ON_AFTER_REFUSAL,
    retries.RETRIES_WITHOUT_END,
    retries.GAVE_UP_ON_RETRYABLE,
    lists.LIST_POLLED,
    uploads.UPLOAD_AFTER_WINDOW,
    work.ABANDONED_WORK,
    lists.CURSOR_WITH_OTHER_FILTERS,
    work.POLL_AFTER_TERMINAL,
    uploads.ABANDONED_UPLOAD,
    new_keys.HEDGED,
)
"""The rules in the order of reports: what costs money or data comes first."""
MAX_FINDINGS: Final = 1_000
MAX_REQUESTS: Final = 100
"""The most requests that a finding names."""


def judge(
    requests: Requests,
    outcomes: Outcomes,
    now: int,
    *,
    has_ended: bool = False,
    was_interrupted: bool = False,
    left: int = 0,
    ignored: Collection[str] = (),
) -> Conduct:
    """Judge the clients that sent some requests, by what became of their work.

    Args:
        requests: the requests that have left, in any order.
        outcomes: the work and the uploads as they are now.
        now: the instant, by the emulator's clock.
        has_ended: no more requests will come, so what was left is abandoned.
        was_interrupted: the client was stopped, so nothing counts as left undone.
        left: how many requests had left the journal before.
        ignored: the names of rules that do not count.
    """
    history = History(
        requests,
        outcomes,
        now,
        has_ended=has_ended,
        was_interrupted=was_interrupted,
    )
    rules = [rule for rule in RULES if rule.name not in ignored]
    examinations = [_Examination(rule, history) for rule in rules]
    findings: list[Finding] = []
    for examination in examinations:
        findings += examination.findings()
    findings = [
        finding for finding in findings if not _is_part_of_another(finding, findings)
    ]
    # Within a severity, they stay in the order of the rules.
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Conduct(
        findings=findings[:MAX_FINDINGS],
        checked={
            examination.rule.name: examination.times_checked
            for examination in examinations
        },
        not_checked=_not_checked(rules, requests),
        judged={"requests": len(requests), "left": left},
    )


def _not_checked(rules: Iterable[ConductRule], requests: Requests) -> list[str]:
    """Return the names of the rules that an auto clock keeps from being checked."""
    if all(request.is_timed for request in requests):
        return []
    return [rule.name for rule in rules if rule.is_timed]


def _is_part_of_another(finding: Finding, findings: Iterable[Finding]) -> bool:
    """Whether a finding is about abandoned work that was paid twice."""
    if finding.rule != work.ABANDONED_WORK.name:
        return False
    for other in findings:
        is_paid_twice = other.rule == new_keys.DOUBLE_SPEND.name
        if is_paid_twice and set(finding.requests) <= set(other.requests):
            return True
    return False


class _Place(NamedTuple):
    """What the breaches of one finding have in common, beside the rule."""

    title: str
    client: Client


class _Examination:
    """The verdicts of one rule."""

    def __init__(self, rule: ConductRule, history: History) -> None:
        self.rule = rule
        self.times_checked = 0
        self._breaches: defaultdict[_Place, list[Breach]] = defaultdict(list)
        for verdict in rule.examine(history):
            if verdict is None:
                self.times_checked += 1
            else:
                self.times_checked += verdict.times
                sender = verdict.requests[0]
                place = _Place(title_of(sender), history.client(sender))
                self._breaches[place].append(verdict)

    def findings(self) -> list[Finding]:
        """Return the breaches as findings, one for each operation and client."""
        return [
            self._finding(place.client, breaches)
            for place, breaches in self._breaches.items()
        ]

    def _finding(self, client: Client, breaches: list[Breach]) -> Finding:
        """Return breaches as one finding, with the words of the worst of them."""
        worst = min(
            breaches,
            key=lambda breach: SEVERITIES.index(self._severity(breach)),
        )
        return Finding(
            rule=self.rule.name,
            severity=self._severity(worst),
            message=worst.message,
            source=self.rule.source,
            requests=_sequences_of(breaches),
            client=client._asdict(),
            remedy=self._remedy(client),
        )

    def _severity(self, breach: Breach) -> Severity:
        return breach.severity or self.rule.severity

    def _remedy(self, client: Client) -> str:
        """Return the remedy, in the words of the client's library if it has some."""
        if not self.rule.is_about_retries:
            return self.rule.remedy
        policy = retry_policy_for(client.user_agent)
        if policy is None:
            return self.rule.remedy
        return f"{self.rule.remedy}; {policy}"


def _sequences_of(breaches: Iterable[Breach]) -> list[int]:
    """Return the numbers of the requests of some breaches, the first ones if many."""
    sequences: set[int] = set()
    for breach in breaches:
        sequences.update(request.sequence for request in breach.requests)
    return sorted(sequences)[:MAX_REQUESTS]
