"""Answers of the control plane as objects.

Names are those of its JSON. A field that a newer emulator adds is left out; nested
objects and bodies stay as JSON has them.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from image_workflow_emulator.control.recorded_request import RecordedRequest


class Explanation(Struct, frozen=True, kw_only=True):
    """Why a request ended as it did. `Sandbox.explain` returns one.

    As a text, it is its `summary`.

        >>> from starlette.testclient import TestClient
        >>> app = create_app()
        >>> headers = {"Authorization": "Bearer iwe_demo_revoked"}
        >>> TestClient(app, headers=headers).get("/v1/team").status_code
        401
        >>> app.sandbox.explain("last").remedy
        "use the Team's credential 'Full'"
    """

    request: RecordedRequest
    outcome: str
    summary: str
    checks: list[Mapping[str, Any]]
    """The checks in order, each with `check`, `result` (`passed`, `decided`,
    `not reached`), `detail` and `source`.
    """
    decided_by: Mapping[str, Any] | None = None
    remedy: str | None = None
    """The smallest change that would have succeeded; None for a request that was not
    refused.
    """
    effects: list[str]
    rules: list[Mapping[str, Any]]
    related: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.summary


class Rule(Struct, frozen=True, kw_only=True):
    """A rule of the running scenario, with its counters. `Sandbox.rules` has them.

    >>> (rule,) = create_app(scenario="some-outputs-fail").sandbox.rules
    >>> rule.name, rule.fired
    ('slots 2 and 4 fail', 0)
    """

    name: str
    matched: int
    """The number of requests (or pieces of work) that it matched."""
    fired: int
    """The number on which it acted."""

    def never_fired(self, scenario: str) -> str:
        """Return a sentence about this rule that never fired. Raises nothing.

        `scenario`: the name of its scenario.

            >>> rule = create_app(scenario="some-outputs-fail").sandbox.rules[0]
            >>> rule.never_fired("mine")
            'the rule "slots 2 and 4 fail" of the scenario mine never fired (nothing ...)'
        """
        match self.matched:
            case 0:
                reason = "nothing matched it"
            case 1:
                reason = "it matched once"
            case count:
                reason = f"it matched {count} times"
        rule = f'the rule "{self.name}" of the scenario {scenario}'
        return f"{rule} never fired ({reason})"
