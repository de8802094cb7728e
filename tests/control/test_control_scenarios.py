"""Scenarios over the control plane: loaded whole or not at all, shown, and ended."""

import json
from typing import Any

import pytest

from image_workflow_emulator.domain.problems import CATALOGUE
from tests.support.emulator_client import FULL, OTHER, UPLOAD, Json, control_call
from tests.support.emulator_under_test import EmulatorUnderTest

NOTHING: Json = {
    "scenario": None,
    "description": None,
    "team": None,
    "began_at": None,
    "rules": [],
    "timeline": [],
    "text": None,
    "file": None,
    "team_scenarios": [],
}
"""What is shown where no scenario runs."""
FAILING = """\
scenario: reads fail
description: Each second read of the Team fails.
rules:
  - name: second
    match: {operation: getTeam}
    when: {nth: every 2}
    then: {problem: internal_error}
"""
PAUSE = """\
scenario: pause
timeline:
  - {at: 10s, set: {admission: paused, retry_after: 7}}
  - {at: 20s, set: {admission: open}}
"""
PAUSE_OF_FAILING = PAUSE.partition("\n")[2]
"""The timeline of `pause`, for another scenario."""
REOPEN = b"{scenario: open, timeline: [{at: 0s, set: {admission: open}}]}"
"""The scenario that the README names for ending a pause."""


def read_statuses(
    emulator: EmulatorUnderTest,
    key: str = FULL,
    count: int = 4,
) -> list[int]:
    return [emulator.get("/team", key).status for _ in range(count)]


# Loaded ------------------------------------------------------------------------------


def test_a_scenario_is_put_as_yaml(emulator: EmulatorUnderTest) -> None:
    emulator.advance(5)

    shown = emulator.told(
        "PUT",
        "/scenario",
        content=FAILING.encode(),
        headers={"Content-Type": "application/yaml"},
    )

    assert shown == {
        "scenario": "reads fail",
        "description": "Each second read of the Team fails.",
        "team": None,
        "began_at": "2026-01-01T00:00:05.000Z",
        "rules": [{"name": "second", "matched": 0, "fired": 0}],
        "timeline": [],
        "text": FAILING,
        "file": "scenario",
        "takes_effect_at_reset": [],
    }


def test_a_rule_acts_and_counts_what_it_matched(emulator: EmulatorUnderTest) -> None:
    emulator.use(FAILING)

    statuses = read_statuses(emulator)

    rules = emulator.told("GET", "/scenario")["rules"]
    assert statuses == [200, 500, 200, 500]
    assert rules == [{"name": "second", "matched": 4, "fired": 2}]


def library(emulator: EmulatorUnderTest) -> list[Json]:
    return list(emulator.told("GET", "/scenarios")["data"])


def test_the_library_lists_its_files_and_then_a_scenario_for_each_problem(
    emulator: EmulatorUnderTest,
) -> None:
    names = [entry["name"] for entry in library(emulator)]

    files = [name for name in names if ":" not in name]
    problems = [f"problem:{code}" for code in CATALOGUE]

    assert names == [*sorted(files), *problems]


def test_each_scenario_of_the_library_can_run_by_its_name(
    emulator: EmulatorUnderTest,
) -> None:
    for entry in library(emulator):
        as_json = json.dumps({"use": entry["name"]})
        as_yaml = f"use: {entry['name']}\n"
        for text in (as_json, as_yaml):
            shown = emulator.use(text)

            assert shown["scenario"] == entry["name"]
            assert shown["description"] == entry["description"]


def test_each_scenario_of_the_library_has_a_description(
    emulator: EmulatorUnderTest,
) -> None:
    for entry in library(emulator):
        assert entry["description"], entry["name"]


def test_the_text_of_a_scenario_of_the_library_is_shown(
    emulator: EmulatorUnderTest,
) -> None:
    scenario = emulator.told("GET", "/scenarios/some-outputs-fail")

    assert "scenario: some-outputs-fail" in scenario["text"]


def test_a_name_that_is_not_in_the_library_is_404(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("GET", "/scenarios/none-such")

    assert answer.status == 404
    assert answer.code == "not_found"


# Refused -----------------------------------------------------------------------------

TWO_MISTAKES = b"""\
scenario: x
rules:
  - match: {operation: getTeams}
    then: {problem: nonsense}
"""
UNKNOWN_TEAM = b"scenario: x\nworld: {teams: {Nobody: {credits: 1}}}\n"
UNKNOWN_KEY = b"""\
scenario: x
timeline: [{at: 1s, set: {credential: nokey, state: revoked}}]
"""
THIEF = b"""\
scenario: thief
world: {teams: {New: {credentials: [{key: iwe_demo_full_mine}]}}}
"""
"""It takes the key of the sandbox `mine`."""

INVALID: list[tuple[bytes, str]] = [
    (TWO_MISTAKES, "scenario:3:24:"),
    (TWO_MISTAKES, "scenario:4:21:"),
    (b"- a", "found an array of 1; expected an object"),
    (UNKNOWN_TEAM, '"Nobody"'),
    (UNKNOWN_KEY, '"nokey"'),
    (b'{"use": "no-such-scenario"}', "no-such-scenario"),
    (b'{"use": "\\ud800"}', "found invalid Unicode character escape"),
    (b'{"use": "problem:not_fond"}', 'did you mean "problem:not_found"?'),
    (b'{"use": 7}', "/use: found an unknown field"),
    (THIEF, "another sandbox"),
]
"""Scenarios that cannot be used, and a part of the complaint."""
NO_SCENARIO: list[tuple[bytes, int]] = [
    (b"", 400),
    (b" \n", 400),
    (b"#" * (1024 * 1024 + 1), 413),
]
"""Bodies that hold no scenario, and the status of their refusal."""


@pytest.mark.parametrize(("content", "complaint"), INVALID)
def test_a_bad_scenario_is_refused_with_its_mistakes(
    emulator: EmulatorUnderTest,
    content: bytes,
    complaint: str,
) -> None:
    emulator.make_sandbox("mine")

    answer = emulator.ask("PUT", "/scenario", content=content)

    assert answer.status == 422
    assert answer.code == "invalid_scenario"
    assert complaint in answer.json["detail"]


@pytest.mark.parametrize(
    ("content", "status"),
    NO_SCENARIO,
    ids=["nothing", "a line end", "over 1 MiB"],
)
def test_a_body_that_holds_no_scenario_is_refused(
    emulator: EmulatorUnderTest,
    content: bytes,
    status: int,
) -> None:
    answer = emulator.ask("PUT", "/scenario", content=content)

    assert answer.status == status
    assert answer.code == "invalid_request"


BAD = {content: repr(content[:60]) for content, _ in [*INVALID, *NO_SCENARIO]}


@pytest.mark.parametrize("content", BAD, ids=BAD.values())
def test_a_bad_scenario_leaves_the_running_one_as_it_is(
    emulator: EmulatorUnderTest,
    content: bytes,
) -> None:
    emulator.make_sandbox("mine")
    emulator.use(FAILING + PAUSE_OF_FAILING)
    emulator.get("/team")
    paths = ("/scenario", "/clock", "/teams")
    before = [emulator.told("GET", path) for path in paths]

    emulator.ask("PUT", "/scenario", content=content)

    after = [emulator.told("GET", path) for path in paths]
    second_read = emulator.get("/team")
    emulator.advance(10)
    paused = emulator.post("/uploads", UPLOAD)

    assert after == before
    assert second_read.status == 500
    assert paused.status == 503
    assert paused.code == "service_unavailable"


# Files -------------------------------------------------------------------------------


def test_a_complaint_cites_the_file_that_a_scenario_is_said_to_be(
    emulator: EmulatorUnderTest,
) -> None:
    content = b"scenario: x\nrule: []\n"

    answer = emulator.ask("PUT", "/scenario?file=mine.yaml", content=content)

    assert answer.json["detail"].startswith("mine.yaml:2:1:")


def test_a_rule_cites_the_file_that_its_scenario_is_said_to_be(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.use(FAILING, "/scenario?file=mine.yaml")

    read_statuses(emulator, count=2)

    (entry,) = emulator.told("GET", "/requests?limit=1")["data"]
    assert entry["rule"]["file"] == "mine.yaml"


def test_a_file_without_a_name_is_refused(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("PUT", "/scenario?file=", content=FAILING.encode())

    assert answer.status == 400
    assert answer.code == "invalid_request"


# The timeline ------------------------------------------------------------------------

TIMELINE = """\
scenario: timeline
timeline:
  - {at: 10s, set: {admission: paused, retry_after: 7}}
  - {at: 1.5s, set: {credential: iwe_demo_full, expires_at: 2026-02-01T00:00:00.000Z}}
  - {at: 30s, set: {team: Demo, credits: 0}}
"""


def test_a_timeline_is_shown_in_its_order_in_time_with_lines(
    emulator: EmulatorUnderTest,
) -> None:
    expiry = {
        "credential": "iwe_demo_full",
        "expires_at": "2026-02-01T00:00:00.000Z",
    }
    paused = {"admission": "paused", "retry_after": 7}

    timeline = emulator.use(TIMELINE)["timeline"]

    assert timeline == [
        {"at": "1.5s", "set": expiry, "line": 4, "done_at": None},
        {"at": "10s", "set": paused, "line": 3, "done_at": None},
        {
            "at": "30s",
            "set": {"team": "Demo", "credits": 0},
            "line": 5,
            "done_at": None,
        },
    ]


def test_a_timeline_shows_when_each_change_was_made(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.advance(100)
    emulator.use(TIMELINE)
    emulator.advance(10)

    timeline = emulator.told("GET", "/scenario")["timeline"]

    assert [change["done_at"] for change in timeline] == [
        "2026-01-01T00:01:41.500Z",
        "2026-01-01T00:01:50.000Z",
        None,
    ]


# Ended -------------------------------------------------------------------------------

END = {
    "ended": control_call("DELETE", "/scenario"),
    "replaced": control_call("PUT", "/scenario", content=b"scenario: another"),
}
UNDO = {
    "a reset": control_call("POST", "/reset"),
    "a scenario": control_call("PUT", "/scenario", content=REOPEN),
}


@pytest.mark.parametrize("end", END)
@pytest.mark.parametrize("undo", UNDO)
def test_a_pause_outlives_its_scenario(
    emulator: EmulatorUnderTest,
    end: str,
    undo: str,
) -> None:
    emulator.use(PAUSE)
    emulator.advance(10)

    emulator.send(END[end])
    emulator.advance(60)
    paused = emulator.post("/uploads", UPLOAD)
    undone = emulator.send(UNDO[undo])

    assert paused.status == 503
    assert paused.code == "service_unavailable"
    assert undone.status == 200
    assert emulator.post("/uploads", UPLOAD).status == 201


def test_a_scenario_that_is_read_while_the_sandbox_is_reset_does_not_run(
    emulator: EmulatorUnderTest,
) -> None:
    late = {"scenario": "late", "description": "a large one " * 500}

    put, _ = emulator.together(
        control_call("PUT", "/scenario", late),
        control_call("POST", "/reset"),
    )

    assert put.status == 409
    assert put.code == "invalid_request"
    assert emulator.told("GET", "/scenario") == NOTHING


# The scenario of one Team ------------------------------------------------------------


@pytest.fixture(params=["name", "id"])
def path_of_demo(emulator: EmulatorUnderTest, request: pytest.FixtureRequest) -> str:
    """The path of Demo's own scenario, by the name or the id of the Team."""
    return f"/scenario?team={emulator.team()[request.param]}"


def test_a_scenario_of_one_team_is_shown_with_the_team(
    emulator: EmulatorUnderTest,
    path_of_demo: str,
) -> None:
    shown = emulator.use(FAILING, path_of_demo)

    assert shown["scenario"] == "reads fail"
    assert shown["team"] == emulator.team()["id"]


def test_a_scenario_of_one_team_acts_on_its_requests_alone(
    emulator: EmulatorUnderTest,
    path_of_demo: str,
) -> None:
    emulator.use(FAILING, path_of_demo)

    of_demo = read_statuses(emulator)
    of_other = read_statuses(emulator, OTHER)

    assert of_demo == [200, 500, 200, 500]
    assert of_other == [200, 200, 200, 200]
    assert emulator.told("GET", path_of_demo)["rules"][0]["fired"] == 2


def test_the_scenarios_of_teams_are_listed_beside_that_of_the_sandbox(
    emulator: EmulatorUnderTest,
    path_of_demo: str,
) -> None:
    emulator.use(FAILING, path_of_demo)

    shown = emulator.told("GET", "/scenario")

    demo = {"id": emulator.team()["id"], "name": "Demo"}
    own = {"team": demo, "scenario": "reads fail"}

    assert shown == NOTHING | {"team_scenarios": [own]}


def test_the_end_of_the_sandboxs_scenario_leaves_that_of_a_team(
    emulator: EmulatorUnderTest,
    path_of_demo: str,
) -> None:
    emulator.use(FAILING, path_of_demo)

    answer = emulator.ask("DELETE", "/scenario")

    assert answer.status == 204
    assert emulator.told("GET", path_of_demo)["scenario"] == "reads fail"


def test_the_scenario_of_one_team_is_ended(
    emulator: EmulatorUnderTest,
    path_of_demo: str,
) -> None:
    emulator.use(FAILING, path_of_demo)

    answer = emulator.ask("DELETE", path_of_demo)

    assert answer.status == 204
    assert read_statuses(emulator) == [200, 200, 200, 200]


def use_for_team(emulator: EmulatorUnderTest, team: str) -> None:
    """Use a scenario for one Team, which also sets its Credits to 5."""
    world: Any = {"teams": {team: {"credits": 5}}}
    emulator.use(f"{FAILING}world: {json.dumps(world)}\n", f"/scenario?team={team}")


def test_a_teams_scenario_is_loaded_again_at_a_reset(
    emulator: EmulatorUnderTest,
) -> None:
    use_for_team(emulator, "Demo")

    emulator.reset()

    assert emulator.credits() == 5
    assert read_statuses(emulator, count=2) == [500, 200]


def test_the_scenario_of_a_team_that_a_reset_removes_goes_with_it(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/teams", {"name": "Passing"})
    use_for_team(emulator, "Passing")

    emulator.reset()

    answer = emulator.ask("GET", "/scenario?team=Passing")
    assert answer.status == 404
    assert answer.code == "not_found"
