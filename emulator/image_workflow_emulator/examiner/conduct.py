"""Conduct: what the clients of a sandbox did wrong, by the rules of conduct, from the records of their requests.

Owns the list of the rules: each is a function of a file in `rules`, with its words in `rules.toml`, in the order of
reports.
"""

import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import Client, Records
from image_workflow_emulator.examiner.findings import SEVERITIES, Conduct, Finding
from image_workflow_emulator.examiner.history import History, Works
from image_workflow_emulator.examiner.rules import keys, refusals, results, retries
from image_workflow_emulator.examiner.rules.rule import Breach, ConductRule

_WORDS: Final = tomllib.loads(
    Path(__file__).with_name("rules").joinpath("rules.toml").read_text("utf-8")
)
_FUNCTIONS: Final = {**vars(keys), **vars(refusals), **vars(results), **vars(retries)}
RULES: Final = tuple(
    ConductRule(name, _FUNCTIONS[name.replace("-", "_")], **words)
    for name, words in _WORDS["rules"].items()
)
LIBRARIES: Final[Mapping[str, str]] = _WORDS["libraries"]
"""By product in the User-Agent: the library's words for a retry policy."""
_WAITING: Final = (
    "retry-before-retry-after",
    "no-backoff",
    "retries-without-end",
    "gave-up-on-retryable",
)
"""The rules that such a policy keeps."""
MAX_FINDINGS: Final = 1_000
MAX_REQUESTS: Final = 100
"""The most requests that a finding names."""
_TIMED: Final = tuple(rule.name for rule in RULES if rule.is_timed)

_Place: TypeAlias = tuple[str, str, Client]
"""What makes a finding one: its rule, the operation, and the client."""


def judge(
    records: Records,
    works: Works,
    now: int,
    *,
    has_ended: bool = False,
    left: int = 0,
    ignored: Collection[str] = (),
) -> Conduct:
    """Judge the clients that sent some requests, by what became of the work at an instant.

    `has_ended`: no more requests will come, so what was left is abandoned. `left`: how many requests had left the
    journal. `ignored`: the names of rules that do not count.
    """
    history = History(records, works, now, has_ended)
    found: dict[_Place, Finding] = {}
    checked: dict[str, int] = {}
    for rule in (rule for rule in RULES if rule.name not in ignored):
        breaches: defaultdict[_Place, list[Breach]] = defaultdict(list)
        checked[rule.name] = 0
        for verdict in rule.examine(history):
            checked[rule.name] += 1 if verdict is None else verdict.times
            if verdict is not None:
                sender = verdict.records[0]
                breaches[rule.name, facts.title(sender), history.client(sender)].append(
                    verdict
                )
        found |= {
            place: _finding(rule, place, several) for place, several in breaches.items()
        }
    findings = [finding for finding in found.values() if not _is_part(found, finding)]
    findings.sort(
        key=lambda one: SEVERITIES.index(one.severity)
    )  # within a severity in the order of the rules
    is_off = any(not record.is_timed for record in history.records)
    not_checked = [name for name in _TIMED if is_off and name in checked]
    return Conduct(
        findings=findings[:MAX_FINDINGS],
        checked=checked,
        not_checked=not_checked,
        judged={"requests": len(records), "left": left},
    )


def _finding(rule: ConductRule, place: _Place, breaches: Sequence[Breach]) -> Finding:
    """Return the breaches of one place as one finding, as the worst of them says."""
    _, _, (credential, user_agent) = place
    worst = min(
        breaches, key=lambda breach: SEVERITIES.index(breach.severity or rule.severity)
    )
    return Finding(
        rule=rule.name,
        severity=worst.severity or rule.severity,
        message=worst.message,
        source=rule.source,
        requests=sorted(
            {record.sequence for breach in breaches for record in breach.records}
        )[:MAX_REQUESTS],
        client={"credential": credential, "user_agent": user_agent},
        remedy=_remedy(rule, user_agent),
    )


def _remedy(rule: ConductRule, user_agent: str | None) -> str:
    """Return the remedy of a rule, with the words of the library that a User-Agent names."""
    products = {word.partition("/")[0].lower() for word in (user_agent or "").split()}
    library = (
        next((name for name in LIBRARIES if name in products), None)
        if rule.name in _WAITING
        else None
    )
    return (
        rule.remedy
        if library is None
        else f"{rule.remedy}; with {library}: {LIBRARIES[library]}"
    )


def _is_part(found: Mapping[_Place, Finding], finding: Finding) -> bool:
    """Whether a finding is about work that was left, which another finding says was paid twice."""
    paid = [one for one in found.values() if one.rule == "double-spend"]
    return finding.rule == "abandoned-work" and any(
        set(finding.requests) <= set(one.requests) for one in paid
    )
