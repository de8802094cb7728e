"""How a new sandbox begins with the scenario of the emulator's options, and without."""

from typing import Any

import pytest

from tests.support.emulator_client import Json
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator

KEY = "iwe_demo_full_mine"
SECOND_READ_FAILS = """\
scenario: second read fails
seed: 7
world: {teams: {Demo: {credits: 3, requests_per_minute: 50}}}
rules:
- name: second
  match: {operation: getTeam}
  when: {nth: 2}
  then: {problem: internal_error}
timeline:
- {at: 60s, set: {team: Demo, credits: 0}}
"""
OTHER_WORLD = """\
teams: {Own: {credentials: [{key: own}]}}
"""
SCENARIO_OF_ANOTHER_WORLD = """\
scenario: of another world
world: {teams: {Own: {credits: 3}}}
rules:
- {match: {operation: getTeam}, then: {problem: internal_error}}
timeline:
- {at: 10s, set: {credential: own, state: revoked}}
- {at: 10s, set: {team: Own, credits: 0}}
"""
THIRD_READ_FAILS: Json = {
    "scenario": "third read fails",
    "rules": [
        {
            "match": {"operation": "getTeam"},
            "when": {"nth": 3},
            "then": {"problem": "internal_error"},
        }
    ],
}
with_scenario = pytest.mark.emulator(scenario=SECOND_READ_FAILS)


def reads(
    emulator: EmulatorUnderTest,
    key: str = KEY,
    count: int = 3,
) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


def create(emulator: EmulatorUnderTest, **options: Any) -> Json:
    sandbox: Json = emulator.told("POST", "/sandboxes", {"id": "mine", **options})
    return sandbox


def running(emulator: EmulatorUnderTest, sandbox: str | None = "mine") -> str | None:
    name: str | None = emulator.told("GET", "/scenario", sandbox=sandbox)["scenario"]
    return name


# What it begins with -----------------------------------------------------------------


@with_scenario
def test_a_sandbox_that_names_no_scenario_has_that_of_the_options(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator)

    assert running(emulator) == "second read fails"
    assert reads(emulator) == [200, 500, 200]


@with_scenario
def test_an_inherited_scenario_has_counters_of_its_own(
    emulator: EmulatorUnderTest,
) -> None:
    assert reads(emulator, "iwe_demo_full") == [200, 500, 200]
    create(emulator)

    assert reads(emulator) == [200, 500, 200]


@pytest.mark.emulator(
    scenario="{scenario: s, timeline: [{at: 60s, set: {team: Demo, credits: 0}}]}"
)
def test_an_inherited_timeline_begins_with_its_sandbox(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.advance(90)
    create(emulator)

    assert emulator.team("Demo")["credits"] == 0
    assert emulator.team("Demo", sandbox="mine")["credits"] == 100
    emulator.told("POST", "/clock/advance", {"seconds": 60}, sandbox="mine")
    assert emulator.team("Demo", sandbox="mine")["credits"] == 0


@with_scenario
def test_a_sandbox_that_wants_no_scenario_has_none_of_it(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator, scenario=None)

    assert running(emulator) is None
    assert reads(emulator) == [200, 200, 200]
    assert emulator.team("Demo", sandbox="mine")["credits"] == 100


@with_scenario
def test_a_sandbox_that_names_a_scenario_has_that_one_alone(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator, scenario=THIRD_READ_FAILS)

    assert running(emulator) == "third read fails"
    assert reads(emulator) == [200, 200, 500]
    assert emulator.team("Demo", sandbox="mine")["credits"] == 100


def test_without_a_scenario_of_the_options_a_sandbox_begins_without_one(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator)

    assert running(emulator) is None


# What yields to the creation ---------------------------------------------------------


@with_scenario
def test_the_world_of_an_inherited_scenario_yields_to_what_a_creation_names(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator, world={"teams": {"Demo": {"credits": 9}}})

    team = emulator.team("Demo", sandbox="mine")
    assert team["credits"] == 9
    assert team["requests_per_minute"] == 50


@with_scenario
def test_the_world_that_a_creation_names_goes_first_after_a_reset_too(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator, world={"teams": {"Demo": {"credits": 9}}})

    emulator.told("POST", "/reset", sandbox="mine")

    assert emulator.team("Demo", sandbox="mine")["credits"] == 9
    assert running(emulator) == "second read fails"


@with_scenario
def test_the_world_that_a_creation_names_goes_first_in_a_loaded_state_too(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator, world={"teams": {"Demo": {"credits": 9}}})
    state = emulator.ask("GET", "/state", sandbox="mine").body

    emulator.told("PUT", "/state", sandbox="mine", content=state)
    emulator.told("POST", "/reset", sandbox="mine")

    assert emulator.team("Demo", sandbox="mine")["credits"] == 9


@pytest.mark.emulator(world=OTHER_WORLD, scenario=SCENARIO_OF_ANOTHER_WORLD)
def test_a_scenario_that_changes_a_team_of_another_world_can_be_inherited(
    emulator: EmulatorUnderTest,
) -> None:
    sandbox = create(emulator, world={"premade": False})

    names = [team["name"] for team in sandbox["teams"]]
    assert names == ["Demo", "Other", "Lapsed", "Broke"]
    emulator.told("POST", "/clock/advance", {"seconds": 60}, sandbox="mine")
    assert reads(emulator, count=1) == [500]


@with_scenario
def test_the_seed_of_an_inherited_scenario_yields_to_what_a_creation_names(
    emulator: EmulatorUnderTest,
) -> None:
    inherited = emulator.told("POST", "/sandboxes", {"id": "inherited"})
    named = create(emulator, seed=8)

    assert inherited["teams"][0]["id"] == emulator.team("Demo")["id"]
    assert named["teams"][0]["id"] != emulator.team("Demo")["id"]


# Afterwards --------------------------------------------------------------------------


@with_scenario
def test_another_scenario_changes_its_sandbox_alone(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator)

    emulator.told("PUT", "/scenario", THIRD_READ_FAILS, sandbox="mine")

    assert running(emulator) == "third read fails"
    assert running(emulator, sandbox=None) == "second read fails"


@with_scenario
def test_another_scenario_of_the_default_sandbox_is_not_inherited(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("PUT", "/scenario", THIRD_READ_FAILS)

    create(emulator)

    assert running(emulator) == "second read fails"


@with_scenario
def test_the_world_of_a_later_scenario_applies_at_a_reset(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator, world={"teams": {"Demo": {"credits": 9}}})
    later = {"scenario": "later", "world": {"teams": {"Demo": {"credits": 4}}}}

    emulator.told("PUT", "/scenario", later, sandbox="mine")
    emulator.told("POST", "/reset", sandbox="mine")

    assert emulator.team("Demo", sandbox="mine")["credits"] == 4


@with_scenario
def test_an_inherited_scenario_begins_anew_with_a_reset(
    emulator: EmulatorUnderTest,
) -> None:
    create(emulator)
    reads(emulator)

    emulator.told("POST", "/reset", sandbox="mine")

    assert reads(emulator) == [200, 500, 200]


# The fault of a sweep ----------------------------------------------------------------

FAULT = """\
scenario: fault
rules:
- {match: {operation: getTeam}, when: {nth: 1}, then: {problem: internal_error}}
"""


def test_the_fault_of_a_sweep_strikes_where_no_scenario_is_wanted(
    make_emulator: MakeEmulator,
    tmp_path: Any,
) -> None:
    file = tmp_path / "fault.yaml"
    file.write_text(FAULT)
    emulator = make_emulator(scenario=SECOND_READ_FAILS, fault=str(file))

    create(emulator, scenario=None)

    assert reads(emulator) == [500, 200, 200]
    assert emulator.team("Demo", sandbox="mine")["credits"] == 100


def test_the_fault_of_a_sweep_leaves_a_sandbox_with_a_scenario_of_its_own_alone(
    make_emulator: MakeEmulator,
    tmp_path: Any,
) -> None:
    file = tmp_path / "fault.yaml"
    file.write_text(FAULT)
    emulator = make_emulator(scenario=SECOND_READ_FAILS, fault=str(file))

    create(emulator, scenario=THIRD_READ_FAILS)

    assert reads(emulator) == [200, 200, 500]
