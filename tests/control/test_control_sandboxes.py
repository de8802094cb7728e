"""Sandboxes: services of their own behind one base URL, each with its keys, state and clock."""

from typing import Any

import pytest

from emulator.service.sandboxes import MAXIMUM_SANDBOXES
from tests.support.emulator_client import FULL, START, Call, EmulatorUnderTest, control_call
from tests.support.pictures import picture

WORLD = {"teams": {"Own": {"credits": 3, "credentials": [{"key": "own"}]}}, "premade": False}


def test_a_new_sandbox_tells_its_address_keys_and_clock(control: EmulatorUnderTest) -> None:
    answer = control.ask("POST", "/sandboxes", {"id": "mine"})
    assert answer.status == 201
    assert answer.headers["location"] == "/_emulator/sandboxes/mine"
    sandbox = answer.json
    assert sandbox.keys() == {"id", "base_url", "env", "teams", "clock", "dropped"}
    assert sandbox["env"] == {
        "IMAGE_WORKFLOW_BASE_URL": "http://emulator.test/v1",
        "IMAGE_WORKFLOW_API_KEY": "iwe_demo_full_mine",
        "EMULATOR_URL": "http://emulator.test",
        "EMULATOR_SANDBOX": "mine",
    }
    assert (sandbox["id"], sandbox["base_url"]) == ("mine", "http://emulator.test/v1")
    assert sandbox["teams"] == control.told("GET", "/teams", sandbox="mine")["data"]
    assert sandbox["clock"].items() <= control.told("GET", "/clock", sandbox="mine").items()
    assert sandbox == control.told("GET", "/sandboxes/mine")
    key = sandbox["teams"][0]["credentials"][0]["key"]
    assert key == "iwe_demo_full_mine"
    assert control.get("/team", key).json["name"] == "Demo"


def test_a_sandbox_may_be_asked_for_without_a_body(control: EmulatorUnderTest) -> None:
    assert control.told("POST", "/sandboxes")["id"] == "sandbox-1"


@pytest.mark.emulator(public_url="https://emulator.example/base")
def test_the_base_url_is_the_public_one(control: EmulatorUnderTest) -> None:
    assert control.told("POST", "/sandboxes", {})["base_url"] == "https://emulator.example/base/v1"


def test_sandboxes_without_an_id_are_numbered_past_those_that_are_there(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {"id": "sandbox-2"})
    assert [control.told("POST", "/sandboxes", {})["id"] for _ in range(3)] == ["sandbox-1", "sandbox-3", "sandbox-4"]


def test_a_deleted_sandboxs_number_is_not_given_again(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {})
    control.ask("DELETE", "/sandboxes/sandbox-1")
    assert control.told("POST", "/sandboxes", {})["id"] == "sandbox-2"


def test_sandboxes_are_listed_in_the_order_of_their_making(control: EmulatorUnderTest) -> None:
    for identifier in ("b", "a"):
        control.told("POST", "/sandboxes", {"id": identifier})
    listed = control.told("GET", "/sandboxes")["data"]
    assert [sandbox["id"] for sandbox in listed] == ["default", "b", "a"]
    assert listed[0] == control.told("GET", "/sandboxes/default")


@pytest.mark.parametrize("identifier", ["a", "0", "a-b-", "a" * 40])
def test_these_are_ids(control: EmulatorUnderTest, identifier: str) -> None:
    assert control.told("POST", "/sandboxes", {"id": identifier})["id"] == identifier


@pytest.mark.emulator(
    clock="x60",
    start="2026-05-01T00:00:00.000Z",
    seed=3,
    rate_limits=False,
    world="teams: {One: {credentials: [{key: k}]}}",
)
def test_what_a_creation_does_not_say_is_as_the_process_has_it(control: EmulatorUnderTest) -> None:
    sandbox = control.told("POST", "/sandboxes", {"id": "mine"})
    assert (sandbox["clock"]["mode"], sandbox["clock"]["rate"]) == ("real", 60)
    assert sandbox["clock"]["now"].startswith("2026-05-01T00:0")
    assert [team["name"] for team in sandbox["teams"]] == ["Demo", "Other", "Lapsed", "Broke", "One"]
    assert sandbox["teams"][-1]["id"] == control.team("One")["id"]
    assert {control.get("/team", "k_mine").status for _ in range(130)} == {200}


@pytest.mark.parametrize(
    ("body", "clock"),
    [
        ({"clock": "auto"}, (START, "auto", 1)),
        ({"clock": {"mode": "manual"}}, (START, "manual", 1)),
        ({"clock": {"mode": "real", "rate": 0.001}, "start": "2026-02-01T00:00:00.000Z"},
         ("2026-02-01T00:00:00.000Z", "real", 0.001)),
        ({"start": "2030-01-01T00:00:00.000Z"}, ("2030-01-01T00:00:00.000Z", "manual", 1)),
    ],
    ids=str,
)  # fmt: skip
def test_a_sandboxs_clock_is_as_its_creation_says(
    control: EmulatorUnderTest, body: Any, clock: tuple[str, str, float]
) -> None:
    found = control.told("POST", "/sandboxes", body)["clock"]
    assert (found["now"], found["mode"], found["rate"]) == clock


def test_a_sandboxs_world_seed_and_limits_are_as_its_creation_says(control: EmulatorUnderTest) -> None:
    body = {"id": "mine", "world": WORLD, "seed": 8, "rate_limits": False}
    sandbox = control.told("POST", "/sandboxes", body)
    (*_, team) = sandbox["teams"]
    assert (team["name"], team["credits"], team["credentials"][0]["key"]) == ("Own", 3, "own_mine")
    assert team["id"] != control.team("Demo")["id"]
    assert control.items("/poses", "own_mine") == []
    assert {control.get("/team", "own_mine").status for _ in range(130)} == {200}


@pytest.mark.parametrize("switch", ["on", True])
def test_rate_limits_are_on_if_said_so(control: EmulatorUnderTest, switch: Any) -> None:
    control.told("POST", "/sandboxes", {"id": "mine", "rate_limits": switch})
    assert control.get("/team", "iwe_demo_full_mine").status == 200
    control.told("PATCH", "/teams/Demo", {"requests_per_minute": 1}, sandbox="mine")
    assert control.get("/team", "iwe_demo_full_mine").status == 429


def test_an_id_that_is_taken_is_refused(control: EmulatorUnderTest) -> None:
    for identifier in ("default", "mine"):
        control.ask("POST", "/sandboxes", {"id": identifier})
        status, code, detail = control.refusal("POST", "/sandboxes", {"id": identifier})
        assert (status, code) == (409, "invalid_request")
        assert identifier in detail


def test_a_key_that_another_sandbox_has_is_refused(control: EmulatorUnderTest) -> None:
    body = {"id": "full", "world": {"teams": {"T": {"credentials": [{"key": "iwe_demo"}]}}}}
    status, code, detail = control.refusal("POST", "/sandboxes", body)
    assert (status, code) == (409, "invalid_request")
    assert "'iwe_demo_full' belongs to another sandbox" in detail
    assert control.get("/team").json["name"] == "Demo"
    assert control.ask("GET", "/sandboxes/full").status == 404


@pytest.mark.slow
def test_there_is_a_limit_to_sandboxes(control: EmulatorUnderTest) -> None:
    tiny = {"teams": {"T": {"credentials": [{"key": "k"}]}}, "premade": False}
    for _ in range(MAXIMUM_SANDBOXES - 1):
        assert control.ask("POST", "/sandboxes", {"world": tiny}).status == 201
    status, code, detail = control.refusal("POST", "/sandboxes", {"world": tiny})
    assert (status, code) == (409, "invalid_request")
    assert "delete one first" in detail


def test_sandboxes_share_nothing(control: EmulatorUnderTest) -> None:
    for identifier in ("a", "b"):
        control.told("POST", "/sandboxes", {"id": identifier})
    keys = {"a": "iwe_demo_full_a", "b": "iwe_demo_full_b", "default": FULL}
    control.upload(picture(), key=keys["a"])
    control.told("PATCH", "/teams/Demo", {"credits": 1}, sandbox="a")
    control.told("POST", "/clock/advance", {"seconds": 5}, sandbox="a")
    for other in ("b", "default"):
        assert control.items("/assets", keys[other]) == []
        assert control.credits(keys[other]) == 100
        assert control.clock_now(other) == START


def test_sandboxes_of_one_seed_give_the_same_answers_but_for_keys_and_links(control: EmulatorUnderTest) -> None:
    answers = []
    for identifier in ("a", "b"):
        control.told("POST", "/sandboxes", {"id": identifier, "seed": 5})
        key = f"iwe_demo_full_{identifier}"
        asset = control.upload(picture(), key=key)
        answers.append([control.get("/team", key).json, asset["id"], control.get("/poses", key).json["data"][0]["id"]])
    assert answers[0] == answers[1]


def test_a_deleted_sandbox_is_gone_with_its_keys_and_memory(control: EmulatorUnderTest) -> None:
    held_before = control.application.sandboxes.memory.held_bytes
    control.told("POST", "/sandboxes", {"id": "mine"})
    asset = control.upload(picture(), key="iwe_demo_full_mine")
    answer = control.ask("DELETE", "/sandboxes/mine")
    assert (answer.status, answer.body) == (204, b"")
    assert control.get("/team", "iwe_demo_full_mine").outcome == (401, "authentication_required")
    assert control.fetch(asset["url"]).status == 404
    assert control.ask("GET", "/sandboxes/mine").outcome == (404, "not_found")
    assert control.ask("DELETE", "/sandboxes/mine").outcome == (404, "not_found")
    assert control.application.sandboxes.memory.held_bytes == held_before
    assert control.told("POST", "/sandboxes", {"id": "mine"})["id"] == "mine"


def test_the_default_sandbox_stays(control: EmulatorUnderTest) -> None:
    assert control.refusal("DELETE", "/sandboxes/default")[:2] == (400, "invalid_request")
    assert control.get("/team").status == 200


def test_a_sandbox_deleted_while_a_body_comes_is_not_found(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {"id": "mine"})
    slow = control_call("PUT", "/clock", sandbox="mine", headers={"Content-Type": "application/json"})
    slow.pieces = [b'{"mode"', b":", b'"auto"}']
    answers = control.together(slow, control_call("DELETE", "/sandboxes/mine"))
    assert [answer.status for answer in answers] == [404, 204]


# Reset --------------------------------------------------------------------------------------------------------------


def _story(control: EmulatorUnderTest) -> list[Any]:
    """Do this and that, and return all that was answered."""
    asset = control.upload(picture())
    work = control.post(
        "/generations/upscale", {"asset_id": asset["id"], "target_resolution": "2k", "output_format": "png"}
    ).json
    team = control.told("POST", "/teams", {"name": "New"})
    moved = control.told("POST", "/clock/advance", {"until_idle": True})
    return [asset, work, team, moved, control.wait_for(work), control.get("/team").raw_headers]


def test_a_reset_is_back_at_the_start_and_the_same_story_follows(control: EmulatorUnderTest) -> None:
    first = _story(control)
    control.told("PUT", "/clock", {"mode": "auto"})
    control.told("PATCH", "/teams/Demo", {"credits": 1, "subscription": "inactive", "requests_per_minute": 1})
    control.told("PATCH", f"/credentials/{control.team()['credentials'][0]['id']}", {"state": "revoked"})
    reset = control.told("POST", "/reset")
    assert (reset["id"], reset["clock"]["now"], reset["clock"]["mode"]) == ("default", START, "manual")
    assert [team["name"] for team in reset["teams"]] == ["Demo", "Other", "Lapsed", "Broke"]
    assert control.items("/assets") == []
    assert control.get("/team", "iwe_new_full").status == 401
    control.told("POST", "/reset")
    assert _story(control) == first


def test_a_reset_of_one_sandbox_leaves_the_others(control: EmulatorUnderTest) -> None:
    control.told("POST", "/sandboxes", {"id": "mine", "seed": 4, "start": "2026-03-01T00:00:00.000Z", "world": WORLD})
    control.told("PATCH", "/teams/Own", {"credits": 1}, sandbox="mine")
    control.told("PATCH", "/teams/Demo", {"credits": 1})
    control.told("POST", "/clock/advance", {"seconds": 1}, sandbox="mine")
    reset = control.told("POST", "/reset", sandbox="mine")
    assert reset == control.told("GET", "/sandboxes/mine")
    assert (reset["teams"][-1]["credits"], reset["clock"]["now"]) == (3, "2026-03-01T00:00:00.000Z")
    assert control.credits() == 1


def test_requests_that_a_reset_overtakes_are_answered(control: EmulatorUnderTest) -> None:
    rule = {"match": {"operation": "createUpload"}, "then": {"hold": "10s"}}
    control.told("PUT", "/scenario", {"scenario": "held", "rules": [rule]})
    held, reset = control.together(
        Call("POST", "/uploads", {"content_type": "image/png", "size_bytes": 5}), control_call("POST", "/reset")
    )
    assert reset.status == 200
    assert held.outcome == (500, "internal_error")


def test_finished_upload_sessions_beyond_a_number_are_forgotten_and_counted(
    control: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D58."""
    monkeypatch.setattr("emulator.service.store.MAXIMUM_FINISHED_UPLOADS", 2)
    sessions = [control.open_upload(10) for _ in range(4)]
    control.advance(15 * 60)
    seen = [control.get(f"/uploads/{session['id']}/complete").status for session in sessions]
    completed = [control.complete(session, "upt_x", idempotency_key=session["id"]).status for session in sessions]
    assert [404, 404, 410, 410] == completed, seen
    assert {"idempotency_records": 0, "upload_sessions": 2} == control.told("GET", "/sandboxes/default")["dropped"]
