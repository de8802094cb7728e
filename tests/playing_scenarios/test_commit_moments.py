"""Before the commit nothing has happened, after it everything; a held request waits for its commit."""

import pytest

from image_workflow_emulator.web import holds
from tests.support.emulator_client import (
    JSON,
    READ_ONLY,
    UPLOAD,
    UPLOAD_CONTENT,
    Call,
    Json,
    advance_call,
    control_call,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import (
    CALLS,
    KEYED,
    SUCCESSES,
    WRITES,
    prepare,
    upscale_call,
)

NO_RATE = pytest.mark.emulator(rate_limits=False)
LOST_AFTER = {"network": "reset", "at": "after_commit"}
DELETIONS = tuple(name for name in WRITES if name not in KEYED)
ALL_WRITES = [name for name in WRITES if name not in DELETIONS] + list(DELETIONS)
"""Every write, in an order in which each finds what it needs."""


def _send_lost(emulator: EmulatorUnderTest, call: Call) -> None:
    """Send a request whose answer is lost: in process, that is an error of the connection."""
    with pytest.raises(ConnectionResetError):
        emulator.send(call)


def _calls(emulator: EmulatorUnderTest) -> dict[str, Call]:
    things = prepare(emulator)
    (unused_asset_id,) = emulator.assets(1)
    calls = {name: CALLS[name](things) for name in ALL_WRITES}
    calls["deleteAsset"] = Call("DELETE", f"/assets/{unused_asset_id}")
    for name in KEYED:
        calls[name].idempotency_key = f"key of {name}"
    return calls


def _send_all(
    emulator: EmulatorUnderTest,
    calls: dict[str, Call],
    then: Json,
) -> None:
    """Send every write while a rule loses its answer, or replaces it with a problem."""
    emulator.rule({"operation": ALL_WRITES}, then)
    for call in calls.values():
        if "network" in then:
            _send_lost(emulator, call)
        else:
            assert emulator.send(call).code == "internal_error"


@NO_RATE
@pytest.mark.parametrize(
    "then",
    [{"network": "reset"}, {"problem": "internal_error"}],
    ids=["reset", "problem"],
)
def test_a_write_that_is_lost_before_the_commit_has_left_nothing(
    emulator: EmulatorUnderTest,
    then: Json,
) -> None:
    calls = _calls(emulator)
    before = emulator.library_of()

    _send_all(emulator, calls, then)

    assert emulator.library_of() == before


@NO_RATE
@pytest.mark.parametrize(
    "then",
    [{"network": "reset"}, {"problem": "internal_error"}],
    ids=["reset", "problem"],
)
def test_a_write_that_was_lost_before_the_commit_succeeds_with_the_same_key(
    emulator: EmulatorUnderTest,
    then: Json,
) -> None:
    calls = _calls(emulator)
    _send_all(emulator, calls, then)
    emulator.without_scenario()

    statuses = {name: emulator.send(call).status for name, call in calls.items()}

    assert statuses == {name: SUCCESSES[name] for name in ALL_WRITES}


@pytest.mark.emulator(clock="auto")
def test_a_poll_that_is_lost_before_the_commit_does_not_move_an_auto_clock(
    emulator: EmulatorUnderTest,
) -> None:
    (asset_id,) = emulator.assets(1)
    work = emulator.send(upscale_call(asset_id, "k"))
    emulator.rule({"operation": "getGeneration"}, {"network": "reset"}, {"nth": 1})
    before = emulator.now()

    _send_lost(emulator, Call("GET", f"/generations/{work.id}"))

    assert emulator.now() == before


@NO_RATE
@pytest.mark.parametrize(
    "then",
    [LOST_AFTER, {"problem": "internal_error", "at": "after_commit"}],
    ids=str,
)
def test_a_write_lost_after_the_commit_is_done_and_its_key_bound(
    emulator: EmulatorUnderTest,
    then: Json,
) -> None:
    calls = _calls(emulator)
    _send_all(emulator, calls, then)
    emulator.without_scenario()
    after = emulator.library_of()

    again = {name: emulator.send(call).status for name, call in calls.items()}

    replays = {name: SUCCESSES[name] for name in KEYED}
    already_gone = dict.fromkeys(DELETIONS, 404)
    assert again == replays | already_gone
    assert emulator.library_of() == after  # nothing was done twice


def test_a_request_whose_body_ends_after_a_reset_belongs_to_the_new_beginning(
    emulator: EmulatorUnderTest,
) -> None:
    first_id = emulator.open_upload(5)["id"]
    pieces = [UPLOAD_CONTENT[:5], UPLOAD_CONTENT[5:]]
    opening = Call("POST", "/uploads", pieces=pieces, headers=JSON)

    answer, _ = emulator.together(opening, control_call("POST", "/reset"))

    assert answer.status == 201
    assert answer.id == first_id


UPSCALE: Json = {"operation": "createUpscaleGeneration"}


def test_a_refusal_that_comes_before_admission_is_not_held(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "*"}, {"hold": "10s"})

    assert emulator.post("/generations/upscale", {}).status == 422
    assert emulator.post("/uploads", UPLOAD, READ_ONLY).status == 403
    assert emulator.get("/assets?limit=0").status == 400


def test_requests_without_a_key_can_be_held_too(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.rule({"operation": ["deleteAsset", "getTeam"]}, {"hold": "10s"})
    read, deleted, still_there, end = emulator.together(
        Call("GET", "/team"),
        Call("DELETE", f"/assets/{asset_id}"),
        Call("GET", f"/assets/{asset_id}"),
        advance_call(10),
    )

    statuses = [answer.status for answer in (read, deleted, still_there, end)]
    assert statuses == [200, 200, 200, 200]
    assert emulator.get(f"/assets/{asset_id}").status == 404


TWO_HOLDS = """
scenario: two holds
rules:
  - match: {operation: createUpscaleGeneration}
    when: {nth: 1}
    then: {hold: 10m}
  - match: {operation: createPose}
    when: {nth: 1}
    then: {hold: 5m}
"""


@pytest.mark.emulator(clock="auto")
def test_an_auto_clock_ends_each_hold_by_itself(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holds, "_AUTO_HOLD_SECONDS", 0.5)
    (asset_id,) = emulator.assets(1)
    emulator.use(TWO_HOLDS)
    body = {"name": "P", "asset_id": asset_id}
    pose = Call("POST", "/poses", body, idempotency_key="p")

    long, short, second = emulator.together(upscale_call(asset_id, "k"), pose, pose)

    assert second.code == "idempotency_in_progress"
    assert short.json["created_at"] == "2026-01-01T00:05:00.000Z"
    assert long.json["created_at"] == "2026-01-01T00:10:00.000Z"


def test_a_hold_follows_a_clock_that_is_set_to_run_otherwise(
    emulator: EmulatorUnderTest,
) -> None:
    call = upscale_call(emulator.assets(1)[0], "k")
    emulator.rule(UPSCALE, {"hold": "1h"})
    faster = control_call("PUT", "/clock", {"mode": "x100000"})

    first, _ = emulator.together(call, faster)

    assert first.status == 202
