"""The auto clock: the emulator takes the waits that it would ask of its client (D42)."""

import pytest

from emulator.kernel.timestamps import format_timestamp
from tests.support.emulator_client import FULL, START, TERMINAL, EmulatorUnderTest, ingredient_body

pytestmark = pytest.mark.emulator(clock="auto")


def time_of(emulator: EmulatorUnderTest) -> str:
    return format_timestamp(emulator.now())


def test_nothing_but_a_wait_moves_the_clock(emulator: EmulatorUnderTest) -> None:
    emulator.product(*emulator.assets(2))
    emulator.photograph()
    for path in ("/team", "/operations", "/generations", "/assets", "/products"):
        emulator.get(path)
    assert time_of(emulator) == START


def test_a_refused_poll_takes_no_wait(emulator: EmulatorUnderTest) -> None:
    generation = emulator.photograph().json
    for target in (f"/generations/{generation['id']}?x=1", "/generations/gen_1"):
        emulator.get(target)
    emulator.get(f"/generations/{generation['id']}", None)
    assert time_of(emulator) == START


def test_a_refused_rate_is_answered_and_then_waited_for(emulator: EmulatorUnderTest) -> None:
    answers = [emulator.get("/team") for _ in range(122)]
    assert [answer.status for answer in answers] == [200] * 120 + [429, 200]
    assert answers[120].retry_after == 0
    assert time_of(emulator) == "2026-01-01T00:01:00.000Z"


def test_a_whole_story_needs_no_sleep_and_no_call_of_the_clock(emulator: EmulatorUnderTest) -> None:
    operation = emulator.post("/fashion-models", ingredient_body("fashion_model", emulator.assets(2))).json
    while operation["status"] not in TERMINAL:
        operation = emulator.get(f"/operations/{operation['id']}").json
    model = {"type": "selected", "fashion_model_id": operation["result"]["id"]}
    generation = emulator.photograph(fashion_model=model, output_mode="photoshoot").json
    while generation["status"] not in TERMINAL:
        generation = emulator.get(f"/generations/{generation['id']}").json
    assert (generation["output_summary"]["completed"], emulator.credits(FULL)) == (4, 97)
