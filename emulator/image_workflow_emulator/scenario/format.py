"""The scenario file, and the readings file that can stand beside it: each is read and checked as a whole.

`contract/scenario.schema.json` and `contract/readings.schema.json` say their shapes. What no schema can say is checked
here and in `world`. Nothing happens here: the playbook follows a scenario, the engine and the exchange carry out what
it says. Which readings there are is said in `image_workflow_emulator.domain.readings`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.documents.complaints import choice_of, nearest
from image_workflow_emulator.documents.document import Document, read_document
from image_workflow_emulator.documents.schemas import Schemas, Steps, Violation
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.documents.values import clock_setting
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.domain.readings import NO_READINGS, PLAIN, READINGS, SETS, Readings, parse_readings
from image_workflow_emulator.kernel.clock import CLOCK_MODES
from image_workflow_emulator.kernel.wording import MAX_EXCERPT_CHARACTERS, excerpt, first_of
from image_workflow_emulator.scenario.faults import FAULTS, LOSSES, NO_FAULT, Fault
from image_workflow_emulator.scenario.named_files import scenario_file
from image_workflow_emulator.scenario.scenario import (
    EVERY,
    FORMATS,
    KINDS,
    AdmissionChange,
    After,
    Change,
    Kind,
    Match,
    Rule,
    Scenario,
    TimedChange,
    When,
    WorkOutcome,
)
from image_workflow_emulator.scenario.world import WorldCredential, WorldNames, read_team, read_world
from image_workflow_emulator.settings import SettingError

_IN_MS: Final = {"from": "from_ms", "until": "until_ms", "every": "every_ms", "for": "for_ms"}
"""By their words, the fields of `When` that are spans."""
_OUTPUT_MODES: Final = ("photoshoot", "single_shots")
"""Words for what product_photography makes."""
_MAX_NAMED_OPERATIONS: Final = 3
"""So many are named of the operations that cannot return a code."""
SCHEMA: Final = "contract/scenario.schema.json"


def parse_scenario(text: str | bytes, file: str, contract: Contract, world: WorldNames | None = None) -> Scenario:
    """Read a scenario from YAML or JSON.

    `contract` says which operations there are, what they take and what they return. `world` names the Teams and keys
    there are; without it those are not checked.

    Raises:
        DocumentError: with every complaint about the file.
    """
    return scenario_of(read_document(text, file), contract, world)


@cache
def _schemas() -> Schemas:
    return Schemas(shipped_document(SCHEMA), FORMATS)


def _suggest(steps: Steps, given: Any) -> list[str]:
    """Return what was probably meant by a value that the schema only calls wrong."""
    text = "" if isinstance(given, dict | list) else str(given)[:MAX_EXCERPT_CHARACTERS]
    codes = [code for code, kind in CATALOGUE.items() if text in (code, str(kind.status))]
    match steps:
        case ("clock",):
            return [f"{{mode: {mode}}}" for mode in nearest(text, CLOCK_MODES)]
        case ("rules", _, "match", "work", *_) if text in _OUTPUT_MODES:
            return ["product_photography"]
        case ("rules", _, "then", "problem"):
            return [code for code in codes if code != text]
        case ("rules", _, "then", "latency" | "rate" as word) if text:
            return [f"network: {{{word}: {text}}}"]
        case ("rules", _, "then", word) if word in LOSSES:
            return [f"network: {word}"]
        case ("rules", _, "then", _):
            return [f"problem: {code}" for code in codes]
        case ("rules", _, "then"):
            return [f"{{problem: {code}}}" for code in codes]
        case ("rules", _, "when", "times") if text.isdecimal():
            return [f"nth: 1-{text}"]
        case ("rules", _, "times") if text.isdecimal():
            return [f"when: {{nth: 1-{text}}}"]
    return []


def scenario_of(document: Document, contract: Contract, world: WorldNames | None = None) -> Scenario:
    """Read a scenario from a document. Raises DocumentError with every complaint about it."""
    document.check(_schemas(), suggest=_suggest)
    given = document.value
    world_changes, clock = given.get("world", {}), given.get("clock", {})
    names = None if world is None else world.with_world(document, world_changes, ("world",))
    reader = _Reader(document, contract, names)
    timeline = map(reader.change, count(), given.get("timeline", ()))
    scenario = Scenario(
        name=given["scenario"],
        description=given.get("description", "").strip(),
        seed=given.get("seed"),
        clock=clock_setting(clock["mode"], clock.get("rate")) if "mode" in clock else None,
        start=clock.get("start"),
        world=read_world(world_changes),
        rules=tuple(map(reader.rule, count(), given.get("rules", ()))),
        timeline=tuple(sorted(timeline, key=lambda change: change.when if isinstance(change.when, int) else math.inf)),
        file=document.file,
        text=document.source,
        readings=read_readings(document),
    )
    document.raise_complaints()
    return scenario


class _Reader:
    """Reads the rules and changes of a document whose shape is valid, and complains of what no schema can say."""

    def __init__(self, document: Document, contract: Contract, world: WorldNames | None) -> None:
        self._document = document
        self._contract = contract
        self._rule_names: dict[str, int] = {}
        self._known: dict[str, tuple[frozenset[str], str]] = {}
        """By field: the words that can stand there, and what they are."""
        if world is not None:
            self._known["team"] = world.usable(world.teams), "the name of a Team"
            self._known["credential"] = world.usable(world.keys), "a key of the world"

    def rule(self, index: int, given: Mapping[str, Any]) -> Rule:
        """Read a rule; one without a name is called by its place."""
        document, steps, then = self._document, ("rules", index), given["then"]
        name = given.get("name", f"rule {index + 1}")
        first = self._rule_names.setdefault(name, index)
        if first != index:
            found = f"the name {excerpt(name)} again, first given to /rules/{first}"
            document.complain(steps, "a name of its own for each rule", found)
        when = self._when((*steps, "when"), given.get("when", {}))
        fault = next((_fault(word, then) for word in FAULTS if word in then), NO_FAULT)
        match = self._match((*steps, "match"), given.get("match", {}), "work" if fault is NO_FAULT else "operation")
        if "problem" in then and match.kind == "operation":
            self._check_code((*steps, "then", "problem"), then["problem"], self._operations(match))
        spelling = json.dumps(document.at(*steps, "then"), ensure_ascii=False)
        return Rule(name, match, fault, _outcome(then), when, document.file, document.position(*steps).line, spelling)

    def change(self, index: int, given: Mapping[str, Any]) -> TimedChange:
        """Read a change of the timeline."""
        steps, change = ("timeline", index), given["set"]
        self._check_names((*steps, "set"), change)
        spelling = dict(self._document.at(*steps))
        if "at" in given:
            when: int | After = given["at"]
            spelling["at"] = str(spelling["at"])
        else:
            match = self._match((*steps, "after", "match"), given["after"]["match"], "operation")
            when = After(match, given["after"].get("nth", 1))
        return TimedChange(when, _change(change), self._document.position(*steps).line, spelling)

    def _when(self, steps: Steps, given: Mapping[str, Any]) -> When:
        when = When(**{_IN_MS.get(name, name): value for name, value in given.items()})
        if when.until_ms is not None and when.until_ms <= when.from_ms:
            self._document.complain((*steps, "until"), f'a time after "from", which is {when.from_ms} ms')
        if when.every_ms is not None and not 0 < when.for_ms <= when.every_ms:
            self._document.complain((*steps, "for"), f'a span above 0 and up to "every", which is {when.every_ms} ms')
        return when

    def _match(self, steps: Steps, given: Mapping[str, Any], default: Kind) -> Match:
        kind = next((kind for kind in KINDS if kind in given), default)
        names, others = given.get(kind, EVERY), _without(given, kind)
        match = Match(kind, frozenset([names] if isinstance(names, str) else names), **others)
        self._check_names(steps, given)
        for violation in self._violations(match) if match.body else ():
            where, is_unknown = (*steps, "body", *violation.steps), violation.kind == "unknown"
            self._document.complain(where, violation.expected, violation.found, violation.suggestions, is_unknown)
        queries = [operation.query for operation in self._operations(match)] if match.query else []
        for name, value in match.query.items():
            unmet = [query[name].unmet(value) for query in queries if name in query]
            if not unmet:
                self._document.check_word((*steps, "query", name), name, set().union(*queries), at_key=True)
            elif None not in unmet:
                self._document.complain((*steps, "query", name), str(unmet[0]))
        return match

    def _operations(self, match: Match) -> list[OperationContract]:
        """Return the operations that are meant, in the contract's order."""
        known = self._contract.operations.items()
        return [operation for name, operation in known if name in match.names or EVERY in match.names]

    def _check_names(self, steps: Steps, given: Mapping[str, Any]) -> None:
        for field, (words, kind) in self._known.items():
            if field in given:
                self._document.check_word((*steps, field), given[field], words, kind)

    def _violations(self, match: Match) -> list[Violation]:
        """Return why a part of a body is part of no body, by the operation that comes nearest."""
        schemas = dict.fromkeys(operation.body for operation in self._operations(match) if operation.body)
        found = (self._contract.violations(schema, match.body) for schema in schemas)
        wrong = [[violation for violation in violations if violation.kind != "missing"] for violations in found]
        return min(wrong, key=lambda some: [[one.kind for one in some].count("unknown"), len(some)], default=[])

    def _check_code(self, steps: Steps, code: str, operations: Sequence[OperationContract]) -> None:
        """Complain of a code that the contract does not allow for each matched operation."""
        if unable := [operation.id for operation in operations if code not in operation.all_codes]:
            names = first_of(unable, _MAX_NAMED_OPERATIONS)
            common = sorted(frozenset(CATALOGUE).intersection(*(operation.all_codes for operation in operations)))
            expected = f"a code that every operation of this rule can return: {', '.join(common)}"
            self._document.complain(steps, expected, f"{excerpt(code)}, which {names} cannot return")


def _fault(word: str, then: Mapping[str, Any]) -> Fault:
    given, options = then[word], _without(then, word)
    return FAULTS[word](**given, **options) if isinstance(given, dict) else FAULTS[word](given, **options)


def _outcome(then: Mapping[str, Any]) -> WorkOutcome:
    outputs = {int(slot): code for slot, code in then.get("outputs", {}).items()}
    return WorkOutcome(outputs, then.get("fail"), then.get("duration"), "stall" in then, then.get("scene"))


def _change(given: Mapping[str, Any]) -> Change:
    if "admission" in given:
        return AdmissionChange(**given)
    if "team" in given:
        return read_team(given["team"], given)
    return WorldCredential(given["credential"], **_without(given, "credential"))


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if field != name}


# Readings -------------------------------------------------------------------------------------------------------------


def readings_of_option(text: str) -> Readings:
    """Read what `--readings` takes.

    Raises:
        SettingError: a reading that there is not.
        DocumentError: a file that cannot be used.
        OSError: a file that cannot be read.
    """
    if file := file_of_readings(text):
        return readings_of(read_document(file.read_bytes(), text))
    try:
        return parse_readings(text)
    except ValueError as error:
        raise SettingError("--readings", str(error), *_expected(str(error))) from None


def _expected(unknown: str) -> tuple[str, list[str]]:
    """Say what can stand in place of an unknown name, such as the readings of its decision; and list the words."""
    decision = unknown.partition("=")[0]
    of_decision = [name for name in READINGS if name.startswith(f"{decision}=")]
    if of_decision:
        return choice_of([*of_decision, f"{decision}={PLAIN}"]), of_decision
    return f"readings such as D26=always-a-cursor, a set ({', '.join(SETS)}), or a file", [*READINGS, *SETS]


def file_of_readings(text: str) -> Path | None:
    """Return the file that a text such as that of `--readings` names; None if it is made of readings and sets."""
    return None if any(sign in text for sign in "=,:") else scenario_file(text)


def readings_of(document: Document) -> Readings:
    """Read a document of readings alone. Raises DocumentError with every complaint about it."""
    document.check(Schemas(shipped_document("contract/readings.schema.json")))
    readings = read_readings(document)
    document.raise_complaints()
    return readings or NO_READINGS


def read_readings(document: Document) -> Readings | None:
    """Read the `readings` of a document, a text as `--readings` takes it, or a mapping; complain of unknown ones."""
    given = document.value.get("readings")
    if given is None:
        return None
    parts: list[tuple[Steps, str]] = [(("readings",), given)]
    if not isinstance(given, str):
        parts = [(("readings", decision), f"{decision}={name}") for decision, name in given.items()]
    readings = NO_READINGS
    for steps, text in parts:
        try:
            readings = parse_readings(text, readings)
        except ValueError as error:
            expected, words = _expected(str(error))
            document.check_word(steps, str(error), words, expected)
    return readings


def described_readings() -> list[dict[str, Any]]:
    """Return every reading with the words of the ledger: the decision, its title, and the fields of the reading."""
    decisions = shipped_document("contract/decisions.yaml")["decisions"]
    return [
        {"decision": decision["id"], "title": decision["title"], **reading}
        for decision in decisions
        for reading in decision.get("readings", ())
    ]
