"""The scenario file (interfaces, section 7): one document of what should go wrong, read and checked as a whole.

Owns the form of the file at its top. It makes nothing happen: the playbook follows a scenario, the engine and the road
of a request carry out what it says.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from emulator.documents.complaints import DocumentError, nearest, one_of
from emulator.documents.yaml_nodes import JsonValue, Node, node_of, read_document
from emulator.domain.problems import excerpt
from emulator.kernel.clock import CLOCK_MODES, HIGHEST_RATE, ClockSetting
from emulator.kernel.seed import LARGEST_SEED
from emulator.scenario.reading import Cursor, Fields, Report
from emulator.scenario.rule_format import read_rules
from emulator.scenario.scenario import Scenario, ScenarioClock
from emulator.scenario.timeline_format import read_timeline
from emulator.scenario.vocabulary import OperationFacts, Vocabulary
from emulator.scenario.world import NO_WORLD_CHANGES, WorldChanges, WorldNames, changed_names
from emulator.scenario.world_format import read_world_changes

SCENARIO_KEYS: Final = ("scenario", "description", "seed", "clock", "world", "rules", "timeline")
_RATE: Final = re.compile(r"x(\d{1,7}(?:\.\d{1,6})?)", re.ASCII)


class ScenarioError(DocumentError):
    """A scenario that cannot be used, with every complaint about it."""


def parse_scenario(
    text: str | bytes, filename: str, operations: OperationFacts, world: WorldNames | None = None
) -> Scenario:
    """Read a scenario from YAML or JSON.

    `operations` says which codes each operation can return. `world` names the Teams and keys there are; without it
    those are not checked.

    Raises:
        ScenarioError: with every complaint about the file.
    """
    scenario = _checked(lambda: read_document(text, filename), filename, Vocabulary(operations, world))
    return replace(scenario, text=text if isinstance(text, str) else text.decode())


def scenario_of(
    data: JsonValue, filename: str, operations: OperationFacts, world: WorldNames | None = None
) -> Scenario:
    """Read a scenario that is already JSON, such as the `scenario` of a request to the control plane.

    Raises:
        ScenarioError: with every complaint about it, without lines and columns.
    """
    scenario = _checked(lambda: node_of(data, filename), filename, Vocabulary(operations, world))
    return replace(scenario, text=json.dumps(data, ensure_ascii=False))


def _checked(read: Callable[[], Node], filename: str, vocabulary: Vocabulary) -> Scenario:
    try:
        node = read()
    except DocumentError as error:
        raise ScenarioError(error.complaints) from None
    report = Report(filename)
    scenario = _read_scenario(Cursor(report, node, ""), vocabulary)
    report.raise_as(ScenarioError)
    return scenario


def _read_scenario(cursor: Cursor, vocabulary: Vocabulary) -> Scenario:
    fields = cursor.fields(SCENARIO_KEYS, required=("scenario",), expected="a mapping that begins with scenario: NAME")
    world = fields.get("world", read_world_changes, NO_WORLD_CHANGES)
    if vocabulary.world is not None:
        _check_new_teams(fields, world, vocabulary.world)
        vocabulary = Vocabulary(vocabulary.operations, changed_names(vocabulary.world, world))
    return Scenario(
        fields.get("scenario", lambda at: at.line("the scenario's name"), ""),
        fields.get("description", lambda at: at.text("a description"), "").strip(),
        fields.get("seed", lambda at: at.integer(0, LARGEST_SEED), None),
        fields.get("clock", _clock, ScenarioClock()),
        world,
        fields.get("rules", lambda at: read_rules(at, vocabulary), ()),
        fields.get("timeline", lambda at: read_timeline(at, vocabulary), ()),
        cursor.report.filename,
    )


def _check_new_teams(fields: Fields, world: WorldChanges, known: WorldNames) -> None:
    """Refuse a Team that the world does not have, unless the scenario opens it with credentials of its own."""
    for change in world.teams:
        name = change.team.team
        if name not in known.teams and not change.credentials:
            expected = f"{one_of(known.teams)}, or credentials for a new Team"
            fields.cursor.report.add(
                change.position, "world.teams", excerpt(name), expected, nearest(name, known.teams)
            )


def _clock(cursor: Cursor) -> ScenarioClock:
    fields = cursor.fields(("mode", "rate", "start"))
    setting = fields.get("mode", _clock_mode, None)
    rate = fields.get("rate", lambda at: at.number(0.000001, HIGHEST_RATE), None)
    if rate is not None:
        if setting != ClockSetting("real"):
            fields.refuse(["rate"], 'it only with "mode: real"')
        setting = ClockSetting("real", rate)
    return ScenarioClock(setting, fields.get("start", Cursor.instant, None))


def _clock_mode(cursor: Cursor) -> ClockSetting | None:
    expected = f"{one_of(CLOCK_MODES)}, or a rate such as x60"
    text = cursor.text(expected)
    if text is None:
        return None
    if text in CLOCK_MODES:
        return ClockSetting(text)
    rate = _RATE.fullmatch(text)
    if rate and 0 < float(rate[1]) <= HIGHEST_RATE:
        return ClockSetting("real", float(rate[1]))
    cursor.complain(expected, suggestion=nearest(text, CLOCK_MODES))
    return None
