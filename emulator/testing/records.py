"""Answers of the control plane as objects: recorded requests, explanations, rules. Names are those of its JSON.

A field that a newer emulator adds is left out here; nested objects and bodies stay as JSON has them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from emulator.control.recorded_request import RecordedRequest

_SHOWN_REQUESTS: Final = 10


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a request ended as it did."""

    request: RecordedRequest
    outcome: str
    summary: str
    checks: list[Mapping[str, Any]]
    """In their order: `check`, `result` (`passed`, `decided`, `not reached`), `detail`, `source`."""
    decided_by: Mapping[str, Any] | None = None
    remedy: str | None = None
    """The smallest change that would have succeeded; None for a request that was not refused."""
    recovery: str | None = None
    effects: list[str]
    rules: list[Mapping[str, Any]]
    related: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.summary


class Rule(Struct, frozen=True, kw_only=True):
    """A rule of the running scenario, with its counters."""

    name: str
    matched: int
    """The number of requests (or pieces of work) that it matched."""
    fired: int
    """The number on which it acted."""

    def never_fired(self, scenario: str) -> str:
        """Say, of a rule of this scenario, that it never fired."""
        matched = {0: "nothing matched it", 1: "it matched once"}.get(self.matched, f"it matched {self.matched} times")
        return f'the rule "{self.name}" of the scenario {scenario} never fired ({matched})'


class Finding(Struct, frozen=True, kw_only=True):
    """A mistake of a client."""

    rule: str
    severity: str
    """`error`, `warning` or `note`."""
    message: str
    source: str
    """The sentence of the specification."""
    requests: list[int]
    """Sequence numbers of the recorded requests."""
    client: Mapping[str, str | None]
    """`credential` (its id) and `user_agent`."""
    remedy: str

    def __str__(self) -> str:
        numbers = request_numbers(self.requests)
        return f"{self.severity}: {self.rule}: {self.message} ({numbers}); remedy: {self.remedy}"


class Conduct(Struct, frozen=True, kw_only=True):
    """What the clients of a sandbox did wrong, and how often each rule could have been broken."""

    findings: list[Finding]
    checked: Mapping[str, int]

    @property
    def errors(self) -> list[Finding]:
        """The findings that cost money, leak a credential or get a client banned."""
        return [finding for finding in self.findings if finding.severity == "error"]


def request_numbers(requests: Sequence[int]) -> str:
    """Name requests by their sequence numbers, such as `requests 2, 5`."""
    shown = ", ".join(map(str, requests[:_SHOWN_REQUESTS]))
    left_out = f" and {len(requests) - _SHOWN_REQUESTS} more" if len(requests) > _SHOWN_REQUESTS else ""
    return f"{'request' if len(requests) == 1 else 'requests'} {shown}{left_out}"
