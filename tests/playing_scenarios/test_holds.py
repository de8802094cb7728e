"""Held admissions: a request stays in admission on the emulator's clock, with its key in progress."""

import pytest

from image_workflow_emulator.web import exchange
from tests.playing_scenarios.player import advance_call, upscale_call
from tests.support.emulator_client import READ_ONLY, UPLOAD, Call, EmulatorUnderTest, Json, control_call

UPSCALE: Json = {"operation": "createUpscaleGeneration"}
IN_PROGRESS = (409, "idempotency_in_progress")


def _held(emulator: EmulatorUnderTest, span: str = "10s") -> Call:
    """Return an upscale that is held once, for so long."""
    emulator.rule(UPSCALE, {"hold": span}, {"nth": 1})
    return upscale_call(emulator.assets(1)[0], "k")


def test_a_hold_ends_when_the_clock_has_been_moved_past_it(emulator: EmulatorUnderTest) -> None:
    call = _held(emulator)
    first, early, moved, late, end = emulator.together(call, call, advance_call(9.999), call, advance_call(0.001))
    assert [IN_PROGRESS, IN_PROGRESS] == [early.outcome, late.outcome]
    assert (202, "2026-01-01T00:00:10.000Z") == (first.status, first.json["created_at"])
    assert [200, 200] == [moved.status, end.status]
    assert (99, 1) == (emulator.credits(), emulator.count("/generations"))


def test_a_refusal_that_comes_before_admission_is_not_held(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "*"}, {"hold": "10s"})
    assert 422 == emulator.post("/generations/upscale", {}).status
    assert 403 == emulator.post("/uploads", UPLOAD, READ_ONLY).status
    assert 400 == emulator.get("/assets?limit=0").status


def test_requests_without_a_key_can_be_held_too(emulator: EmulatorUnderTest, asset_id: str) -> None:
    emulator.rule({"operation": ["deleteAsset", "getTeam"]}, {"hold": "10s"})
    read, deleted, still_there, end = emulator.together(
        Call("GET", "/team"),
        Call("DELETE", f"/assets/{asset_id}"),
        Call("GET", f"/assets/{asset_id}"),
        advance_call(10),
    )
    assert [200, 200, 200, 200] == [answer.status for answer in (read, deleted, still_there, end)]
    assert 404 == emulator.get(f"/assets/{asset_id}").status


@pytest.mark.emulator(clock="auto")
def test_on_an_auto_clock_a_hold_does_not_end_with_the_answer_to_another_second_request(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_AUTO_HOLD_SECONDS", 0.5)
    (asset_id,) = emulator.assets(1)
    rules = [
        {"match": UPSCALE, "when": {"nth": 1}, "then": {"hold": "10m"}},
        {"match": {"operation": "createPose"}, "when": {"nth": 1}, "then": {"hold": "5m"}},
    ]
    emulator.use({"scenario": "two", "rules": rules})
    pose = Call("POST", "/poses", {"name": "P", "asset_id": asset_id}, idempotency_key="p")
    long, short, second = emulator.together(upscale_call(asset_id, "k"), pose, pose)
    assert IN_PROGRESS == second.outcome
    assert "2026-01-01T00:05:00.000Z" == short.json["created_at"]
    assert "2026-01-01T00:10:00.000Z" == long.json["created_at"]


@pytest.mark.emulator(clock="auto")
def test_on_an_auto_clock_a_hold_that_nobody_asks_after_ends_by_itself(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_AUTO_HOLD_SECONDS", 0.01)
    (asset_id,) = emulator.assets(1)
    emulator.rule(UPSCALE, {"hold": "10m"})
    answers = emulator.together(*(upscale_call(asset_id, f"k{number}") for number in range(3)))
    assert [202] * 3 == [answer.status for answer in answers]
    assert emulator.clock_now() >= "2026-01-01T00:10:00.000Z"


def test_a_hold_follows_a_clock_that_is_set_to_run_otherwise(emulator: EmulatorUnderTest) -> None:
    first, _ = emulator.together(_held(emulator, "1h"), control_call("PUT", "/clock", {"mode": "x100000"}))
    assert 202 == first.status
