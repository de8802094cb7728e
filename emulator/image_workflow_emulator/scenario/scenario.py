"""A scenario: what should go wrong with requests and work, what changes when, in which world, and the file of it.

Owns what a rule and a change can say, as data and in a file. `contract/scenario.schema.json` says the shape of the
file; what no schema can say is checked here and in `world`. Nothing happens here: `playbook` has the live counters of
a scenario, the engine and the exchange carry out what it says. Teams change alike in a world and in a timeline, so
`WorldTeam` is the world's.
"""

import fnmatch
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import Any, Final, Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import replace

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents import values
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.schemas import Schemas, Steps, Violation
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.domain.resources import Scene
from image_workflow_emulator.kernel.clock import CLOCK_MODES, ClockSetting
from image_workflow_emulator.kernel.wording import excerpt, first_of
from image_workflow_emulator.scenario.faults import FAULTS, LOSSES, NO_FAULT, Fault
from image_workflow_emulator.scenario.world import (
    TeamChange,
    World,
    WorldNames,
    read_change,
    read_readings,
    read_world,
)

# Matching: which requests and which work a rule means, and on which of them it is due ---------------------------------


EVERY: Final = "*"
"""The word for every operation, or every kind of work."""

Kind = Literal["operation", "bytes", "work"]
"""What a rule is about: requests of operations, byte surfaces, or work."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ByteSurface = Literal["upload", "download"]
BYTE_SURFACES: Final[tuple[ByteSurface, ...]] = get_args(ByteSurface)
Subject = Literal["resource", "credential", "team", "idempotency_key"]
"""What the matches of a rule can be counted by."""


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
        return str(
            getattr(
                self, {"resource": "resource_id", "team": "team_id"}.get(kind, kind)
            )
        )


_ABSENT: Final = object()
"""The value of a missing field: null is one of its own."""


def glob(text: str) -> re.Pattern[str]:
    """Compile a text in which `*` stands for any characters and `?` for one.

    Brackets stand for themselves. The pattern takes linear time; the schema limits the
    number of `*`.
    """
    return re.compile(fnmatch.translate(text.replace("[", "[[]")))


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
            and (
                self.credential is None
                or self.credential in (facts.credential, facts.credential_name)
            )
            and (
                self.resource is None
                or self.resource in (facts.resource_id, facts.resource_place)
            )
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
        return all(
            contains(value.get(key, _ABSENT), wanted) for key, wanted in pattern.items()
        )
    return (
        isinstance(pattern, bool) == isinstance(value, bool) and value == pattern
    )  # true is no number


# The texts of matching, as files have them ----------------------------------------------------------------------------

_NTH: Final = re.compile(
    r"(\d{1,9})(?:-(\d{1,9}))?|>=\s*(\d{1,9})|every\s+(\d{1,9})", re.ASCII
)
_PLACES: Final = (
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


class AdmissionChange(Struct, frozen=True):
    """New writes are refused with 503, or admitted again. `retry_after` (seconds) None: the service's own."""

    admission: Literal["paused", "open"]
    retry_after: int | None = None


class After(Struct, frozen=True):
    """The answer to the nth request of those that match."""

    match: Match
    nth: int = 1


class TimedChange(Struct, frozen=True):
    """A change, and its time since the scenario began or the request after which it is made."""

    when: int | After
    """Milliseconds, or a request."""
    change: AdmissionChange | TeamChange
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
    world: World = World()
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


# The file -------------------------------------------------------------------------------------------------------------


_IN_MS: Final = {
    "from": "from_ms",
    "until": "until_ms",
    "every": "every_ms",
    "for": "for_ms",
}
"""The fields of `When` that are spans, by their words."""


def parse_scenario(
    text: str | bytes, file: str, contract: Contract, world: WorldNames | None = None
) -> Scenario:
    """Read a scenario from YAML or JSON.

    `contract` says which operations there are, what they take and what they return. `world` names the Teams and keys
    there are; without it those are not checked.

    Raises:
        DocumentError: with every complaint about the file.
    """
    return scenario_of(read_document(text, file), contract, world)


@cache
def _schemas() -> Schemas:
    formats = {**values.FORMATS, "glob": glob, "nth": _nth, "resource": _resource}
    return Schemas(shipped_document("contract/scenario.schema.json"), formats)


def _suggest(steps: Steps, given: Any) -> list[str]:
    """Return what was probably meant by a value that the schema only calls wrong."""
    text = "" if isinstance(given, dict | list) else excerpt(given).strip('"')
    codes = [
        code for code, kind in CATALOGUE.items() if text in (code, str(kind.status))
    ]
    match steps:
        case ("clock",):
            return [f"{{mode: {mode}}}" for mode in nearest(text, CLOCK_MODES)]
        case ("rules", _, "then", "problem"):
            return [code for code in codes if code != text]
        case ("rules", _, "then", word) if text and word in (
            "latency",
            "rate",
            *LOSSES,
        ):
            return [f"network: {{{word}: {text}}}"]
        case ("rules", _, "then", _):
            return [f"problem: {code}" for code in codes]
        case ("rules", _, "then"):
            return [f"{{problem: {code}}}" for code in codes]
        case ("rules", _, "times") if text.isdecimal():
            return [f"when: {{nth: 1-{text}}}"]
    return []


def scenario_of(
    document: Document, contract: Contract, world: WorldNames | None = None
) -> Scenario:
    """Read a scenario from a document. Raises DocumentError with every complaint about it."""
    document.check(_schemas(), suggest=_suggest)
    given = document.value
    world_changes, clock = given.get("world", {}), given.get("clock", {})
    names = (
        None if world is None else world.with_world(document, world_changes, ("world",))
    )
    reader = _Reader(document, contract, names)
    timeline = map(reader.change, count(), given.get("timeline", ()))
    scenario = Scenario(
        name=given["scenario"],
        description=given.get("description", "").strip(),
        seed=given.get("seed"),
        clock=values.clock_setting(clock["mode"], clock.get("rate"))
        if "mode" in clock
        else None,
        start=clock.get("start"),
        world=read_world(world_changes),
        rules=tuple(map(reader.rule, count(), given.get("rules", ()))),
        timeline=tuple(
            sorted(
                timeline,
                key=lambda change: (
                    change.when if isinstance(change.when, int) else math.inf
                ),
            )
        ),
        file=document.file,
        text=document.source,
        readings=read_readings(document),
    )
    document.raise_complaints()
    return scenario


THEN_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "problem": ("retry_after", "detail", "at"),
    "hold": (),
    "network": ("at",),
    "deprecated": (),
    "client": (),
    "outputs": ("duration",),
    "fail": ("duration", "scene"),
    "stall": ("scene",),
    "duration": ("scene",),
    "scene": (),
}
"""What `then` can say, with the options that go with each word. A rule says one of these;
`duration` and `scene` are options too."""


class _Reader:
    """Reads the rules and changes of a document whose shape is valid, and complains of what no schema can say."""

    def __init__(
        self, document: Document, contract: Contract, world: WorldNames | None
    ) -> None:
        self._document = document
        self._contract = contract
        self._rule_names: dict[str, int] = {}
        self._known: dict[str, tuple[frozenset[str], str]] = {}
        """The words that a field can have, and what they are."""
        if world is not None:
            self._known["team"] = world.usable(world.teams), "the name of a Team"
            self._known["credential"] = world.usable(world.keys), "a key of the world"

    def rule(self, index: int, given: Mapping[str, Any]) -> Rule:
        """Read a rule; one without a name is called by its place."""
        document, steps, then = self._document, ("rules", index), given["then"]
        self._check_then((*steps, "then"), then)
        name = given.get("name", f"rule {index + 1}")
        first = self._rule_names.setdefault(name, index)
        if first != index:
            found = f"the name {excerpt(name)} again, first given to /rules/{first}"
            document.complain(steps, "a name of its own for each rule", found)
        when = self._when((*steps, "when"), given.get("when", {}))
        fault = next((_fault(word, then) for word in FAULTS if word in then), NO_FAULT)
        match = self._match(
            (*steps, "match"),
            given.get("match", {}),
            "work" if fault is NO_FAULT else "operation",
        )
        if "problem" in then and match.kind == "operation":
            self._check_code(
                (*steps, "then", "problem"), then["problem"], self._operations(match)
            )
        spelling = json.dumps(document.at(*steps, "then"), ensure_ascii=False)
        return Rule(
            name,
            match,
            fault,
            _outcome(then),
            when,
            document.file,
            document.position(*steps).line,
            spelling,
        )

    def _check_then(self, steps: Steps, then: Mapping[str, Any]) -> None:
        """Complain of what does not go with the word that `then` says."""
        word = next((word for word in THEN_OPTIONS if word in then), None)
        if word is None:
            expected = f"one of {', '.join(THEN_OPTIONS)}"
            self._document.complain(steps, expected, "an object")
            return
        fitting = (word, *THEN_OPTIONS[word])
        for name in then:
            if name not in fitting:
                expected = f"only {', '.join(fitting)}"
                place = (*steps, name)
                self._document.complain(
                    place, expected, "an unknown field", at_key=True
                )

    def change(self, index: int, given: Mapping[str, Any]) -> TimedChange:
        """Read a change of the timeline."""
        steps, given_change = ("timeline", index), given["set"]
        self._check_names((*steps, "set"), given_change)
        change = (
            AdmissionChange(**given_change)
            if "admission" in given_change
            else read_change(given_change)
        )
        spelling = dict(self._document.at(*steps))
        if "at" in given:
            when: int | After = given["at"]
            spelling["at"] = str(spelling["at"])
        else:
            match = self._match(
                (*steps, "after", "match"), given["after"]["match"], "operation"
            )
            when = After(match, given["after"].get("nth", 1))
        return TimedChange(when, change, self._document.position(*steps).line, spelling)

    def _when(self, steps: Steps, given: Mapping[str, Any]) -> When:
        when = When(**{_IN_MS.get(name, name): value for name, value in given.items()})
        if when.until_ms is not None and when.until_ms <= when.from_ms:
            self._document.complain(
                (*steps, "until"), f'a time after "from", which is {when.from_ms} ms'
            )
        if when.every_ms is not None and not 0 < when.for_ms <= when.every_ms:
            self._document.complain(
                (*steps, "for"),
                f'a span above 0 and up to "every", which is {when.every_ms} ms',
            )
        return when

    def _match(self, steps: Steps, given: Mapping[str, Any], default: Kind) -> Match:
        kind = next((kind for kind in KINDS if kind in given), default)
        names, others = given.get(kind, EVERY), _without(given, kind)
        match = Match(
            kind, frozenset([names] if isinstance(names, str) else names), **others
        )
        self._check_names(steps, given)
        for violation in self._violations(match) if match.body else ():
            where, is_unknown = (
                (*steps, "body", *violation.steps),
                violation.kind == "unknown",
            )
            self._document.complain(
                where,
                violation.expected,
                violation.found,
                at_key=is_unknown,
                suggestions=violation.suggestions,
            )
        queries = (
            [operation.query for operation in self._operations(match)]
            if match.query
            else []
        )
        for name, value in match.query.items():
            unmet = [query[name].unmet(value) for query in queries if name in query]
            if not unmet:
                self._document.check_word(
                    (*steps, "query", name), name, set().union(*queries), at_key=True
                )
            elif None not in unmet:
                self._document.complain((*steps, "query", name), str(unmet[0]))
        return match

    def _operations(self, match: Match) -> list[OperationContract]:
        """Return the operations that are meant, in the contract's order."""
        known = self._contract.operations.items()
        return [
            operation
            for name, operation in known
            if name in match.names or EVERY in match.names
        ]

    def _check_names(self, steps: Steps, given: Mapping[str, Any]) -> None:
        for field, (words, kind) in self._known.items():
            if field in given:
                self._document.check_word((*steps, field), given[field], words, kind)

    def _violations(self, match: Match) -> list[Violation]:
        """Return why a part of a body is part of no body, by the operation that comes nearest."""
        schemas = dict.fromkeys(
            operation.body for operation in self._operations(match) if operation.body
        )
        found = (self._contract.violations(schema, match.body) for schema in schemas)
        wrong = [
            [violation for violation in violations if violation.kind != "missing"]
            for violations in found
        ]
        return min(
            wrong,
            key=lambda some: [[one.kind for one in some].count("unknown"), len(some)],
            default=[],
        )

    def _check_code(
        self, steps: Steps, code: str, operations: list[OperationContract]
    ) -> None:
        """Complain of a code that the contract does not allow for each matched operation."""
        if unable := [
            operation.id for operation in operations if code not in operation.all_codes
        ]:
            names = first_of(unable, 3)
            common = sorted(
                frozenset(CATALOGUE).intersection(
                    *(operation.all_codes for operation in operations)
                )
            )
            expected = f"a code that every operation of this rule can return: {', '.join(common)}"
            self._document.complain(
                steps, expected, f"{excerpt(code)}, which {names} cannot return"
            )


def _fault(word: str, then: Mapping[str, Any]) -> Fault:
    make = FAULTS[word]
    value = then[word]
    options = {name: then[name] for name in THEN_OPTIONS[word] if name in then}
    if isinstance(value, dict):
        return make(**value, **options)
    return make(value, **options)


def _outcome(then: Mapping[str, Any]) -> WorkOutcome:
    outputs = {int(slot): code for slot, code in then.get("outputs", {}).items()}
    return WorkOutcome(
        outputs,
        then.get("fail"),
        then.get("duration"),
        "stall" in then,
        then.get("scene"),
    )


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if field != name}
