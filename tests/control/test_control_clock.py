"""The clock over the control plane: shown, set, and moved in each of its ways."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    FULL,
    START,
    UPLOAD,
    Call,
    EmulatorUnderTest,
    advance_call,
    completion_call,
    control_call,
    ingredient_body,
)
from tests.support.every_operation import upscale_call
from tests.support.pictures import picture

DONE_AT = "2026-01-01T00:00:06.000Z"
IDLE = {"mode": "manual", "rate": 1, "pending": 0, "next_event_at": None, "events": []}


def test_a_clock_is_shown_with_what_is_to_come(emulator: EmulatorUnderTest) -> None:
    assert emulator.told("GET", "/clock") == {"now": START, **IDLE}
    work = emulator.admitted_upscale()
    clock = emulator.told("GET", "/clock")
    assert (clock["pending"], clock["next_event_at"]) == (2, "2026-01-01T00:00:01.000Z")
    assert clock["events"] == [
        {"at": "2026-01-01T00:00:01.000Z", "what": "upscale starts", "id": work["id"]},
        {
            "at": DONE_AT,
            "what": "output 1 of 1 of upscale is completed",
            "id": work["id"],
        },
    ]


def test_what_is_to_come_is_told_of_each_kind_in_words(
    emulator: EmulatorUnderTest,
) -> None:
    rules = [
        {"match": {"work": "pose.create"}, "then": {"fail": "timed_out"}},
        {"match": {"operation": "createUpload"}, "then": {"hold": "30s"}},
    ]
    timeline = [{"at": "60s", "set": {"admission": "paused", "retry_after": 7}}]
    assets = emulator.assets(1)
    emulator.open_upload(5)
    emulator.use({"scenario": "worded", "rules": rules, "timeline": timeline})
    assert emulator.post("/poses", ingredient_body("pose", assets)).status == 202
    told = {event["what"] for event in emulator.told("GET", "/clock")["events"]}
    assert told == {
        "pose create starts",
        "pose create fails: timed_out",
        "the upload window closes",
        "the scenario sets admission paused, retry_after 7",
    }


def test_the_next_hundred_events_are_told_and_all_are_counted(
    emulator: EmulatorUnderTest,
) -> None:
    timeline = [
        {"at": f"{second}s", "set": {"admission": "open"}} for second in range(1, 120)
    ]
    emulator.use({"scenario": "busy", "timeline": timeline})
    clock = emulator.told("GET", "/clock")
    assert (clock["pending"], len(clock["events"])) == (119, 100)
    assert clock["events"][0]["at"] == clock["next_event_at"]


@pytest.mark.parametrize(
    ("body", "now"),
    [
        ({"seconds": 90}, "2026-01-01T00:01:30.000Z"),
        ({"seconds": 0.25}, "2026-01-01T00:00:00.250Z"),
        ({"seconds": 0}, START),
        ({"to": "2026-02-01T00:00:00.000Z"}, "2026-02-01T00:00:00.000Z"),
        ({"to": "2026-01-01T02:00:00+01:00"}, "2026-01-01T01:00:00.000Z"),
        ({"to": START}, START),
        ({"next_event": True}, START),
        ({"until_idle": True}, START),
    ],
    ids=str,
)
def test_a_clock_on_which_nothing_is_due_just_moves(
    emulator: EmulatorUnderTest, body: Any, now: str
) -> None:
    assert emulator.told("POST", "/clock/advance", body) == {
        "now": now,
        **IDLE,
        "fired": 0,
        "stalled": 0,
    }


@pytest.mark.emulator(clock="x0.001")  # a real clock can be moved forward too
def test_idle_is_when_all_work_is_finished_but_for_stalled_work(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()
    emulator.advance(1)
    emulator.rule({"work": "upscale"}, {"stall": True})
    stalled = emulator.admitted_upscale()
    moved = emulator.told("POST", "/clock/advance", {"until_idle": True})
    assert (moved["fired"], moved["stalled"], moved["pending"]) == (2, 1, 0)
    assert emulator.get(f"/generations/{stalled['id']}").json["status"] == "processing"
    assert emulator.told("POST", "/clock/advance", {"until_idle": True})["fired"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {"seconds": 60},
        {"to": "2026-01-01T00:01:00.000Z"},
        {"until_idle": True},
        {"next_event": True},
    ],
    ids=str,
)
def test_a_hold_ends_at_its_instant_however_the_clock_is_moved(
    emulator: EmulatorUnderTest, body: Any
) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})
    held = Call("POST", "/uploads", UPLOAD)
    upload, moved = emulator.together(
        held, control_call("POST", "/clock/advance", body)
    )
    assert (upload.status, moved.status) == (201, 200)
    assert (
        upload.json["upload"]["expires_at"] == "2026-01-01T00:15:10.000Z"
    )  # 15 minutes from the hold's end
    if "seconds" not in body and "to" not in body:
        assert moved.json["now"] == "2026-01-01T00:00:10.000Z"


@pytest.mark.emulator(clock="auto")
def test_a_refused_poll_moves_no_auto_clock(emulator: EmulatorUnderTest) -> None:
    """D42."""
    path = f"/generations/{emulator.photograph().id}"
    for target, key in (
        (f"{path}?x=1", FULL),
        ("/generations/gen_1", FULL),
        (path, None),
    ):
        emulator.get(target, key)
    assert emulator.clock_now() == START


def test_a_hold_ends_at_its_instant_though_an_image_takes_time(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "completeUpload"}, {"hold": "10s"})
    call = completion_call(*emulator.ready_upload(picture(size=(3000, 2000))))
    completed, _ = emulator.together(call, advance_call(60))
    assert completed.json["created_at"] == "2026-01-01T00:00:10.000Z"


def test_a_reset_during_a_move_ends_the_move(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})
    held = Call("POST", "/uploads", UPLOAD)
    upload, moved, reset = emulator.together(
        held, advance_call(60), control_call("POST", "/reset")
    )
    assert (moved.outcome, reset.status) == ((409, "invalid_request"), 200)
    assert upload.outcome == (409, "idempotency_in_progress")
    assert emulator.clock_now() == START


@pytest.mark.parametrize(
    ("steps", "now"), [(1, "2026-01-01T00:00:10.000Z"), (2, "2026-01-01T00:00:16.000Z")]
)
def test_a_move_takes_no_more_steps_than_it_may(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch, steps: int, now: str
) -> None:
    monkeypatch.setattr("image_workflow_emulator.control.clock.MAX_STEPS", steps)
    emulator.rule({"operation": "createUpscaleGeneration"}, {"hold": "10s"})
    move = control_call("POST", "/clock/advance", {"until_idle": True})
    admitted, moved = emulator.together(upscale_call(emulator.assets(1)[0], "k"), move)
    assert (admitted.status, moved.json["now"]) == (202, now)


@pytest.fixture
def with_work(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> EmulatorUnderTest:
    """An emulator with work in progress, which lets others be answered after each event of a move."""
    monkeypatch.setattr("image_workflow_emulator.service.engine.SLICE_MS", 0)
    for _ in range(3):
        emulator.admitted_upscale()
        emulator.advance(1)
    return emulator


def test_a_move_lets_others_see_how_far_it_has_come(
    with_work: EmulatorUnderTest,
) -> None:
    before = with_work.told("GET", "/clock")["pending"]
    moved, look = with_work.together(advance_call(60), control_call("GET", "/clock"))
    assert (before, 0) == (moved.json["fired"], moved.json["pending"])
    assert 0 < look.json["pending"] < before
    assert look.json["now"] < moved.json["now"]


def test_a_state_that_is_saved_in_the_middle_of_a_move_is_settled(
    with_work: EmulatorUnderTest,
) -> None:
    _, saved = with_work.together(advance_call(60), control_call("GET", "/state"))
    assert with_work.ask("PUT", "/state", content=saved.body).status == 200
