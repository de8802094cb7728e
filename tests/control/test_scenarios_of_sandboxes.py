"""Scenarios with which a sandbox is made or reset: seed, clock, world, readings."""

from typing import Any

import pytest

from tests.control.test_control_scenarios import FAILING, read_statuses
from tests.support.emulator_client import UPLOAD, Json
from tests.support.emulator_under_test import EmulatorUnderTest

CLOCKED: Json = {
    "scenario": "clocked",
    "seed": 7,
    "clock": {"mode": "auto", "start": "2026-03-01T00:00:00.000Z"},
    "world": {"teams": {"Demo": {"credits": 5}}, "premade": False},
    "rules": [
        {
            "name": "r",
            "match": {"operation": "getTeam"},
            "when": {"nth": "1"},
            "then": {"problem": "rate_limited"},
        }
    ],
}
"""A scenario with everything that a running sandbox does not take over."""


# A sandbox that begins with one ------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        pytest.param(CLOCKED, "clocked", id="object"),
        pytest.param(FAILING, "reads fail", id="text"),
        pytest.param("problem:not_found", "problem:not_found", id="name"),
        pytest.param({"use": "rate-limited"}, "rate-limited", id="use"),
    ],
)
def test_a_sandbox_begins_with_a_scenario(
    emulator: EmulatorUnderTest,
    scenario: Any,
    name: str,
) -> None:
    sandbox = emulator.make_sandbox("mine", scenario=scenario)

    running = emulator.told("GET", "/scenario", sandbox="mine")
    assert running["scenario"] == name
    assert running["began_at"] == sandbox["clock"]["now"]


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param("no-such", id="an unknown name"),
        pytest.param({"rule": []}, id="an unknown field"),
        pytest.param([], id="a list"),
        pytest.param(5, id="a number"),
        pytest.param({"use": "no-such"}, id="use of an unknown name"),
        pytest.param("scenario: [", id="a broken text"),
    ],
)
def test_a_sandbox_with_a_bad_scenario_is_not_made(
    emulator: EmulatorUnderTest,
    scenario: Any,
) -> None:
    body = {"id": "mine", "scenario": scenario}

    answer = emulator.ask("POST", "/sandboxes", body)

    sandbox = emulator.ask("GET", "/sandboxes/mine")
    assert answer.status == 422
    assert answer.code == "invalid_scenario"
    assert sandbox.status == 404


@pytest.mark.parametrize(
    ("overrides", "now", "mode"),
    [
        ({}, "2026-03-01T00:00:00.000Z", "auto"),
        ({"clock": "manual"}, "2026-03-01T00:00:00.000Z", "manual"),
        ({"start": "2026-04-01T00:00:00.000Z"}, "2026-04-01T00:00:00.000Z", "auto"),
    ],
    ids=str,
)
@pytest.mark.emulator(
    seed=1,
    clock="x2",
    start="2026-02-01T00:00:00.000Z",
)
def test_a_creation_overrides_the_clock_of_its_scenario(
    emulator: EmulatorUnderTest,
    overrides: Json,
    now: str,
    mode: str,
) -> None:
    sandbox = emulator.make_sandbox("mine", scenario=CLOCKED, **overrides)

    assert sandbox["clock"]["now"] == now
    assert sandbox["clock"]["mode"] == mode
    assert emulator.reset("mine") == sandbox


@pytest.mark.emulator(seed=1)
def test_seed_and_world_are_those_of_the_scenario(emulator: EmulatorUnderTest) -> None:
    seeded = emulator.make_sandbox("seeded", seed=7)

    sandbox = emulator.make_sandbox("mine", scenario=CLOCKED)

    demo = sandbox["teams"][0]
    demo_with_seed = seeded["teams"][0]
    assert demo["credits"] == 5
    assert demo["id"] == demo_with_seed["id"]


@pytest.mark.emulator(scenario=FAILING)
def test_the_scenario_of_the_process_runs_again_after_a_reset(
    emulator: EmulatorUnderTest,
) -> None:
    read_statuses(emulator)

    emulator.reset()

    scenario = emulator.told("GET", "/scenario")
    assert scenario["scenario"] == "reads fail"
    assert scenario["rules"] == [{"name": "second", "matched": 0, "fired": 0}]


# The file of a new sandbox's scenario ------------------------------------------------

PATH = f"/tests/{'deep/' * 100}mine.yaml"
PAUSED = """\
scenario: x
timeline:
  - at: 0s
    set: {admission: paused}
"""


def test_a_mistake_in_the_scenario_of_a_new_sandbox_is_cited_by_its_file(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"scenario": "scenario: x\nrule: []\n"}

    answer = emulator.ask("POST", f"/sandboxes?file={PATH}", body)

    assert answer.code == "invalid_scenario"
    assert answer.json["detail"].startswith(f"{PATH}:2:1:")


@pytest.mark.parametrize("file", ["a.yaml", "scenario"])
def test_a_text_from_a_file_is_never_the_name_of_a_scenario(
    emulator: EmulatorUnderTest,
    file: str,
) -> None:
    body = {"scenario": "rate-limited"}

    answer = emulator.ask("POST", f"/sandboxes?file={file}", body)

    assert answer.code == "invalid_scenario"
    assert answer.json["detail"].startswith(f"{file}:1:1:")


def test_an_explanation_cites_the_file_of_the_scenario_of_a_new_sandbox(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"id": "named", "scenario": PAUSED}
    emulator.told("POST", f"/sandboxes?file={PATH}", body)
    emulator.post("/uploads", UPLOAD, key="iwe_demo_full_named")

    entry = emulator.told("GET", "/requests/1", sandbox="named")

    explanation = entry["explanation"]
    assert f"({PATH}, line 3)" in explanation["summary"]
    assert explanation["decided_by"]["timeline"]["file"] == PATH


# What waits for a reset --------------------------------------------------------------

READ: Json = {"scenario": "read", "readings": {"D26": "always-a-cursor"}, "rules": []}


def test_the_readings_of_a_scenario_wait_for_a_reset(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.make_sandbox("mine")

    put = emulator.told("PUT", "/scenario", READ, sandbox="mine")
    before = emulator.told("GET", "/sandboxes/mine")
    reset = emulator.reset("mine")

    assert put["takes_effect_at_reset"] == ["readings"]
    assert before["readings"] == []
    assert reset["readings"] == ["D26=always-a-cursor"]


def test_the_readings_of_a_scenario_give_way_to_those_of_the_sandbox(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.make_sandbox("fixed", readings="D66=silent")

    put = emulator.told("PUT", "/scenario", READ, sandbox="fixed")
    reset = emulator.reset("fixed")

    assert put["takes_effect_at_reset"] == []
    assert reset["readings"] == ["D66=silent"]


PINNED: Json = {"seed": 3, "clock": "manual", "start": "2026-02-01T00:00:00.000Z"}
FREE_OR_PINNED = pytest.mark.parametrize(
    "options",
    [pytest.param({}, id="free"), pytest.param(PINNED, id="pinned")],
)


@FREE_OR_PINNED
def test_seed_clock_and_premade_ingredients_of_a_scenario_are_not_taken_over(
    emulator: EmulatorUnderTest,
    options: Json,
) -> None:
    before = emulator.make_sandbox("mine", **options)

    put = emulator.told("PUT", "/scenario", CLOCKED, sandbox="mine")

    sandbox = emulator.told("GET", "/sandboxes/mine")
    demo = sandbox["teams"][0]
    demo_before = before["teams"][0]
    assert put["takes_effect_at_reset"] == ["seed", "clock", "premade"]
    assert emulator.count("/poses", "iwe_demo_full_mine") == 4
    assert sandbox["clock"] == before["clock"]
    assert demo == {**demo_before, "credits": 5}


@FREE_OR_PINNED
def test_seed_clock_and_premade_ingredients_of_a_scenario_are_those_after_a_reset(
    emulator: EmulatorUnderTest,
    options: Json,
) -> None:
    before = emulator.make_sandbox("mine", **options)
    emulator.told("PUT", "/scenario", CLOCKED, sandbox="mine")

    reset = emulator.reset("mine")

    demo = reset["teams"][0]
    demo_before = before["teams"][0]
    assert reset["clock"]["now"] == "2026-03-01T00:00:00.000Z"
    assert reset["clock"]["mode"] == "auto"
    assert demo["credits"] == 5
    assert demo["id"] != demo_before["id"]
    assert emulator.count("/poses", "iwe_demo_full_mine") == 0


@FREE_OR_PINNED
def test_a_reset_after_the_end_of_a_scenario_gives_what_the_sandbox_was(
    emulator: EmulatorUnderTest,
    options: Json,
) -> None:
    before = emulator.make_sandbox("mine", **options)
    emulator.told("PUT", "/scenario", CLOCKED, sandbox="mine")
    emulator.reset("mine")

    emulator.ask("DELETE", "/scenario", sandbox="mine")
    reset = emulator.reset("mine")

    assert reset == before


@pytest.mark.parametrize("key", ["iwe_demo_full", "iwe_demo_full_mine"])
def test_keys_are_named_as_the_world_has_them_or_as_the_sandbox_has_them(
    emulator: EmulatorUnderTest,
    key: str,
) -> None:
    emulator.make_sandbox("mine")
    change = {"at": "1s", "set": {"credential": key, "state": "revoked"}}
    scenario = {"scenario": "revoke", "timeline": [change]}

    emulator.told("PUT", "/scenario", scenario, sandbox="mine")
    emulator.told("POST", "/clock/advance", {"seconds": 1}, sandbox="mine")

    in_sandbox = emulator.get("/team", "iwe_demo_full_mine")
    in_default_sandbox = emulator.get("/team")
    assert in_sandbox.status == 401
    assert in_sandbox.code == "credential_revoked"
    assert in_default_sandbox.status == 200
