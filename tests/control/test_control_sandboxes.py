"""Sandboxes: services of their own behind one base URL, each with its keys, state and clock."""

from typing import Any

import pytest

from image_workflow_emulator.service.sandbox import sandboxes
from tests.support.emulator_client import JSON, START, EmulatorUnderTest, control_call
from tests.support.state_files import something_of_everything

WORLD = {
    "teams": {"Own": {"credits": 3, "credentials": [{"key": "own"}]}},
    "premade": False,
}


@pytest.mark.emulator(public_url="https://emulator.example/base")
def test_a_new_sandbox_tells_its_public_address_keys_and_clock(
    emulator: EmulatorUnderTest,
) -> None:
    answer = emulator.ask("POST", "/sandboxes", {"id": "mine"})
    assert (answer.status, answer.headers["location"]) == (
        201,
        "/_emulator/sandboxes/mine",
    )
    sandbox = answer.json
    assert sandbox.keys() == {"id", "base_url", "env", "teams", "clock", "readings"}
    assert sandbox["env"] == {
        "IMAGE_WORKFLOW_BASE_URL": "https://emulator.example/base/v1",
        "IMAGE_WORKFLOW_API_KEY": "iwe_demo_full_mine",
        "EMULATOR_URL": "https://emulator.example/base",
        "EMULATOR_SANDBOX": "mine",
    }
    assert (sandbox["id"], sandbox["base_url"]) == (
        "mine",
        "https://emulator.example/base/v1",
    )
    assert sandbox["teams"] == emulator.told("GET", "/teams", sandbox="mine")["data"]
    assert (
        sandbox["clock"].items()
        <= emulator.told("GET", "/clock", sandbox="mine").items()
    )
    assert sandbox == emulator.told("GET", "/sandboxes/mine")
    assert (
        emulator.get("/team", sandbox["teams"][0]["credentials"][0]["key"]).json["name"]
        == "Demo"
    )


def test_sandboxes_without_an_id_are_numbered_past_those_that_are_or_were_there(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "sandbox-2"})
    bodies: list[Any] = [None, {}, {}]
    made = [emulator.told("POST", "/sandboxes", body)["id"] for body in bodies]
    assert made == ["sandbox-1", "sandbox-3", "sandbox-4"]
    listed = emulator.told("GET", "/sandboxes")["data"]  # in the order of their making
    assert [sandbox["id"] for sandbox in listed] == ["default", "sandbox-2", *made]
    emulator.ask("DELETE", "/sandboxes/sandbox-4")
    assert emulator.told("POST", "/sandboxes", {})["id"] == "sandbox-5"


@pytest.mark.emulator(
    clock="x60",
    start="2026-05-01T00:00:00.000Z",
    seed=3,
    rate_limits=False,
    world="teams: {One: {credentials: [{key: k}]}}",
)
def test_what_a_creation_does_not_say_is_as_the_process_has_it(
    emulator: EmulatorUnderTest,
) -> None:
    sandbox = emulator.told("POST", "/sandboxes", {"id": "mine"})
    assert (sandbox["clock"]["mode"], sandbox["clock"]["rate"]) == ("real", 60)
    assert sandbox["clock"]["now"].startswith("2026-05-01T00:0")
    assert [team["name"] for team in sandbox["teams"]] == [
        "Demo",
        "Other",
        "Lapsed",
        "Broke",
        "One",
    ]
    assert sandbox["teams"][-1]["id"] == emulator.team("One")["id"]
    assert {emulator.get("/team", "k_mine").status for _ in range(130)} == {200}


@pytest.mark.parametrize(
    ("body", "clock"),
    [
        ({"clock": "auto"}, (START, "auto", 1)),
        ({"clock": {"mode": "manual"}}, (START, "manual", 1)),
        (
            {
                "clock": {"mode": "real", "rate": 0.001},
                "start": "2026-02-01T00:00:00.000Z",
            },
            ("2026-02-01T00:00:00.000Z", "real", 0.001),
        ),
        (
            {"start": "2030-01-01T00:00:00.000Z"},
            ("2030-01-01T00:00:00.000Z", "manual", 1),
        ),
    ],
    ids=str,
)
def test_a_clock_is_as_its_creation_says(
    emulator: EmulatorUnderTest, body: Any, clock: tuple[str, str, float]
) -> None:
    found = emulator.told("POST", "/sandboxes", body)["clock"]
    assert (found["now"], found["mode"], found["rate"]) == clock


def test_a_sandboxs_world_seed_and_limits_are_as_its_creation_says(
    emulator: EmulatorUnderTest,
) -> None:
    body = {"id": "mine", "world": WORLD, "seed": 8, "rate_limits": False}
    sandbox = emulator.told("POST", "/sandboxes", body)
    (*_, team) = sandbox["teams"]
    assert (team["name"], team["credits"], team["credentials"][0]["key"]) == (
        "Own",
        3,
        "own_mine",
    )
    assert team["id"] != emulator.team("Demo")["id"]
    assert emulator.items("/poses", "own_mine") == []
    assert {emulator.get("/team", "own_mine").status for _ in range(130)} == {200}


THIEF = {"teams": {"T": {"credentials": [{"key": "iwe_demo"}]}}}
"""With the id `full`, its key is that of Demo in the default sandbox."""


@pytest.mark.parametrize(
    ("status", "complaint", "method", "path", "body"),
    [
        (409, "default", "POST", "/sandboxes", {"id": "default"}),
        (409, "mine", "POST", "/sandboxes", {"id": "mine"}),
        (
            409,
            "'iwe_demo_full' belongs to another sandbox",
            "POST",
            "/sandboxes",
            {"id": "full", "world": THIEF},
        ),
        (400, "default", "DELETE", "/sandboxes/default", None),
    ],
)
def test_a_taken_id_or_key_is_refused_and_the_default_sandbox_stays(
    emulator: EmulatorUnderTest,
    status: int,
    complaint: str,
    method: str,
    path: str,
    body: Any,
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    refused = emulator.refusal(method, path, body)
    assert (status, "invalid_request", True) == (*refused[:2], complaint in refused[2])
    assert emulator.get("/team").json["name"] == "Demo"
    assert emulator.ask("GET", "/sandboxes/full").status == 404


def test_there_is_a_limit_to_sandboxes(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxes, "MAX_SANDBOXES", 2)
    assert emulator.ask("POST", "/sandboxes").status == 201
    refused = emulator.refusal("POST", "/sandboxes")
    assert (409, "invalid_request", True) == (
        *refused[:2],
        "delete one first" in refused[2],
    )


def test_a_sandbox_deleted_while_a_body_comes_is_not_found(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.told("POST", "/sandboxes", {"id": "mine"})
    slow = control_call("PUT", "/clock", sandbox="mine", headers=JSON)
    slow.pieces = [b'{"mode"', b":", b'"auto"}']
    answers = emulator.together(slow, control_call("DELETE", "/sandboxes/mine"))
    assert [answer.status for answer in answers] == [404, 204]


def test_what_happens_in_a_sandbox_changes_no_byte_of_another(
    emulator: EmulatorUnderTest,
) -> None:
    key = emulator.told("POST", "/sandboxes", {"id": "aside"})["env"][
        "IMAGE_WORKFLOW_API_KEY"
    ]
    emulator.photograph(key)
    aside = emulator.ask("GET", "/state", sandbox="aside").body
    something_of_everything(emulator)
    emulator.photograph()
    assert aside == emulator.ask("GET", "/state", sandbox="aside").body
    own = emulator.ask("GET", "/state").body
    (asset,) = emulator.items("/assets", key)
    emulator.told("POST", "/clock/advance", {"seconds": 60}, sandbox="aside")
    emulator.told("DELETE", "", sandbox="aside")
    assert own == emulator.ask("GET", "/state").body
    assert 404 == emulator.fetch(asset["url"]).status
    assert (401, "authentication_required") == emulator.get("/team", key).outcome
