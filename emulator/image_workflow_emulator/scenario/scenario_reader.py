"""Reads a scenario from a file or a body.

`contract/scenario.schema.json` says the shape; what no schema can say is checked here,
in `rule_reader`, `match_reader` and `world`.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents import values
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import Document, Fields, read_document
from image_workflow_emulator.documents.schemas import Schemas
from image_workflow_emulator.documents.shipped import shipped_document
from image_workflow_emulator.documents.violations import Steps
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.clock import CLOCK_MODES, ClockSetting
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.match_reader import MatchReader
from image_workflow_emulator.scenario.matching import (
    parse_glob,
    parse_nth,
    parse_resource,
)
from image_workflow_emulator.scenario.network_faults import LOSSES
from image_workflow_emulator.scenario.readings import read_readings
from image_workflow_emulator.scenario.rule_reader import RuleReader
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.scenario.timeline import (
    AdmissionChange,
    After,
    Change,
    TimedChange,
)
from image_workflow_emulator.scenario.world import WorldNames, read_change, read_world

_NETWORK_WORDS: Final = ("latency", "rate", *LOSSES)


def parse_scenario(
    text: str | bytes,
    file: str,
    contract: Contract,
    world: WorldNames | None = None,
) -> Scenario:
    """Read a scenario from YAML or JSON.

    `contract` says which operations there are, what they take and what they return.
    `world` names the Teams and keys there are; without it those are not checked.

    Raises:
        DocumentError: with every complaint about the file.
    """
    document = read_document(text, file)
    return scenario_of(document, contract, world)


def scenario_of(
    document: Document,
    contract: Contract,
    world: WorldNames | None = None,
) -> Scenario:
    """Read a scenario from a document.

    Raises:
        DocumentError: with every complaint about it.
    """
    document.check(_schemas(), suggest=_suggest)
    given = document.value
    world_changes = given.get("world", {})
    if world is not None:
        world = world.with_world(document, world_changes, ("world",))
    matches = MatchReader(document, contract, world)
    rules = RuleReader(document, matches)
    clock = given.get("clock", {})
    given_rules = given.get("rules", ())
    scenario = Scenario(
        name=given["scenario"],
        description=given.get("description", "").strip(),
        seed=given.get("seed"),
        clock=_clock_setting(clock),
        start=clock.get("start"),
        world=read_world(world_changes),
        rules=tuple(rules.read(index, rule) for index, rule in enumerate(given_rules)),
        timeline=_timeline(document, matches, given.get("timeline", ())),
        file=document.file,
        text=document.source,
        readings=read_readings(document),
    )
    document.raise_complaints()
    return scenario


@cache
def _schemas() -> Schemas:
    formats = {
        **values.FORMATS,
        "glob": parse_glob,
        "nth": parse_nth,
        "resource": parse_resource,
    }
    return Schemas(shipped_document("contract/scenario.schema.json"), formats)


def _clock_setting(given: Fields) -> ClockSetting | None:
    if "mode" not in given:
        return None
    return values.clock_setting(given["mode"], given.get("rate"))


# Suggestions ------------------------------------------------------------------------


def _suggest(steps: Steps, given: Any) -> list[str]:
    """Return what was probably meant by a value that the schema only calls wrong."""
    text = ""
    if not isinstance(given, dict | list):
        text = excerpt(given).strip('"')
    match steps:
        case ("clock",):
            return [f"{{mode: {mode}}}" for mode in nearest(text, CLOCK_MODES)]
        case ("rules", _, "then", *inner):
            return _suggest_then(inner, text)
        case ("rules", _, "times") if text.isdecimal():
            return [f"when: {{nth: 1-{text}}}"]
        case ("timeline", _, "for") if text:
            return [f"set: {{..., for: {text}}}"]
    return []


def _suggest_then(inner: list[str | int], text: str) -> list[str]:
    """Return what was probably meant under `then`; `inner` is the way from there."""
    codes = _codes(text)
    match inner:
        case []:
            return [f"{{problem: {code}}}" for code in codes]
        case ["problem"]:
            return [code for code in codes if code != text]
        case [word] if text and word in _NETWORK_WORDS:
            return [f"network: {{{word}: {text}}}"]
        case [_]:
            return [f"problem: {code}" for code in codes]
    return []


def _codes(text: str) -> list[str]:
    """Return the problem codes that a text means: a code, or all of a status."""
    return [
        kind.code
        for kind in CATALOGUE.values()
        if text in (kind.code, str(kind.status))
    ]


# The timeline -----------------------------------------------------------------------


def _timeline(
    document: Document,
    matches: MatchReader,
    given: Sequence[Fields],
) -> tuple[TimedChange, ...]:
    """Read the changes, in the order in which they are made."""
    changes = [
        _timed_change(document, matches, index, entry)
        for index, entry in enumerate(given)
    ]
    return tuple(sorted(changes, key=_order_of_change))


def _order_of_change(timed: TimedChange) -> float:
    if isinstance(timed.when, After):
        return math.inf
    return timed.when


def _timed_change(
    document: Document,
    matches: MatchReader,
    index: int,
    given: Fields,
) -> TimedChange:
    steps: Steps = ("timeline", index)
    fields = dict(given["set"])
    matches.check_names((*steps, "set"), fields)
    for_ms = fields.pop("for", None)
    if for_ms == 0:
        document.complain((*steps, "set", "for"), "a span above 0")
    spelling = dict(document.at(*steps))
    if "at" in given:
        when: int | After = given["at"]
        spelling["at"] = str(spelling["at"])
    else:
        when = _after(matches, (*steps, "after"), given["after"])
    return TimedChange(
        when=when,
        change=_change(fields),
        line=document.position(*steps).line,
        spelling=spelling,
        for_ms=for_ms,
    )


def _after(
    matches: MatchReader,
    steps: Steps,
    given: Fields,
) -> After:
    match = matches.read((*steps, "match"), given["match"], "operation")
    return After(match, given.get("nth", 1))


def _change(fields: Fields) -> Change:
    if "admission" in fields:
        return AdmissionChange(**fields)
    return read_change(fields)
