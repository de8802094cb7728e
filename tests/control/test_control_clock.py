"""The clock over the control plane: shown, set, and moved in each of its ways."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    FULL,
    START,
    UPLOAD,
    Call,
    advance_call,
    completion_call,
    control_call,
    ingredient_body,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.every_operation import upscale_call
from tests.support.pictures import picture

IDLE = {"mode": "manual", "rate": 1, "pending": 0, "next_event_at": None, "events": []}
HELD_UPLOAD = Call("POST", "/uploads", UPLOAD)

# Shown -------------------------------------------------------------------------------


def test_a_clock_on_which_nothing_is_due_is_shown(emulator: EmulatorUnderTest) -> None:
    assert emulator.told("GET", "/clock") == {"now": START, **IDLE}


def test_a_clock_is_shown_with_what_is_to_come(emulator: EmulatorUnderTest) -> None:
    work = emulator.admitted_upscale()

    clock = emulator.told("GET", "/clock")

    assert clock["pending"] == 2
    assert clock["next_event_at"] == "2026-01-01T00:00:01.000Z"
    assert clock["events"] == [
        {
            "at": "2026-01-01T00:00:01.000Z",
            "what": "upscale starts",
            "id": work["id"],
        },
        {
            "at": "2026-01-01T00:00:06.000Z",
            "what": "output 1 of 1 of upscale is completed",
            "id": work["id"],
        },
    ]


def event_words(emulator: EmulatorUnderTest) -> list[str]:
    return [event["what"] for event in emulator.told("GET", "/clock")["events"]]


def test_work_that_will_fail_is_told_with_its_code(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"work": "pose.create"}, {"fail": "timed_out"})

    emulator.post("/poses", ingredient_body("pose", emulator.assets(1)))

    assert "pose create starts" in event_words(emulator)
    assert "pose create fails: timed_out" in event_words(emulator)


def test_the_end_of_an_upload_window_is_told(emulator: EmulatorUnderTest) -> None:
    emulator.open_upload(5)

    assert event_words(emulator) == ["the upload window closes"]


def test_a_change_of_a_scenario_is_told_with_the_scenarios_name(
    emulator: EmulatorUnderTest,
) -> None:
    change = {"at": "60s", "set": {"admission": "paused", "retry_after": 7}}
    emulator.use({"scenario": "worded", "timeline": [change]})

    (event,) = emulator.told("GET", "/clock")["events"]

    assert event["what"] == "the scenario sets admission paused, retry_after 7"
    assert event["id"] == "worded"


def test_the_next_hundred_events_are_told_and_all_are_counted(
    emulator: EmulatorUnderTest,
) -> None:
    timeline = [
        {"at": f"{second}s", "set": {"admission": "open"}} for second in range(1, 120)
    ]
    emulator.use({"scenario": "busy", "timeline": timeline})

    clock = emulator.told("GET", "/clock")

    assert clock["pending"] == 119
    assert len(clock["events"]) == 100
    assert clock["events"][0]["at"] == clock["next_event_at"]


# Set ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "mode", "rate"),
    [
        ({"mode": "real"}, "real", 1),
        ({"mode": "x60"}, "real", 60),
        ({"mode": "real", "rate": 0.5}, "real", 0.5),
        ({"mode": "auto"}, "auto", 1),
    ],
    ids=str,
)
def test_a_clock_runs_on_as_it_is_set(
    emulator: EmulatorUnderTest,
    body: Any,
    mode: str,
    rate: float,
) -> None:
    clock = emulator.told("PUT", "/clock", body)

    assert clock["now"] == START
    assert clock["mode"] == mode
    assert clock["rate"] == rate


# Moved -------------------------------------------------------------------------------


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
    emulator: EmulatorUnderTest,
    body: Any,
    now: str,
) -> None:
    clock = emulator.told("POST", "/clock/advance", body)

    assert clock == {"now": now, **IDLE, "fired": 0, "stalled": 0}


@pytest.mark.parametrize(
    ("body", "now"),
    [
        ({"next_event": True}, "2026-01-01T00:00:01.000Z"),
        ({"until_idle": True}, "2026-01-01T00:00:06.000Z"),
    ],
    ids=str,
)
def test_a_clock_moves_to_what_falls_due(
    emulator: EmulatorUnderTest,
    body: Any,
    now: str,
) -> None:
    emulator.admitted_upscale()

    clock = emulator.told("POST", "/clock/advance", body)

    assert clock["now"] == now


@pytest.mark.emulator(clock="x0.001")  # a real clock can be moved forward too
def test_idle_is_when_all_work_is_finished_but_for_stalled_work(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()
    emulator.advance(1)
    emulator.rule({"work": "upscale"}, {"stall": True})
    stalled = emulator.admitted_upscale()

    moved = emulator.told("POST", "/clock/advance", {"until_idle": True})

    generation = emulator.get(f"/generations/{stalled['id']}").json
    assert moved["fired"] == 2
    assert moved["stalled"] == 1
    assert moved["pending"] == 0
    assert generation["status"] == "processing"


def test_a_move_of_an_idle_sandbox_to_idle_fires_nothing(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.admitted_upscale()
    emulator.told("POST", "/clock/advance", {"until_idle": True})

    moved = emulator.told("POST", "/clock/advance", {"until_idle": True})

    assert moved["fired"] == 0
    assert moved["now"] == "2026-01-01T00:00:06.000Z"


@pytest.mark.emulator(clock="auto")
@pytest.mark.parametrize("case", ["a bad query", "an unknown id", "no key"])
def test_a_refused_poll_moves_no_auto_clock(
    emulator: EmulatorUnderTest,
    case: str,
) -> None:
    """D42."""
    path = f"/generations/{emulator.photograph().id}"
    if case == "a bad query":
        emulator.get(f"{path}?x=1")
    elif case == "an unknown id":
        emulator.get("/generations/gen_1", FULL)
    else:
        emulator.get(path, None)

    assert emulator.clock_now() == START


# Held requests -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "now"),
    [
        ({"seconds": 60}, "2026-01-01T00:01:00.000Z"),
        ({"to": "2026-01-01T00:01:00.000Z"}, "2026-01-01T00:01:00.000Z"),
        ({"until_idle": True}, "2026-01-01T00:00:10.000Z"),
        ({"next_event": True}, "2026-01-01T00:00:10.000Z"),
    ],
    ids=str,
)
def test_a_hold_ends_at_its_instant_however_the_clock_is_moved(
    emulator: EmulatorUnderTest,
    body: Any,
    now: str,
) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})

    upload, moved = emulator.together(
        HELD_UPLOAD,
        control_call("POST", "/clock/advance", body),
    )

    # The upload window is 15 minutes from the hold's end.
    assert upload.json["upload"]["expires_at"] == "2026-01-01T00:15:10.000Z"
    assert moved.json["now"] == now


def test_a_hold_ends_at_its_instant_though_an_image_takes_time(
    emulator: EmulatorUnderTest,
) -> None:
    emulator.rule({"operation": "completeUpload"}, {"hold": "10s"})
    session, token = emulator.ready_upload(picture(size=(3000, 2000)))

    completed, _ = emulator.together(completion_call(session, token), advance_call(60))

    assert completed.json["created_at"] == "2026-01-01T00:00:10.000Z"


def test_a_reset_during_a_move_ends_the_move(emulator: EmulatorUnderTest) -> None:
    emulator.rule({"operation": "createUpload"}, {"hold": "10s"})

    upload, moved, reset = emulator.together(
        HELD_UPLOAD,
        advance_call(60),
        control_call("POST", "/reset"),
    )

    assert moved.status == 409
    assert moved.code == "invalid_request"
    assert reset.status == 200
    assert upload.status == 409
    assert upload.code == "idempotency_in_progress"
    assert emulator.clock_now() == START


@pytest.mark.parametrize(
    ("steps", "now"),
    [(1, "2026-01-01T00:00:10.000Z"), (2, "2026-01-01T00:00:16.000Z")],
)
def test_a_move_takes_no_more_steps_than_it_may(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
    steps: int,
    now: str,
) -> None:
    monkeypatch.setattr("image_workflow_emulator.control.clock.MAX_STEPS", steps)
    emulator.rule({"operation": "createUpscaleGeneration"}, {"hold": "10s"})
    (asset_id,) = emulator.assets(1)

    admitted, moved = emulator.together(
        upscale_call(asset_id, "k"),
        control_call("POST", "/clock/advance", {"until_idle": True}),
    )

    assert admitted.status == 202
    assert moved.json["now"] == now


# Long moves --------------------------------------------------------------------------


@pytest.fixture
def with_work(
    emulator: EmulatorUnderTest,
    monkeypatch: pytest.MonkeyPatch,
) -> EmulatorUnderTest:
    """An emulator with work in progress.

    It lets others be answered after each event of a move.
    """
    monkeypatch.setattr("image_workflow_emulator.service.engine.SLICE_MS", 0)
    for _ in range(3):
        emulator.admitted_upscale()
        emulator.advance(1)
    return emulator


def test_a_move_lets_others_see_how_far_it_has_come(
    with_work: EmulatorUnderTest,
) -> None:
    before = with_work.told("GET", "/clock")["pending"]

    moved, seen = with_work.together(advance_call(60), control_call("GET", "/clock"))

    assert moved.json["fired"] == before
    assert moved.json["pending"] == 0
    assert seen.json["pending"] > 0
    assert seen.json["pending"] < before
    assert seen.json["now"] < moved.json["now"]


def test_a_state_that_is_saved_in_the_middle_of_a_move_is_settled(
    with_work: EmulatorUnderTest,
) -> None:
    _, saved = with_work.together(advance_call(60), control_call("GET", "/state"))

    assert with_work.ask("PUT", "/state", content=saved.body).status == 200
