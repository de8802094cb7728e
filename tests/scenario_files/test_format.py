"""Scenario and world files: what they say once read, the shipped library, and the schemas that editors read."""

import json
import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any, get_args

import pytest
from jsonschema_rs import meta
from msgspec import structs

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import document_of
from image_workflow_emulator.documents.values import (
    MAX_INTEGER,
    MAX_NAME_CHARACTERS,
    MAX_SPAN_MS,
)
from image_workflow_emulator.kernel.clock import ClockSetting
from image_workflow_emulator.kernel.seed import MAX_SEED
from image_workflow_emulator.kernel.timestamps import DAY_MS, parse_timestamp
from image_workflow_emulator.scenario.client_faults import ClientDefect
from image_workflow_emulator.scenario.fault_words import FAULTS
from image_workflow_emulator.scenario.library import ScenarioLibrary
from image_workflow_emulator.scenario.matching import Match, contains
from image_workflow_emulator.scenario.network_faults import LOSSES, NetworkFault
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.scenario.scenario_reader import parse_scenario, scenario_of
from image_workflow_emulator.scenario.timeline import After
from image_workflow_emulator.scenario.world import (
    World,
    WorldCredential,
    WorldTeam,
    built_in_world,
    world_names,
)
from tests.support.every_operation import CONTRACT
from tests.support.served import ROOT

FILE = "s.yaml"


def read(text: str) -> Scenario:
    return parse_scenario("scenario: test\n" + text, FILE, CONTRACT)


def test_a_scenario_needs_nothing_but_its_name() -> None:
    text = "scenario: x"

    scenario = parse_scenario(text, FILE, CONTRACT)

    assert scenario == Scenario("x", file=FILE, text=text)


def test_the_text_of_a_scenario_reads_as_the_same_again() -> None:
    late: Any = {"network": {"latency": 0.25}}
    fields: Any = {"scenario": "x", "rules": [{"then": late}]}
    document = document_of(fields, FILE)
    scenario = scenario_of(document, CONTRACT)

    again = parse_scenario(scenario.text, FILE, CONTRACT)

    (rule,) = scenario.rules
    (rule_again,) = again.rules
    assert rule.fault == NetworkFault(latency_ms=(250, 250))
    assert rule_again.fault == rule.fault


def test_a_rule_that_matches_everything_is_about_what_it_does() -> None:
    rules = read("""
rules:
  - then: {problem: internal_error}
  - match: {team: Demo}
    then: {stall: true}
  - match: {work: '*'}
    then: {fail: timed_out}
""").rules

    matches = [rule.match for rule in rules]

    assert matches == [
        Match(),
        Match("work", team="Demo"),
        Match("work"),
    ]


def test_rules_are_called_by_their_place_unless_they_have_a_name() -> None:
    rules = read("""
rules:
  - then: {hold: 1}
  - name: mine
    then: {hold: 1}
  - then: {hold: 1}
""").rules

    rule_names = [rule.name for rule in rules]
    assert rule_names == ["rule 1", "mine", "rule 3"]


def test_a_rule_knows_its_place_in_the_file() -> None:
    (rule,) = read("""
rules:
  - then: {hold: 1}
""").rules

    assert rule.file == FILE
    assert rule.line == 4


def test_a_rule_keeps_what_it_does_as_it_was_written() -> None:
    (rule,) = read("""
rules:
  - then: {network: {latency: 1s}, at: after_commit, }
""").rules

    assert rule.then == '{"network": {"latency": "1s"}, "at": "after_commit"}'


def test_a_rule_keeps_the_letters_of_what_it_says() -> None:
    (rule,) = read("""
rules:
  - then: {problem: internal_error, detail: Füße}
""").rules

    assert rule.then == '{"problem": "internal_error", "detail": "Füße"}'


def test_a_fault_of_several_words_has_its_options_too() -> None:
    (rule,) = read("""
rules:
  - then: {network: {latency: 1s}, at: after_commit}
""").rules

    assert rule.fault == NetworkFault(at="after_commit", latency_ms=(1000, 1000))


def test_a_burst_may_last_a_millisecond() -> None:
    (rule,) = read("""
rules:
  - when: {every: 1m, for: 1ms}
    then: {hold: 1}
""").rules

    assert rule.when.every_ms == 60_000
    assert rule.when.for_ms == 1


def test_a_change_waits_for_requests_unless_it_says_otherwise() -> None:
    (change,) = read("""
timeline:
  - after: {match: {team: Demo}}
    set: {admission: paused}
""").timeline

    assert change.when == After(Match(team="Demo"), 1)


def test_a_scenario_says_how_its_clock_runs() -> None:
    scenario = read("""
seed: 7
clock: {mode: real, rate: 60, start: 2026-03-01T00:00:00Z}
""")

    assert scenario.seed == 7
    assert scenario.clock == ClockSetting("real", 60)
    assert scenario.start == parse_timestamp("2026-03-01T00:00:00.000Z")


def test_a_body_is_read_as_the_json_it_looks_like() -> None:
    (rule,) = read("""
rules:
  - match:
      operation: createProductPhotographyGeneration
      body:
        image_count: 4
        background: {type: color, color: '112233'}
        product_ids: [a, b]
        custom_directions: on
    then: {hold: 1s}
""").rules

    assert rule.match.body == {
        "image_count": 4,
        "background": {"type": "color", "color": "112233"},
        "product_ids": ["a", "b"],
        "custom_directions": "on",
    }


def changed(world: str) -> World:
    """Return the built-in world as a scenario changes it."""
    scenario = read(f"world: {world}")
    return built_in_world().changed(scenario.world)


def test_a_world_changes_the_team_that_it_names_and_no_other() -> None:
    demo_as_built_in, *others_as_built_in = built_in_world().teams

    world = changed("{teams: {Demo: {credits: 5}}}")

    demo, *others = world.teams
    assert demo == structs.replace(demo_as_built_in, credits=5)
    assert others == others_as_built_in


def test_a_world_changes_credentials_and_adds_new_ones() -> None:
    demo_as_built_in = built_in_world().teams[0]
    full_as_built_in, *others_as_built_in = demo_as_built_in.credentials

    world = changed("""
  teams:
    Demo:
      credentials:
        - {key: iwe_demo_full, profile: read_only}
        - {key: second}
""")

    full, *others, second = world.teams[0].credentials
    assert full == structs.replace(full_as_built_in, profile="read_only")
    assert others == others_as_built_in
    assert second == WorldCredential("second")


def test_a_world_adds_a_team_with_its_credentials() -> None:
    built_in = list(built_in_world().teams)

    world = changed("""
  teams:
    Fresh:
      subscription: inactive
      credentials: [{key: k}]
""")

    *others, fresh = world.teams
    assert others == built_in
    assert fresh == WorldTeam(
        "Fresh",
        subscription_active=False,
        credentials=(WorldCredential("k"),),
    )


def test_a_world_changes_timings_and_whether_there_are_premade_ingredients() -> None:
    timings = dict(built_in_world().timings)
    timings["queue_ms"] = 0

    world = changed("{timings: {queue: 0}, premade: false}")

    assert world.timings == timings
    assert world.premade is False


def test_a_world_that_says_nothing_changes_nothing() -> None:
    world = changed("{}")

    assert world == built_in_world()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("description: 7", id="a number for a text"),
        pytest.param("seed: '7'", id="a text for a number"),
        pytest.param("clock: {}", id="an empty object"),
        pytest.param("clock: {mode: real, rate: '2.5'}", id="a text for a rate"),
        pytest.param("world: {premade: 'true'}", id="a text for a boolean"),
        pytest.param("rules: [{then: {stall: 'true'}}]", id="a text for true"),
        pytest.param("timeline: []", id="an empty list"),
        pytest.param(
            """
            world:
              teams:
                A:
                  credentials:
                    - key: a
                      name: n
                      profile: full
                      state: revoked
                      expires_at: 2026-01-01T00:00:00Z
            """,
            id="an instant that is no text",
        ),
        pytest.param(
            """
            world:
              timings:
                queue: 1s
                photography_style: 1
                background: 1.5
                pose: 250ms
                fashion_model: 2m
                first_output: 1h
                next_output: 0
            """,
            id="spans",
        ),
        pytest.param(
            """
            rules:
              - name: 404
                match: {}
                when: {}
                then: {hold: 10}
            """,
            id="a number for a name",
        ),
        pytest.param(
            """
            rules:
              - match:
                  operation: '*'
                  team: Demo
                  body: {asset_ids: [a, b]}
                then: {problem: internal_error}
            """,
            id="a body of any operation",
        ),
        pytest.param(
            """
            rules:
              - when: {probability: 0}
                then: {hold: 1}
              - when: {probability: '1'}
                then: {hold: 1}
            """,
            id="probabilities",
        ),
        pytest.param(
            """
            rules:
              - when: {every: 1m, for: 1m}
                then: {hold: 1}
            """,
            id="a burst that does not end",
        ),
        pytest.param(
            """
            rules:
              - match: {operation: listPoses, query: {limit: 1}}
                then: {hold: 1}
            """,
            id="the lowest limit of a list",
        ),
        pytest.param(
            """
            rules:
              - match: {operation: listPoses, query: {limit: 100}}
                then: {hold: 1}
            """,
            id="the highest limit of a list",
        ),
    ],
)
def test_a_value_may_be_left_out_or_spelled_otherwise(text: str) -> None:
    scenario = read(dedent(text))

    assert scenario.name == "test"


def test_a_very_long_span_is_refused() -> None:
    timeline = "timeline: [{at: %s, set: {admission: open}}]"
    longest = f"{3650 * DAY_MS}ms"

    scenario = read(timeline % longest)
    with pytest.raises(DocumentError, match=r"at most 3650d$"):
        read(timeline % "3651d")

    assert scenario.timeline


def test_where_there_is_no_team_any_name_of_one_is_told_so() -> None:
    text = """
scenario: x
rules:
  - match: {team: Demo}
    then: {hold: 1s}
"""
    empty_world = world_names(World())
    complaint = '/rules/0/match/team: found "Demo"; expected the name of a Team'

    with pytest.raises(DocumentError, match=complaint):
        parse_scenario(text, FILE, CONTRACT, empty_world)


def test_a_scenario_of_the_library_says_where_it_comes_from() -> None:
    scenario = ScenarioLibrary(CONTRACT).load("rate-limited")

    assert scenario.file == "rate-limited.yaml"
    assert scenario.is_shipped is True


def test_a_scenario_of_the_library_names_what_the_world_has() -> None:
    library = ScenarioLibrary(CONTRACT)

    with pytest.raises(DocumentError, match='found "iwe_demo_full"; expected a key'):
        library.load("batch-runs-dry", world_names(World()))


def test_brackets_of_a_glob_stand_for_themselves() -> None:
    (rule,) = read("""
rules:
  - match: {operation: createUpload, idempotency_key: 'order[1]-*'}
    then: {hold: 1}
""").rules

    assert rule.match.idempotency_key is not None
    assert rule.match.idempotency_key.fullmatch("order[1]-a")
    assert not rule.match.idempotency_key.fullmatch("order1-a")


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 1}, id="a member"),
        pytest.param(
            {"a": {"b": {"c": 1, "d": 2}}},
            {"a": {"b": {"c": 1}}},
            id="a member of a member",
        ),
        pytest.param({"a": {"x": 1}}, {"a": {}}, id="any object"),
        pytest.param({"a": None}, {"a": None}, id="null"),
        pytest.param({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}, id="an equal list"),
        pytest.param({"a": True}, {"a": True}, id="a boolean"),
    ],
)
def test_a_body_contains_its_subsets(body: object, pattern: object) -> None:
    assert contains(body, pattern) is True


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        pytest.param({"a": "b"}, {"a": {"b": 1}}, id="text for an object"),
        pytest.param({"a": None}, {"a": {}}, id="null for an object"),
        pytest.param({}, {"a": None}, id="no member for null"),
        pytest.param({"a": [1, 2, 3]}, {"a": [1, 2]}, id="a longer list"),
        pytest.param({"a": [2, 1]}, {"a": [1, 2]}, id="another order"),
        pytest.param(
            {"a": [{"b": 1, "c": 2}]},
            {"a": [{"b": 1}]},
            id="a member within a list",
        ),
        pytest.param({"a": "12"}, {"a": ["1", "2"]}, id="text for a list"),
        pytest.param({"a": "2"}, {"a": 2}, id="text for a number"),
        pytest.param({"a": True}, {"a": 1}, id="true for 1"),
        pytest.param({"a": 1}, {"a": True}, id="1 for true"),
    ],
)
def test_a_body_contains_nothing_else(body: object, pattern: object) -> None:
    assert contains(body, pattern) is False


SCHEMA_FILE = ROOT / "contract" / "scenario.schema.json"
LIBRARY = ROOT / "scenarios"
NAMES = sorted(file.stem for file in LIBRARY.iterdir())


@pytest.fixture(scope="module")
def library() -> ScenarioLibrary:
    return ScenarioLibrary(CONTRACT)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_tells_people_and_editors_what_they_look_for(
    name: str,
    library: ScenarioLibrary,
) -> None:
    """Its own name, what a good client does, what each rule is for, and its schema."""
    names = world_names(built_in_world())

    scenario = library.load(name, names)

    assert scenario.name == name
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name)
    assert "good client" in scenario.description
    for rule in scenario.rules:
        assert not re.fullmatch(r"rule \d+", rule.name)
    first_line, *_ = library.text(name).splitlines()
    schema = first_line.removeprefix("# yaml-language-server: $schema=")
    linked = LIBRARY / schema
    assert linked.resolve() == SCHEMA_FILE


@pytest.mark.parametrize(
    "name",
    [
        "../contract/openapi",
        "",
        ".",
        "flaky-network.yaml",
    ],
)
def test_a_name_is_no_path(name: str, library: ScenarioLibrary) -> None:
    with pytest.raises(DocumentError, match="expected the name of a scenario"):
        library.text(name)


OUTCOMES = ("outputs", "fail", "stall", "duration", "scene")
SCHEMA: dict[str, Any] = json.loads(SCHEMA_FILE.read_text())


def test_the_schema_is_one() -> None:
    assert meta.is_valid(SCHEMA)


def test_bounds_are_those_of_the_code() -> None:
    definitions = SCHEMA["$defs"]
    seed = SCHEMA["properties"]["seed"]
    assert definitions["count"]["maximum"] == MAX_INTEGER
    assert definitions["positive"]["maximum"] == MAX_INTEGER
    assert definitions["line"]["maxLength"] == MAX_NAME_CHARACTERS
    assert definitions["duration"]["maximum"] * 1_000 == MAX_SPAN_MS
    assert seed["maximum"] == MAX_SEED


def test_the_words_under_then_are_those_that_the_code_reads() -> None:
    words = SCHEMA["$defs"]["then"]["properties"]

    network_words, *_ = words["network"]["oneOf"]
    assert list(words) == [*FAULTS, *OUTCOMES, "retry_after", "detail", "at"]
    assert network_words["enum"] == list(LOSSES)
    assert words["client"]["enum"] == list(get_args(ClientDefect))


def described_keys(schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every key that a file may have, and whether it is described, itself or where it refers to."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from described_keys(item, f"{path}[{index}]")
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        yield from described_keys(value, f"{path}.{key}")
    if schema.get("type") == "object":
        for key, value in schema.get("properties", {}).items():
            yield f"{path}.{key}", is_described(value)


def is_described(schema: Any) -> bool:
    target = schema
    if "$ref" in schema:
        _, _, name = schema["$ref"].rpartition("/")
        target = SCHEMA["$defs"][name]
    return "description" in schema or "description" in target


def test_every_key_is_described_for_editors() -> None:
    described = dict(described_keys(SCHEMA))

    undescribed = [key for key in described if not described[key]]
    assert len(described) > 60
    assert undescribed == []
