"""Which requests and which work a rule means, and on which of its matches it is due.

Owns matching as data and the texts in which files write it. What happens then is said
in `scenario`, and the matches are counted in `playbook`.
"""

import fnmatch
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
"""What the matches of a rule can be counted by."""

_ABSENT: Final = object()
"""The value of a missing field: null is a value of its own."""


class Facts(Struct, frozen=True):
    """What a rule may know of a request, or of the work that it admits."""

    kind: Kind
    name: str
    """The operation, the byte surface, or the workflow or Operation type."""
    team_id: str
    team_name: str
    body: Any = None
    credential: str = ""
    """The sandbox's form of the key."""
    credential_name: str = ""
    """The key in the world file."""
    resource_id: str = ""
    resource_place: int | None = None
    """Which of its kind the resource is, counted from 1 in the order of creation; None
    for one that the sandbox does not have."""
    query: Mapping[str, str] = {}
    idempotency_key: str = ""
    outputs: int = 1
    """How many outputs work makes."""

    def is_of(self, team: str | None) -> bool:
        """Tell whether it is of a Team, by name or id; None stands for any Team."""
        return team in (None, self.team_name, self.team_id)

    def subject(self, kind: Subject) -> str:
        """Return what identifies the subject.

        Empty if the request has none, and for work unless it is the Team.
        """
        match kind:
            case "resource":
                return self.resource_id
            case "credential":
                return self.credential
            case "team":
                return self.team_id
            case "idempotency_key":
                return self.idempotency_key


class Match(Struct, frozen=True):
    """The requests or the work that a rule means. None or empty: whatever it is."""

    kind: Kind = "operation"
    names: frozenset[str] = frozenset({EVERY})
    """Operations, byte surfaces or work."""
    team: str | None = None
    """The name or id."""
    body: Mapping[str, Any] = {}
    """What the body must contain."""
    credential: str | None = None
    resource: str | int | None = None
    """The id, or the place among those of its kind."""
    query: Mapping[str, str] = {}
    """What the query must contain."""
    idempotency_key: re.Pattern[str] | None = None

    def matches(self, facts: Facts) -> bool:
        """Tell whether the rule means this request or work."""
        return (
            facts.kind == self.kind
            and self.means(facts.name)
            and facts.is_of(self.team)
            and self._takes_credential(facts)
            and self._takes_resource(facts)
            and self._takes_key(facts.idempotency_key)
            and (not self.query or contains(facts.query, self.query))
            and (not self.body or contains(facts.body, self.body))
        )

    def means(self, name: str) -> bool:
        """Tell whether the rule means an operation, byte surface or kind of work."""
        return name in self.names or EVERY in self.names

    def _takes_credential(self, facts: Facts) -> bool:
        return self.credential in (None, facts.credential, facts.credential_name)

    def _takes_resource(self, facts: Facts) -> bool:
        if self.resource is None:
            return True
        return self.resource in (facts.resource_id, facts.resource_place)

    def _takes_key(self, key: str) -> bool:
        if self.idempotency_key is None:
            return True
        return self.idempotency_key.fullmatch(key) is not None


def contains(value: object, pattern: object) -> bool:
    """Tell whether a JSON value contains a pattern.

    An object contains the fields of a pattern, recursively; any other value equals it.
    """
    if isinstance(pattern, Mapping) and isinstance(value, Mapping):
        return all(
            contains(value.get(name, _ABSENT), part) for name, part in pattern.items()
        )
    if isinstance(pattern, bool) != isinstance(value, bool):
        return False  # although in Python True equals 1
    return value == pattern


class Nth(Struct, frozen=True):
    """Which of the matches, counted from 1: each `step`-th from `first` to `last`."""

    first: int = 1
    last: int | None = None
    """None: no end."""
    step: int = 1

    def holds(self, number: int) -> bool:
        """Tell whether the match with this number is meant."""
        if number < self.first:
            return False
        if self.last is not None and number > self.last:
            return False
        return (number - self.first) % self.step == 0


class When(Struct, frozen=True):
    """On which of its matches a rule acts: everything that is given must hold.

    Spans count from the beginning of the scenario.
    """

    nth: Nth = Nth()
    from_ms: int = 0
    until_ms: int | None = None
    every_ms: int | None = None
    """The rule acts in the first `for_ms` of each such span; None: at any time."""
    for_ms: int = 0
    probability: float = 1.0
    per: Subject | None = None
    """What matches are counted for separately; None: they are counted together."""

    def holds(
        self,
        number: int,
        elapsed_ms: int,
        draw: float,
    ) -> bool:
        """Tell whether the rule is due on its match of this number.

        `draw` is a number from 0 up to but not including 1.
        """
        return (
            self.nth.holds(number)
            and self._is_within(elapsed_ms)
            and self._is_in_burst(elapsed_ms)
            and draw < self.probability
        )

    def _is_within(self, elapsed_ms: int) -> bool:
        if self.until_ms is not None and elapsed_ms >= self.until_ms:
            return False
        return elapsed_ms >= self.from_ms

    def _is_in_burst(self, elapsed_ms: int) -> bool:
        if self.every_ms is None:
            return True
        return elapsed_ms % self.every_ms < self.for_ms


# The texts of files -----------------------------------------------------------------

_NTH: Final = re.compile(
    r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?"
    r"|>=\s*(?P<least>\d{1,9})"
    r"|every\s+(?P<step>\d{1,9})",
    re.ASCII,
)
_ORDINAL: Final = re.compile(r"([1-9]\d{0,8})(?:st|nd|rd|th)", re.ASCII)
_ORDINALS: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def parse_glob(text: str) -> re.Pattern[str]:
    """Compile a text in which `*` stands for any characters and `?` for one.

    Brackets stand for themselves. The pattern takes linear time; the schema limits the
    number of `*`.
    """
    with_plain_brackets = text.replace("[", "[[]")
    return re.compile(fnmatch.translate(with_plain_brackets))


def parse_nth(text: str) -> Nth:
    """Read `3`, `2-4`, `>=3` or `every 5`, counted from 1. Raises ValueError."""
    match = _NTH.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    nth = _nth_of(match)
    if nth.first < 1:
        raise ValueError(text)
    if nth.last is not None and nth.last < nth.first:
        raise ValueError(text)
    return nth


def _nth_of(match: re.Match[str]) -> Nth:
    if match["least"] is not None:
        return Nth(int(match["least"]))
    if match["step"] is not None:
        step = int(match["step"])
        return Nth(step, step=step)
    first = int(match["first"])
    if match["last"] is None:
        return Nth(first, first)
    return Nth(first, int(match["last"]))


def parse_resource(text: str) -> str | int:
    """Return the place that a word such as `first` or `11th` means, else the id."""
    if text in _ORDINALS:
        return _ORDINALS.index(text) + 1
    ordinal = _ORDINAL.fullmatch(text)
    if ordinal is None:
        return text
    return int(ordinal[1])
