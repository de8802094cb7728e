"""The scenario file: one document of what should go wrong, read and checked as a whole.

`contract/scenario.schema.json` says its shape. What no schema can say is checked here for the clock and the
timeline, and in `rule_format` and `world_format` for the rest. Nothing happens here: the playbook follows a scenario, the engine and
the exchange carry out what it says.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents import shipped_document
from image_workflow_emulator.documents.complaints import nearest
from image_workflow_emulator.documents.document import Document
from image_workflow_emulator.documents.schemas import Schemas, Steps
from image_workflow_emulator.documents.values import (
    FORMATS,
    RATE_WORDS,
    clock_setting,
    optional,
    parse_seed,
    parse_span_ms,
    parse_whole_number,
)
from image_workflow_emulator.documents.yaml_reader import read_document
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.clock import CLOCK_MODES
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.scenario.reach import check_names
from image_workflow_emulator.scenario.readings_format import read_readings
from image_workflow_emulator.scenario.rule_format import parse_nth, read_match, read_rules
from image_workflow_emulator.scenario.scenario import (
    AdmissionChange,
    After,
    Change,
    Scenario,
    ScenarioClock,
    TimedChange,
)
from image_workflow_emulator.scenario.world import WorldNames
from image_workflow_emulator.scenario.world_format import check_world, credential_change, team_change, world_changes

_OUTPUT_MODES: Final = ("photoshoot", "single_shots")
"""Words for what product_photography makes."""
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
    return Schemas(shipped_document(SCHEMA), {**FORMATS, "nth": parse_nth})


def _meant(steps: Steps, given: str) -> tuple[str, ...]:
    """Return what was probably meant by a text that the schema only calls wrong."""
    match steps:
        case ("clock",):
            return tuple(f"{{mode: {mode}}}" for mode in nearest(given, CLOCK_MODES))
        case ("rules", _, "match", "work", *_) if given in _OUTPUT_MODES:
            return ("product_photography",)
        case ("rules", _, "then", "problem"):
            return tuple(code for code, kind in CATALOGUE.items() if str(kind.status) == given)
    return ()


def scenario_of(document: Document, contract: Contract, world: WorldNames | None = None) -> Scenario:
    """Read a scenario from a document. Raises DocumentError with every complaint about it."""
    document.check(_schemas(), suggest=_meant)
    texts: Mapping[str, Any] = document.texts
    check_world(document, texts.get("world", {}), ("world",), world)
    check_names(document, texts, world)
    scenario = Scenario(
        name=texts["scenario"],
        description=texts.get("description", "").strip(),
        seed=optional(texts, "seed", parse_seed),
        clock=_read_clock(document, texts.get("clock", {})),
        world=world_changes(texts.get("world", {})),
        rules=read_rules(document, contract),
        timeline=_read_timeline(document, contract),
        file=document.file,
        text=document.source,
        readings=read_readings(document),
    )
    document.raise_complaints()
    return scenario


def _read_clock(document: Document, clock: Mapping[str, Any]) -> ScenarioClock:
    rate, setting = optional(clock, "rate", float), None
    try:
        setting = clock_setting(clock["mode"], rate) if "mode" in clock else None
    except ValueError:
        document.complain(("clock", "rate"), RATE_WORDS)
    return ScenarioClock(setting, optional(clock, "start", parse_timestamp))


def _read_timeline(document: Document, contract: Contract) -> tuple[TimedChange, ...]:
    """Read the changes, whose shape is valid, in the order of time; those of one time, and those after requests at
    the end, keep the order of the file.
    """
    changes = [
        TimedChange(
            _moment(document, index, texts, contract),
            _change(texts["set"]),
            document.position("timeline", index).line,
            {**document.at("timeline", index), **({"at": texts["at"]} if "at" in texts else {})},
        )
        for index, texts in enumerate(document.texts.get("timeline", ()))
    ]
    return tuple(sorted(changes, key=lambda change: change.when if isinstance(change.when, int) else math.inf))


def _moment(document: Document, index: int, texts: Mapping[str, Any], contract: Contract) -> int | After:
    if "at" in texts:
        return parse_span_ms(texts["at"])
    after = texts["after"]
    match = read_match(document, ("timeline", index, "after", "match"), after["match"], contract)
    return After(match, optional(after, "nth", parse_whole_number) or 1)


def _change(given: Mapping[str, Any]) -> Change:
    if "admission" in given:
        return AdmissionChange(given["admission"], optional(given, "retry_after", parse_whole_number))
    if "team" in given:
        return team_change(given["team"], given)
    return credential_change(given["credential"], given)
