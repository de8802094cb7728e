"""The auto clock: the emulator takes the waits that it would ask of its client (D42)."""

import pytest

from emulator.kernel.timestamps import format_timestamp
from tests.support.emulator_client import FULL, START, TERMINAL, UPLOAD, EmulatorUnderTest, ingredient_body

pytestmark = pytest.mark.emulator(clock="auto")


def time_of(emulator: EmulatorUnderTest) -> str:
    return format_timestamp(emulator.now())


def test_nothing_but_a_wait_moves_the_clock(emulator: EmulatorUnderTest) -> None:
    emulator.product(*emulator.assets(2))
    emulator.photograph()
    for path in ("/team", "/operations", "/generations", "/assets", "/products"):
        emulator.get(path)
    assert time_of(emulator) == START


def test_a_poll_takes_the_wait_first_and_shows_what_then_is(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph(image_count=2).json
    seen = []
    for _ in range(4):
        answer = emulator.get(f"/generations/{generation['id']}")
        outputs = [output["status"] for output in answer.json["outputs"]]
        seen.append((answer.json["status"], outputs, answer.retry_after, time_of(emulator)[17:23]))
    assert seen == [
        ("processing", ["processing", "processing"], 0, "01.000"),
        ("processing", ["completed", "processing"], 0, "06.000"),
        ("completed", ["completed", "completed"], None, "08.000"),
        ("completed", ["completed", "completed"], None, "08.000"),
    ]


def test_a_poll_of_an_operation_takes_its_waits_too(emulator: EmulatorUnderTest) -> None:
    operation = emulator.post("/poses", ingredient_body("pose", emulator.assets(1))).json
    seen = []
    for _ in range(2):
        answer = emulator.get(f"/operations/{operation['id']}")
        seen.append((answer.json["status"], answer.retry_after, time_of(emulator)[17:23]))
    assert seen == [("processing", 0, "01.000"), ("completed", None, "05.000")]


def test_a_refused_poll_takes_no_wait(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph().json
    for target in (f"/generations/{generation['id']}?x=1", "/generations/gen_1"):
        emulator.get(target)
    emulator.get(f"/generations/{generation['id']}", None)
    assert time_of(emulator) == START


def test_other_work_goes_on_while_a_poll_waits(emulator: EmulatorUnderTest) -> None:
    first, second = (emulator.photograph(resolution=resolution).json for resolution in ("1k", "4k"))
    emulator.wait_for(second)
    assert emulator.get("/generations?status=completed").json["data"][1]["id"] == first["id"]


def test_a_refused_rate_is_answered_and_then_waited_for(emulator: EmulatorUnderTest) -> None:
    answers = [emulator.get("/team") for _ in range(122)]
    assert [answer.status for answer in answers] == [200] * 120 + [429, 200]
    assert answers[120].retry_after == 0
    assert time_of(emulator) == "2026-01-01T00:01:00.000Z"


def test_a_full_budget_is_answered_and_then_waited_for(emulator: EmulatorUnderTest) -> None:
    emulator.set_team(concurrency_limit=1)
    (asset,) = emulator.assets(1)
    answers = [emulator.photograph(asset_ids=[asset]) for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 429, 202]
    assert (answers[1].code, answers[1].retry_after) == ("concurrency_limit_reached", 0)
    assert time_of(emulator)[17:23] == "06.000"


def test_a_pause_is_answered_and_then_waited_for(emulator: EmulatorUnderTest) -> None:
    emulator.pause(retry_after=7)
    answer = emulator.post("/uploads", UPLOAD)
    assert (answer.outcome, answer.retry_after, time_of(emulator)[17:23]) == ((503, "service_unavailable"), 0, "07.000")


def test_a_whole_story_needs_no_sleep_and_no_call_of_the_clock(emulator: EmulatorUnderTest) -> None:
    operation = emulator.post("/fashion-models", ingredient_body("fashion_model", emulator.assets(2))).json
    while operation["status"] not in TERMINAL:
        operation = emulator.get(f"/operations/{operation['id']}").json
    model = {"type": "selected", "fashion_model_id": operation["result"]["id"]}
    generation = emulator.photograph(fashion_model=model, output_mode="photoshoot").json
    while generation["status"] not in TERMINAL:
        generation = emulator.get(f"/generations/{generation['id']}").json
    assert (generation["output_summary"]["completed"], emulator.credits(FULL)) == (4, 97)
