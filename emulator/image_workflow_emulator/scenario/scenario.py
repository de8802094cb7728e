"""A scenario as data: what should go wrong with requests and work, what changes when, and in which world.

Owns what a rule and a change can say. `format` reads a scenario from files, `playbook` has its live counters, and the
engine makes its changes, each at its instant. Teams change alike in a world and in a timeline, so `WorldTeam` is the
world's.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from image_workflow_emulator.documents import values
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.resources import Scene
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.world import NO_WORLD_CHANGES, World, WorldCredential, WorldTeam

# Matching: which requests and which work a rule means, and on which of them it is due ---------------------------------


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

    def is_of(self, team: str | None) -> bool:
        """Tell whether it is of a Team, by its name or its id; None stands for any."""
        return team in (None, self.team_name, self.team_id)

    def subject(self, kind: Subject) -> str:
        """Return what identifies the subject; empty if the request has none, and for work unless it is the Team."""
        return str(getattr(self, {"resource": "resource_id", "team": "team_id"}.get(kind, kind)))


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
            and facts.is_of(self.team)
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


def contains(value: object, pattern: object) -> bool:
    """Tell whether a JSON value has what a pattern has: of objects these fields, recursively, else the same value."""
    if isinstance(pattern, Mapping) and isinstance(value, Mapping):
        return all(contains(value.get(key, _ABSENT), wanted) for key, wanted in pattern.items())
    return isinstance(pattern, bool) == isinstance(value, bool) and value == pattern  # true is no number


# The texts of matching, as files have them ----------------------------------------------------------------------------

_NTH: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?|>=\s*(\d{1,9})|every\s+(\d{1,9})", re.ASCII)
_PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERED: Final = re.compile(r"([1-9]\d{0,8})(?:st|nd|rd|th)", re.ASCII)


def _nth(text: str) -> Nth:
    """Read `3`, `2-4`, `>=3` or `every 5`, counted from 1. Raises ValueError."""
    found = _NTH.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    first, last, least, step = (int(number or 0) for number in found.groups())
    nth = Nth(first or least or step, (last or first) if first else None, step or 1)
    if nth.first < 1 or (nth.last is not None and nth.last < nth.first):
        raise ValueError(text)
    return nth


def _resource(text: str) -> str | int:
    """Return the place that a word such as `first` or `11th` means, else the id."""
    numbered = _NUMBERED.fullmatch(text)
    if numbered:
        return int(numbered[1])
    return _PLACES.index(text) + 1 if text in _PLACES else text


FORMATS: Final[Mapping[str, Callable[[str], Any]]] = {
    **values.FORMATS,
    "glob": glob,
    "nth": _nth,
    "resource": _resource,
}
"""The parsers of texts by their name in a schema's `format`, with those of this room."""


# The outcomes of accepted work, decided when it is admitted (D31) -----------------------------------------------------

FailureCode = Literal["processing_failed", "timed_out", "content_rejected"]
"""How work and outputs can fail (D31)."""
FAILURE_CODES: Final[tuple[FailureCode, ...]] = get_args(FailureCode)


class WorkOutcome(Struct, frozen=True):
    """The outcome of accepted work; None, empty or False: as usual.

    `outputs` names the failures of single slots, counted from 1; `fail` is the failure of the whole work. `duration_ms`
    is the time from the start of the work to its last end. Stalled work never ends. `scene` is what a Background's
    source is taken to show (D30).
    """

    outputs: Mapping[int, FailureCode] = {}
    fail: FailureCode | None = None
    duration_ms: int | None = None
    stall: bool = False
    scene: Scene | None = None

    def within(self, slots: int) -> Self:
        """Return the outcome of work that has so many outputs: without the failures of others."""
        outputs = {slot: code for slot, code in self.outputs.items() if slot <= slots}
        return replace(self, outputs=outputs)


# Rules: what they match, when they are due, what happens then ---------------------------------------------------------


class Rule(Struct, frozen=True):
    """One thing that goes wrong: with requests a fault, with work, when it is admitted, an outcome.

    `file` and `line` are its position, and `then` is what it asks for as JSON, for explanations.
    """

    name: str
    match: Match = Match()
    fault: Fault = NO_FAULT
    outcome: WorkOutcome = WorkOutcome()
    when: When = When()
    file: str = ""
    line: int = 0
    then: str = ""


# Changes of state at a time of their own: the nouns of the timeline ---------------------------------------------------

Admission = Literal["paused", "open"]


class AdmissionChange(Struct, frozen=True):
    """New writes are refused with 503, or admitted again. `retry_after` (seconds) None: the service's own."""

    admission: Admission
    retry_after: int | None = None


Change: TypeAlias = AdmissionChange | WorldTeam | WorldCredential


class After(Struct, frozen=True):
    """The answer to the nth request of those that match."""

    match: Match
    nth: int = 1


class TimedChange(Struct, frozen=True):
    """A change, and its time since the scenario began or the request after which it is made."""

    when: int | After
    """Milliseconds, or a request."""
    change: Change
    line: int
    """Its line in the file; 0 if it was not read from text."""
    spelling: Mapping[str, Any]
    """The entry as the file has it, for people."""


# The whole ------------------------------------------------------------------------------------------------------------


class Scenario(Struct, frozen=True):
    """What should go wrong. `text` is what it was read from, YAML or JSON, so that it can be kept and read again."""

    name: str
    description: str = ""
    seed: int | None = None
    clock: ClockSetting | None = None
    start: int | None = None
    """The time at the start."""
    world: World = NO_WORLD_CHANGES
    rules: tuple[Rule, ...] = ()
    timeline: tuple[TimedChange, ...] = ()
    file: str = ""
    text: str = ""
    is_shipped: bool = False
    """Whether it is of the library: its user did not write its rules, and need not use them all."""
    readings: Readings | None = None
    """None: those of the sandbox. They take effect where a sandbox begins with the scenario."""


NO_SCENARIO: Final = Scenario("none")
"""Nothing goes wrong."""
