"""Matching: which requests and which work a rule means, and on which of them it is due.

Pure functions of facts and data. Owns no counters (the playbook passes the number of the match) and draws nothing (it
passes the draw).
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from msgspec import Struct

EVERY: Final = "*"
"""The word for every operation, or every kind of work."""

Kind = Literal["operation", "bytes", "work"]
"""What a rule is about: requests of operations, byte surfaces, or work."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ByteSurface = Literal["upload", "download"]
BYTE_SURFACES: Final[tuple[ByteSurface, ...]] = get_args(ByteSurface)
Subject = Literal["resource", "credential", "team", "idempotency_key"]
"""By what the matches of a rule can be counted separately."""


class Facts(Struct, frozen=True):
    """What a rule may know of a request, or of the work that it admits.

    `name` is the operation, the byte surface, or the workflow or Operation type. `resource_place` is which of its
    kind the resource is, counted from 1 in the order of creation; None for none of the sandbox's own.
    """

    kind: Kind
    name: str
    team_id: str
    team_name: str
    body: Any = None
    credential: str = ""
    """The sandbox's form of the key."""
    credential_name: str = ""
    """The key in the world file."""
    resource_id: str = ""
    resource_place: int | None = None
    query: Mapping[str, str] = {}
    idempotency_key: str = ""
    outputs: int = 1
    """How many outputs work makes."""


_ABSENT: Final = object()
"""Found where a field is missing: null is a value."""


def glob(text: str) -> re.Pattern[str]:
    """Compile a text in which `*` stands for any characters and `?` for one to a pattern that takes linear time."""
    first, *others = (re.escape(piece).replace(r"\?", ".") for piece in text.split("*"))
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])  # no piece is looked for twice
    return re.compile(first + middle + (f".*{others[-1]}" if others else ""), re.DOTALL)


class Match(Struct, frozen=True):
    """The requests or the work that a rule means; None or empty: whatever it is.

    `names` are those of operations, byte surfaces or work, `team` is a name or id, `resource` an id or a place of its
    kind, `body` and `query` are subsets.
    """

    kind: Kind = "operation"
    names: frozenset[str] = frozenset({EVERY})
    team: str | None = None
    body: Mapping[str, Any] = {}
    credential: str | None = None
    resource: str | int | None = None
    query: Mapping[str, str] = {}
    idempotency_key: re.Pattern[str] | None = None

    def matches(self, facts: Facts) -> bool:
        """Tell whether the rule means this request or work."""
        key = self.idempotency_key
        return (
            facts.kind == self.kind
            and not self.names.isdisjoint((facts.name, EVERY))
            and is_team(self.team, facts.team_id, facts.team_name)
            and (self.credential is None or self.credential in (facts.credential, facts.credential_name))
            and (self.resource is None or self.resource in (facts.resource_id, facts.resource_place))
            and (key is None or key.fullmatch(facts.idempotency_key) is not None)
            and (not self.query or contains(facts.query, self.query))
            and (not self.body or contains(facts.body, self.body))
        )


class Nth(Struct, frozen=True):
    """Which of the matching requests, counted from 1: those from `first` to `last` (None: no end), each `step`-th."""

    first: int = 1
    last: int | None = None
    step: int = 1

    def holds(self, number: int) -> bool:
        """Tell whether the match with this number is meant."""
        last = number if self.last is None else self.last
        return self.first <= number <= last and (number - self.first) % self.step == 0


class When(Struct, frozen=True):
    """On which of its matches a rule acts: all that is given must hold. Spans count from the scenario's beginning.

    `per` None: matches are counted together; else for each resource, credential and so on separately. `every_ms`
    None: no bursts; else the rule acts in the first `for_ms` of each such span.
    """

    nth: Nth = Nth()
    from_ms: int = 0
    until_ms: int | None = None
    every_ms: int | None = None
    for_ms: int = 0
    probability: float = 1.0
    per: Subject | None = None

    def holds(self, number: int, elapsed_ms: int, draw: float) -> bool:
        """Tell whether the rule is due on its match of this number, with a draw from 0 up to but not including 1."""
        return (
            self.nth.holds(number)
            and elapsed_ms >= self.from_ms
            and (self.until_ms is None or elapsed_ms < self.until_ms)
            and (self.every_ms is None or elapsed_ms % self.every_ms < self.for_ms)
            and draw < self.probability
        )


ALWAYS: Final = When()


def subject_of(facts: Facts, subject: Subject) -> str:
    """Return what identifies the subject; empty if the request has none, and for work unless it is the Team."""
    name = {"resource": "resource_id", "team": "team_id"}.get(subject, subject)
    return str(getattr(facts, name))


def is_team(wanted: str | None, team_id: str, team_name: str) -> bool:
    """Tell whether a Team is the wanted one, by its name or its id; None wants any."""
    return wanted is None or wanted in (team_name, team_id)


def contains(value: object, pattern: object) -> bool:
    """Tell whether a JSON value has what a pattern has: of objects these fields, recursively, else the same value."""
    if isinstance(pattern, Mapping) and isinstance(value, Mapping):
        return all(contains(value.get(key, _ABSENT), wanted) for key, wanted in pattern.items())
    return isinstance(pattern, bool) == isinstance(value, bool) and value == pattern  # true is no number
