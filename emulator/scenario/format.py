"""The scenario file: one document of what should go wrong, read and checked as a whole.

`contract/scenario.schema.json` says its shape. What no schema can say is checked here for the world and the clock, and
in `rule_format` and `timeline_format` for the rest. Nothing happens here: the playbook follows a scenario, the engine and
the exchange carry out what it says.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from emulator.contract import Contract
from emulator.documents import shipped_document
from emulator.documents.complaints import nearest
from emulator.documents.document import Document
from emulator.documents.schemas import Schemas, Steps
from emulator.documents.values import FORMATS, RATE_WORDS, clock_setting, optional, parse_seed
from emulator.documents.yaml_reader import read_document
from emulator.domain.problems import CATALOGUE
from emulator.kernel.clock import CLOCK_MODES
from emulator.kernel.timestamps import parse_timestamp
from emulator.scenario.names import check_names
from emulator.scenario.readings_format import read_readings
from emulator.scenario.rule_format import parse_nth, read_rules
from emulator.scenario.scenario import Scenario, ScenarioClock
from emulator.scenario.timeline_format import read_timeline
from emulator.scenario.world import WorldNames
from emulator.scenario.world_format import check_world, world_changes

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
        timeline=read_timeline(document, contract),
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
