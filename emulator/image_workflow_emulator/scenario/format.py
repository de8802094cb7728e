"""The scenario file: one document of what should go wrong, read and checked as a whole.

`contract/scenario.schema.json` says its shape. What no schema can say is checked here and in `world`. Nothing happens
here: the playbook follows a scenario, the engine and the exchange carry out what it says.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Schemas, Steps, Violation
from image_workflow_emulator.documents.values import (
    FORMATS,
    clock_setting,
)
from image_workflow_emulator.documents.yaml_reader import read_document
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.clock import CLOCK_MODES, ClockSetting
from image_workflow_emulator.kernel.wording import MAX_EXCERPT_CHARACTERS, excerpt, first_of
from image_workflow_emulator.scenario.faults.fault import NO_FAULT, Fault
from image_workflow_emulator.scenario.faults.network import LOSSES, ClientFault, network_fault
from image_workflow_emulator.scenario.faults.service import DeprecatedFault, HoldFault, ProblemFault
from image_workflow_emulator.scenario.matching import ALWAYS, EVERY, Match, Nth, When, glob
from image_workflow_emulator.scenario.readings_format import read_readings
from image_workflow_emulator.scenario.scenario import (
    NO_OUTCOME,
    AdmissionChange,
    After,
    Change,
    Rule,
    Scenario,
    ScenarioClock,
    TimedChange,
    WorkOutcome,
)
from image_workflow_emulator.scenario.world import WorldCredential, WorldNames, check_world, read_team, read_world

FAULTS: Final[Mapping[str, Callable[..., Fault]]] = {
    "problem": ProblemFault,
    "hold": HoldFault,
    "network": network_fault,
    "deprecated": DeprecatedFault,
    "client": ClientFault,
}
"""By the word under `then` of a rule about requests: what makes its fault of the value and the options beside it."""
_IN_MS: Final = {"from": "from_ms", "until": "until_ms", "every": "every_ms", "for": "for_ms"}
"""By their words, the fields of `When` that are spans."""
_NTH: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?|>=\s*(\d{1,9})|every\s+(\d{1,9})", re.ASCII)
_PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERED: Final = re.compile(r"([1-9]\d{0,8})(?:st|nd|rd|th)", re.ASCII)
_OUTPUT_MODES: Final = ("photoshoot", "single_shots")
"""Words for what product_photography makes."""
_MAX_NAMED_OPERATIONS: Final = 3
"""So many are named of the operations that cannot return a code."""
SCHEMA: Final = "contract/scenario.schema.json"


def parse_scenario(text: str | bytes, file: str, contract: Contract, world: WorldNames | None = None) -> Scenario:
    """Read a scenario from YAML or JSON.

    `contract` says which operations there are, what they take and what they return. `world` names the Teams and keys there
    are; without it those are not checked.

    Raises:
        DocumentError: with every complaint about the file.
    """
    return scenario_of(read_document(text, file), contract, world)


@cache
def _schemas() -> Schemas:
    return Schemas(shipped_document(SCHEMA), {**FORMATS, "nth": parse_nth, "resource": parse_resource, "glob": glob})


def _suggest(steps: Steps, given: Any) -> list[str]:
    """Return what was probably meant by a value that the schema only calls wrong."""
    text = "" if isinstance(given, dict | list) else str(given)[:MAX_EXCERPT_CHARACTERS]
    match steps:
        case ("clock",):
            return [f"{{mode: {mode}}}" for mode in nearest(text, CLOCK_MODES)]
        case ("rules", _, "match", "work", *_) if text in _OUTPUT_MODES:
            return ["product_photography"]
        case ("rules", _, "then", *inner):
            return _suggest_word(inner, text)
        case ("rules", _, "when", "times") if text.isdecimal():
            return [f"nth: 1-{text}"]
        case ("rules", _, "times") if text.isdecimal():
            return [f"when: {{nth: 1-{text}}}"]
    return []


def _suggest_word(steps: Sequence[str | int], text: str) -> list[str]:
    """Return what was probably meant by a value under `then`."""
    codes = [code for code, kind in CATALOGUE.items() if text in (code, str(kind.status))]
    match steps:
        case ["problem"]:
            return [code for code in codes if code != text]
        case ["latency" | "rate" as word] if text:
            return [f"network: {{{word}: {text}}}"]
        case [word] if word in LOSSES:
            return [f"network: {word}"]
        case [_]:
            return [f"problem: {code}" for code in codes]
        case []:
            return [f"{{problem: {code}}}" for code in codes]
    return []


def scenario_of(document: Document, contract: Contract, world: WorldNames | None = None) -> Scenario:
    """Read a scenario from a document. Raises DocumentError with every complaint about it."""
    document.nouns = {"rules": "rule", "timeline": "change"}
    document.check(_schemas(), suggest=_suggest)
    given: Mapping[str, Any] = document.value
    world_changes, rules = given.get("world", {}), given.get("rules", ())
    check_world(document, world_changes, ("world",), world)
    _check_rule_names(document, rules)
    if world is not None:
        _check_names(document, given, world.with_world(world_changes))
    scenario = Scenario(
        name=given["scenario"],
        description=given.get("description", "").strip(),
        seed=given.get("seed"),
        clock=_read_clock(**given.get("clock", {})),
        world=read_world(world_changes),
        rules=tuple(_read_rule(document, index, rule, contract) for index, rule in enumerate(rules)),
        timeline=_read_timeline(document, contract),
        file=document.file,
        text=document.source,
        readings=read_readings(document),
    )
    document.raise_complaints()
    return scenario


def _check_names(document: Document, scenario: Mapping[str, Any], names: WorldNames) -> None:
    """Complain of Teams and keys that cannot be named."""
    teams, keys = names.usable(names.teams), names.usable(names.keys)
    for steps, given in _naming(scenario):
        if "team" in given:
            document.check_word((*steps, "team"), given["team"], teams, "the name of a Team")
        if "credential" in given:
            document.check_word((*steps, "credential"), given["credential"], keys, "a key of the world")


def _naming(scenario: Mapping[str, Any]) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
    """Return the parts of a file that can name a Team or a key, with their places."""
    for index, rule in enumerate(scenario.get("rules", ())):
        yield ("rules", index, "match"), rule.get("match", {})
    for index, change in enumerate(scenario.get("timeline", ())):
        yield ("timeline", index, "after", "match"), change.get("after", {}).get("match", {})
        yield ("timeline", index, "set"), change["set"]


def _read_clock(mode: ClockSetting | None = None, rate: float | None = None, start: int | None = None) -> ScenarioClock:
    return ScenarioClock(None if mode is None else clock_setting(mode, rate), start)


def _read_timeline(document: Document, contract: Contract) -> tuple[TimedChange, ...]:
    """Read the changes, whose shape is valid, in the order of time; those of one time, and those after requests at
    the end, keep the order of the file.
    """
    changes = [
        TimedChange(
            given["at"] if "at" in given else _after(document, index, given["after"], contract),
            _change(given["set"]),
            document.position("timeline", index).line,
            {
                **document.at("timeline", index),
                **({"at": str(document.at("timeline", index, "at"))} if "at" in given else {}),
            },
        )
        for index, given in enumerate(document.value.get("timeline", ()))
    ]
    return tuple(sorted(changes, key=lambda change: change.when if isinstance(change.when, int) else math.inf))


def _after(document: Document, index: int, after: Mapping[str, Any], contract: Contract) -> After:
    match = read_match(document, ("timeline", index, "after", "match"), after["match"], contract)
    return After(match, after.get("nth", 1))


def _change(given: Mapping[str, Any]) -> Change:
    if "admission" in given:
        return AdmissionChange(**given)
    if "team" in given:
        return read_team(given["team"], given)
    return WorldCredential(
        given["credential"], **{name: value for name, value in given.items() if name != "credential"}
    )


# Rules ----------------------------------------------------------------------------------------------------------------


def _rule_name(rule: Mapping[str, Any], index: int) -> str:
    """Return the name of a rule: one without a name is called by its place, `rule 1`."""
    return str(rule.get("name", f"rule {index + 1}"))


def _check_rule_names(document: Document, rules: Sequence[Mapping[str, Any]]) -> None:
    taken: dict[str, int] = {}
    for index, rule in enumerate(rules):
        name = _rule_name(rule, index)
        if name in taken:
            found = f"the name {excerpt(name)} again, first given to {document.place_of(('rules', taken[name]))}"
            document.complain(("rules", index), "a name of its own for each rule", found)
        taken.setdefault(name, index)


def _read_rule(document: Document, index: int, given: Mapping[str, Any], contract: Contract) -> Rule:
    steps: Steps = ("rules", index)
    name, match, then = _rule_name(given, index), given.get("match", {}), given["then"]
    when = _when(document, (*steps, "when"), given["when"]) if "when" in given else ALWAYS
    place = document.file, document.position(*steps).line, json.dumps(document.at(*steps, "then"), ensure_ascii=False)
    fault = _fault(then)
    if fault is None:
        work = Match("work", _names(match.get("work", EVERY)), match.get("team"))
        return Rule(name, work, NO_FAULT, _outcome(then), when, *place)
    request = read_match(document, (*steps, "match"), match, contract)
    if "problem" in then and request.kind == "operation":
        _check_code(document, (*steps, "then", "problem"), then["problem"], _meant(request.names, contract))
    return Rule(name, request, fault, NO_OUTCOME, when, *place)


def _fault(then: Mapping[str, Any]) -> Fault | None:
    """Return the fault of the word under `then`; None if that is about work."""
    for word in FAULTS.keys() & then.keys():
        options = {name: value for name, value in then.items() if name != word}
        given = then[word]
        return FAULTS[word](**given, **options) if isinstance(given, dict) else FAULTS[word](given, **options)
    return None


def _outcome(then: Mapping[str, Any]) -> WorkOutcome:
    outputs = {int(slot): code for slot, code in then.get("outputs", {}).items()}
    return WorkOutcome(outputs, then.get("fail"), then.get("duration"), "stall" in then, then.get("scene"))


def read_match(document: Document, steps: Steps, match: Mapping[str, Any], contract: Contract) -> Match:
    """Read which requests are meant; those that the contract excludes are a mistake."""
    request = Match(
        "bytes" if "bytes" in match else "operation",
        _names(match.get("bytes", match.get("operation", EVERY))),
        match.get("team"),
        document.at(*steps, "body") if "body" in match else {},
        match.get("credential"),
        match.get("resource"),
        match.get("query", {}),
        match.get("idempotency_key"),
    )
    _check_request(document, steps, request, _meant(request.names, contract), contract)
    return request


def _check_request(
    document: Document, steps: Steps, match: Match, operations: Sequence[OperationContract], contract: Contract
) -> None:
    """Complain of a body or query that none of the operations can have."""
    if match.body:
        for violation in _violations(match.body, operations, contract):
            where = (*steps, "body", *violation.steps)
            is_unknown = violation.kind == "unknown"
            document.complain(where, violation.expected, violation.found, violation.suggestions, at_key=is_unknown)
    for name, value in match.query.items():
        parameters = [operation.query[name] for operation in operations if name in operation.query]
        where = (*steps, "query", name)
        if parameters:
            unmet = [parameter.unmet(value) for parameter in parameters]
            if None not in unmet:
                document.complain(where, str(unmet[0]))
        else:
            document.check_word(
                where, name, {known for operation in operations for known in operation.query}, at_key=True
            )


def _violations(body: Any, operations: Sequence[OperationContract], contract: Contract) -> list[Violation]:
    """Return why a part of a body is part of no body, by the operation that comes nearest."""
    schemas = dict.fromkeys(operation.body for operation in operations if operation.body is not None)
    found = (contract.violations(schema, body) for schema in schemas)
    wrong = [[violation for violation in violations if violation.kind != "missing"] for violations in found]
    return min(wrong, key=lambda some: [[violation.kind for violation in some].count("unknown"), len(some)], default=[])


def _meant(names: frozenset[str], contract: Contract) -> list[OperationContract]:
    """Return the operations that are meant, in the contract's order."""
    return [operation for name, operation in contract.operations.items() if name in names or EVERY in names]


def _names(given: str | list[str]) -> frozenset[str]:
    return frozenset([given] if isinstance(given, str) else given)


def _check_code(document: Document, steps: Steps, code: str, operations: Sequence[OperationContract]) -> None:
    """Complain of a code that the contract does not allow for each matched operation."""
    if unable := [operation.id for operation in operations if code not in operation.all_codes]:
        names = first_of(unable, _MAX_NAMED_OPERATIONS)
        common = sorted(frozenset(CATALOGUE).intersection(*(operation.all_codes for operation in operations)))
        expected = f"a code that every operation of this rule can return: {', '.join(common)}"
        document.complain(steps, expected, f"{excerpt(code)}, which {names} cannot return")


def _when(document: Document, steps: Steps, given: Mapping[str, Any]) -> When:
    when = When(**{_IN_MS.get(name, name): value for name, value in given.items()})
    if when.until_ms is not None and when.until_ms <= when.from_ms:
        document.complain((*steps, "until"), f'a time after "from", which is {when.from_ms} ms')
    if when.every_ms is not None and not 0 < when.for_ms <= when.every_ms:
        document.complain((*steps, "for"), f'a span above 0 and up to "every", which is {when.every_ms} ms')
    return when


def parse_nth(text: str) -> Nth:
    """Read `3`, `2-4`, `>=3` or `every 5`, counted from 1. Raises ValueError."""
    found = _NTH.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    first, last, least, step = (int(number or 0) for number in found.groups())
    nth = Nth(first or least or step, (last or first) if first else None, step or 1)
    if nth.first < 1 or (nth.last is not None and nth.last < nth.first):
        raise ValueError(text)
    return nth


def parse_resource(text: str) -> str | int:
    """Return the place that a word such as `first` or `11th` means, else the id."""
    numbered = _NUMBERED.fullmatch(text)
    if numbered:
        return int(numbered[1])
    return _PLACES.index(text) + 1 if text in _PLACES else text
