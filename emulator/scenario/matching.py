"""Matching: which requests and which work a rule means, and on which of them it is due.

Pure functions of facts and data. Owns no counters (the playbook passes the number of the match) and draws nothing (it
passes the draw).
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from msgspec import Struct

EVERY: Final = "*"
"""The word for every operation, or every kind of work."""
_EVERY_NAME: Final = frozenset({EVERY})

ByteSurface = Literal["upload", "download"]
BYTE_SURFACES: Final[tuple[ByteSurface, ...]] = get_args(ByteSurface)
Subject = Literal["resource", "credential", "team", "idempotency_key"]
"""By what the matches of a rule can be counted separately."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class RequestFacts(Struct, frozen=True):
    """What a rule may know of a request.

    `operation` is None for a byte surface, which `bytes` names then. `resource_place` is which of its kind the resource
    is, counted from 1 in the order of creation; None for none of the sandbox's own.
    """

    operation: str | None
    team_id: str
    team_name: str
    body: Any = None
    credential: str = ""
    """The sandbox's form of the key."""
    credential_name: str = ""
    """The key in the world file."""
    resource_id: str = ""
    resource_place: int | None = None
    query: Mapping[str, str] = _NOTHING
    idempotency_key: str = ""
    bytes: ByteSurface | None = None

    def value_of(self, subject: Subject) -> str:
        """Return what identifies the subject; empty if the request has none."""
        values = {
            "resource": self.resource_id,
            "credential": self.credential,
            "team": self.team_id,
            "idempotency_key": self.idempotency_key,
        }
        return values[subject]


class WorkFacts(Struct, frozen=True):
    """What a rule may know of work: a workflow or an Operation type, its Team, and how many outputs it makes."""

    work: str
    team_id: str
    team_name: str
    operation: str = ""
    """The operation that admits it."""
    outputs: int = 1

    def value_of(self, subject: Subject) -> str:
        """Return what identifies the subject: for work, only the Team."""
        return self.team_id if subject == "team" else ""


class RequestMatch(Struct, frozen=True):
    """The requests that a rule means; None or empty: whatever it is.

    `team` is a name or id, `resource` an id or a place of its kind, `body` and `query` are subsets, `idempotency_key` is
    a glob. With `bytes` the rule means byte surfaces, and no operation.
    """

    operations: frozenset[str] = _EVERY_NAME
    team: str | None = None
    body: Mapping[str, Any] = _NOTHING
    credential: str | None = None
    resource: str | int | None = None
    query: Mapping[str, str] = _NOTHING
    idempotency_key: str | None = None
    bytes: frozenset[ByteSurface] = frozenset()

    def matches(self, facts: RequestFacts) -> bool:
        """Tell whether the rule means this request."""
        return (
            self._means(facts)
            and is_team(self.team, facts.team_id, facts.team_name)
            and (self.credential is None or self.credential in (facts.credential, facts.credential_name))
            and (self.resource is None or self.resource in (facts.resource_id, facts.resource_place))
            and (self.idempotency_key is None or fnmatchcase(facts.idempotency_key, self.idempotency_key))
            and self.query.items() <= facts.query.items()
            and (not self.body or contains(facts.body, self.body))
        )

    def _means(self, facts: RequestFacts) -> bool:
        if facts.bytes is not None or self.bytes:
            return facts.bytes in self.bytes
        return facts.operation in self.operations or EVERY in self.operations


class WorkMatch(Struct, frozen=True):
    """The work that a rule means. `operation` None: whichever admits it."""

    works: frozenset[str] = _EVERY_NAME
    team: str | None = None
    operation: str | None = None

    def matches(self, facts: WorkFacts) -> bool:
        """Tell whether the rule means this work."""
        return (
            (facts.work in self.works or EVERY in self.works)
            and is_team(self.team, facts.team_id, facts.team_name)
            and self.operation in (None, facts.operation)
        )


class Nth(Struct, frozen=True):
    """Which of the matching requests, counted from 1: those from `first` to `last` (None: no end), each `step`-th."""

    first: int = 1
    last: int | None = None
    step: int = 1

    def holds(self, number: int) -> bool:
        """Tell whether the match with this number is meant."""
        if number < self.first or (self.last is not None and number > self.last):
            return False
        return (number - self.first) % self.step == 0


class When(Struct, frozen=True):
    """On which of its matches a rule acts: all that is given must hold. Spans count from the scenario's beginning.

    `per` None: matches are counted together; else for each resource, credential and so on separately.
    """

    nth: Nth = Nth()
    from_ms: int = 0
    until_ms: int | None = None
    probability: float = 1.0
    per: Subject | None = None

    def holds(self, number: int, elapsed_ms: int, draw: float) -> bool:
        """Tell whether the rule is due on its match of this number, with a draw from 0 up to but not including 1."""
        return (
            self.nth.holds(number)
            and elapsed_ms >= self.from_ms
            and (self.until_ms is None or elapsed_ms < self.until_ms)
            and draw < self.probability
        )


ALWAYS: Final = When()
EVERY_REQUEST: Final = RequestMatch()
ALL_WORK: Final = WorkMatch()


def is_team(wanted: str | None, team_id: str, team_name: str) -> bool:
    """Tell whether a Team is the wanted one, by its name or its id; None wants any."""
    return wanted is None or wanted in (team_name, team_id)


def contains(value: object, pattern: object) -> bool:
    """Tell whether a JSON value has all that a pattern has: objects recursively, everything else as it is."""
    if isinstance(pattern, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and contains(value[key], wanted) for key, wanted in pattern.items()
        )
    return equal(value, pattern)


def equal(one: object, other: object) -> bool:
    """Tell whether two JSON values are the same: numbers by their value, arrays in their order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if _is_array(one) and _is_array(other):
        assert isinstance(one, Sequence)
        assert isinstance(other, Sequence)
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def _is_array(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
