"""Sandboxes: services of their own behind one base URL.

Each has its keys, its state and its clock.
"""

from typing import Any

import pytest

from image_workflow_emulator.service.sandbox import sandboxes
from tests.support.emulator_client import JSON, START, control_call
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.state_files import something_of_everything

WORLD = {
    "teams": {"Own": {"credits": 3, "credentials": [{"key": "own"}]}},
    "premade": False,
}
FEBRUARY = "2026-02-01T00:00:00.000Z"


def listed(emulator: EmulatorUnderTest, query: str = "") -> list[str]:
    """The ids of the sandboxes that are listed."""
    """The ids of the sandboxes that are listed."""
    answer = emulator.told("GET", f"/sandboxes{query}")
    return [sandbox["id"] for sandbox in answer["data"]]


def make_sandboxes(emulator: EmulatorUnderTest, *ids: str) -> None:
    for identifier in ids:
        emulator.make_sandbox(identifier)


def statuses_of_reads(emulator: EmulatorUnderTest, key: str) -> set[int]:
    """Read the Team more often than a minute allows, and return the statuses."""
    statuses = set()
    for _ in range(130):
        answer = emulator.get("/team", key)
        statuses.add(answer.status)
    return statuses


# New ones ----------------------------------------------------------------------------


@pytest.mark.emulator(public_url="https://emulator.example/base")
def test_a_new_sandbox_tells_the_variables_for_its_clients(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("POST", "/sandboxes", {"id": "mine"})

    assert answer.status == 201
    assert answer.headers["location"] == "/_emulator/sandboxes/mine"
    assert answer.json["base_url"] == "https://emulator.example/base/v1"
    assert answer.json["env"] == {
        "IMAGE_WORKFLOW_BASE_URL": "https://emulator.example/base/v1",
        "IMAGE_WORKFLOW_API_KEY": "iwe_demo_full_mine",
        "EMULATOR_URL": "https://emulator.example/base",
        "EMULATOR_SANDBOX": "mine",
    }


def test_a_new_sandbox_is_shown_as_it_is_read(emulator: EmulatorUnderTest) -> None:
    sandbox = emulator.make_sandbox("mine")

    clock = emulator.told("GET", "/clock", sandbox="mine")
    teams = emulator.told("GET", "/teams", sandbox="mine")
    read_again = emulator.told("GET", "/sandboxes/mine")
    assert list(sandbox) == ["id", "base_url", "env", "teams", "clock", "readings"]
    assert sandbox["id"] == "mine"
    assert sandbox["teams"] == teams["data"]
    assert sandbox["clock"].items() <= clock.items()
    assert sandbox == read_again


def test_a_key_of_a_new_sandbox_is_accepted(emulator: EmulatorUnderTest) -> None:
    sandbox = emulator.make_sandbox("mine")
    demo = sandbox["teams"][0]
    credential = demo["credentials"][0]

    team = emulator.get("/team", credential["key"])

    assert team.json["name"] == "Demo"


OURS = "{key: ours, name: Full, profile: full}"
READER = "{key: reader, profile: read_only}"


@pytest.mark.parametrize(
    ("credential", "key"),
    [
        pytest.param(OURS, "ours", id="an active one"),
        pytest.param(READER, "iwe_demo_full", id="a revoked one alone"),
    ],
)
def test_the_key_for_clients_is_the_first_full_one_of_demo_if_possible_active(
    make_emulator: MakeEmulator,
    credential: str,
    key: str,
) -> None:
    world = f"""
teams:
  Demo:
    credentials:
      - {{key: iwe_demo_full, state: revoked}}
      - {credential}
  Other:
    credentials:
      - {{key: theirs, name: Full, profile: full}}
"""
    emulator = make_emulator(world=world)

    sandbox = emulator.told("GET", "/sandboxes/default")

    assert sandbox["env"]["IMAGE_WORKFLOW_API_KEY"] == key


@pytest.mark.parametrize("body", [None, {}])
def test_sandboxes_without_an_id_are_numbered_past_those_that_are_there(
    emulator: EmulatorUnderTest,
    body: Any,
) -> None:
    make_sandboxes(emulator, "sandbox-2")

    first = emulator.told("POST", "/sandboxes", body)
    second = emulator.told("POST", "/sandboxes", body)

    assert first["id"] == "sandbox-1"
    assert second["id"] == "sandbox-3"


def test_the_number_of_a_deleted_sandbox_is_not_used_again(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/sandboxes", {})
    emulator.told("DELETE", "/sandboxes/sandbox-1")

    sandbox = emulator.told("POST", "/sandboxes", {})

    assert sandbox["id"] == "sandbox-2"


@pytest.mark.emulator(clock="x60", start="2026-05-01T00:00:00.000Z")
def test_a_clock_is_as_the_process_has_it_unless_a_creation_says_otherwise(
    emulator: EmulatorUnderTest,
) -> None:
    sandbox = emulator.make_sandbox("mine")

    clock = sandbox["clock"]
    assert clock["mode"] == "real"
    assert clock["rate"] == 60
    assert clock["now"].startswith("2026-05-01T00:0")


@pytest.mark.emulator(seed=3, world="teams: {One: {credentials: [{key: k}]}}")
def test_world_and_seed_are_those_of_the_process_unless_a_creation_says_otherwise(
    emulator: EmulatorUnderTest,
) -> None:
    sandbox = emulator.make_sandbox("mine")

    teams = {team["name"]: team["id"] for team in sandbox["teams"]}
    in_default_sandbox = emulator.team("One")
    assert list(teams) == ["Demo", "Other", "Lapsed", "Broke", "One"]
    assert teams["One"] == in_default_sandbox["id"]


@pytest.mark.emulator(rate_limits=False)
def test_rates_are_limited_as_in_the_process_unless_a_creation_says_otherwise(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "mine")

    statuses = statuses_of_reads(emulator, "iwe_demo_full_mine")

    assert statuses == {200}


@pytest.mark.parametrize(
    ("body", "now", "mode", "rate"),
    [
        pytest.param({"clock": "auto"}, START, "auto", 1, id="mode alone"),
        pytest.param({"clock": {"mode": "manual"}}, START, "manual", 1, id="object"),
        pytest.param(
            {"clock": {"mode": "real", "rate": 0.001}, "start": FEBRUARY},
            FEBRUARY,
            "real",
            0.001,
            id="mode, rate and start",
        ),
        pytest.param({"start": FEBRUARY}, FEBRUARY, "manual", 1, id="start alone"),
    ],
)
def test_a_clock_is_as_its_creation_says(
    emulator: EmulatorUnderTest,
    body: Any,
    now: str,
    mode: str,
    rate: float,
) -> None:
    sandbox = emulator.told("POST", "/sandboxes", body)

    clock = sandbox["clock"]
    assert clock["now"] == now
    assert clock["mode"] == mode
    assert clock["rate"] == rate


def test_a_world_and_a_seed_are_as_a_creation_says(emulator: EmulatorUnderTest) -> None:
    body = {"id": "mine", "world": WORLD, "seed": 8}

    sandbox = emulator.told("POST", "/sandboxes", body)

    *_, own = sandbox["teams"]
    (credential,) = own["credentials"]
    demo_in_default_sandbox = emulator.team("Demo")
    assert own["name"] == "Own"
    assert own["credits"] == 3
    assert credential["key"] == "own_mine"
    assert own["id"] != demo_in_default_sandbox["id"]
    assert emulator.items("/poses", "own_mine") == []


def test_rates_are_limited_as_a_creation_says(emulator: EmulatorUnderTest) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine", "rate_limits": False})

    statuses = statuses_of_reads(emulator, "iwe_demo_full_mine")

    assert statuses == {200}


THIEF = {"teams": {"T": {"credentials": [{"key": "iwe_demo"}]}}}
"""With the id `full`, its key is that of Demo in the default sandbox."""


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"id": "default"}, "'default' exists already"),
        ({"id": "mine"}, "'mine' exists already"),
        ({"id": "full", "world": THIEF}, "'iwe_demo_full' belongs to another sandbox"),
    ],
)
def test_a_taken_id_or_key_is_refused(
    emulator: EmulatorUnderTest,
    body: Any,
    complaint: str,
) -> None:
    make_sandboxes(emulator, "mine")

    answer = emulator.ask("POST", "/sandboxes", body)

    assert answer.status == 409
    assert answer.code == "invalid_request"
    assert complaint in answer.json["detail"]
    assert listed(emulator) == ["default", "mine"]
    assert emulator.get("/team").json["name"] == "Demo"


def test_the_number_of_sandboxes_is_limited(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandboxes, "MAX_SANDBOXES", 2)
    make_sandboxes(emulator, "mine")

    answer = emulator.ask("POST", "/sandboxes")

    assert answer.status == 409
    assert answer.code == "invalid_request"
    assert "delete one first" in answer.json["detail"]


# The list ----------------------------------------------------------------------------


def test_sandboxes_are_listed_in_the_order_of_their_making(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "b", "a")

    assert listed(emulator) == ["default", "b", "a"]


def test_a_list_has_as_many_sandboxes_as_it_is_asked_for(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "b", "a")

    answer = emulator.told("GET", "/sandboxes?limit=2")

    ids = [sandbox["id"] for sandbox in answer["data"]]
    assert ids == ["default", "b"]
    assert answer["total"] == 3


def test_a_list_has_a_hundred_sandboxes_unless_it_is_asked_for_more(
    emulator: EmulatorUnderTest,
) -> None:
    for _ in range(100):
        emulator.told("POST", "/sandboxes", {"world": WORLD})

    first_page = listed(emulator)
    all_sandboxes = listed(emulator, "?limit=1000")

    assert len(first_page) == 100
    assert len(all_sandboxes) == 101


def test_a_list_continues_behind_a_sandbox(emulator: EmulatorUnderTest) -> None:
    make_sandboxes(emulator, "b", "a")

    assert listed(emulator, "?after=default&limit=1") == ["b"]
    assert listed(emulator, "?after=b") == ["a"]
    assert listed(emulator, "?after=a") == []


# Deletion ----------------------------------------------------------------------------


def test_the_default_sandbox_cannot_be_deleted(emulator: EmulatorUnderTest) -> None:
    answer = emulator.ask("DELETE", "/sandboxes/default")

    assert answer.status == 400
    assert answer.code == "invalid_request"
    assert "the default sandbox always exists" in answer.json["detail"]
    assert emulator.get("/team").status == 200


def test_a_sandbox_deleted_while_a_body_comes_is_not_found(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "mine")
    slow = control_call("PUT", "/clock", sandbox="mine", headers=JSON)
    slow.pieces = [b'{"mode"', b":", b'"auto"}']

    deletion = control_call("DELETE", "/sandboxes/mine")

    answer, deleted = emulator.together(slow, deletion)

    assert answer.status == 404
    assert deleted.status == 204


def test_keys_and_links_of_a_deleted_sandbox_lead_nowhere(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "aside")
    emulator.photograph("iwe_demo_full_aside")
    (asset,) = emulator.items("/assets", "iwe_demo_full_aside")

    emulator.told("DELETE", "/sandboxes/aside")

    team = emulator.get("/team", "iwe_demo_full_aside")
    picture = emulator.fetch(asset["url"])
    assert team.status == 401
    assert team.code == "authentication_required"
    assert picture.status == 404


def test_what_happens_in_the_default_sandbox_changes_no_byte_of_another(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "aside")
    emulator.photograph("iwe_demo_full_aside")
    before = emulator.ask("GET", "/state", sandbox="aside")

    something_of_everything(emulator)

    after = emulator.ask("GET", "/state", sandbox="aside")
    assert after.body == before.body


def test_what_happens_to_another_sandbox_changes_no_byte_of_the_default_one(
    emulator: EmulatorUnderTest,
) -> None:
    make_sandboxes(emulator, "aside")
    emulator.photograph("iwe_demo_full_aside")
    something_of_everything(emulator)
    before = emulator.ask("GET", "/state")

    emulator.told("POST", "/clock/advance", {"seconds": 60}, sandbox="aside")
    emulator.told("DELETE", "/sandboxes/aside")

    after = emulator.ask("GET", "/state")
    assert after.body == before.body


# A state that cannot be settled ------------------------------------------------------


@pytest.fixture
def broken(emulator: EmulatorUnderTest) -> EmulatorUnderTest:
    """An emulator with a sandbox `bad`, in which work that is gone falls due."""
    make_sandboxes(emulator, "bad", "good")
    sandbox = emulator.application.sandboxes.by_id["bad"]
    for _ in range(10):  # each look at the sandbox takes one
        sandbox.timeline.schedule(sandbox.clock.now(), "operation_started", "op_gone")
    return emulator


def test_a_sandbox_that_cannot_be_settled_hides_no_other(
    broken: EmulatorUnderTest,
) -> None:
    answer = broken.told("GET", "/sandboxes")

    teams = {sandbox["id"]: sandbox["teams"] for sandbox in answer["data"]}
    assert list(teams) == ["default", "bad", "good"]
    assert teams["bad"] == []
    assert teams["good"] != []


def test_the_process_answers_whatever_the_state_of_the_default_sandbox_is(
    emulator: EmulatorUnderTest,
) -> None:
    sandbox = emulator.application.sandboxes.default
    sandbox.timeline.schedule(sandbox.clock.now(), "operation_started", "op_gone")

    for path in ("/health", "/contract", "/docs", ""):
        answer = emulator.ask("GET", path)
        assert answer.status == 200


def test_a_sandbox_that_cannot_be_settled_can_be_reset(
    broken: EmulatorUnderTest,
) -> None:
    answer = broken.ask("POST", "/reset", sandbox="bad")

    assert answer.status == 200
    assert broken.get("/team", "iwe_demo_full_bad").status == 200


def test_a_sandbox_that_cannot_be_settled_can_be_deleted(
    broken: EmulatorUnderTest,
) -> None:
    answer = broken.ask("DELETE", "/sandboxes/bad")

    assert answer.status == 204
    assert listed(broken) == ["default", "good"]


def test_a_state_can_be_loaded_in_place_of_one_that_cannot_be_settled(
    broken: EmulatorUnderTest,
) -> None:
    file = broken.ask("GET", "/state").body

    answer = broken.ask("PUT", "/state", sandbox="bad", content=file)

    assert answer.status == 200
    assert broken.get("/team", "iwe_demo_full_bad").status == 200
