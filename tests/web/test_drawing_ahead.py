"""Large pictures are drawn before anybody asks for them, and change nothing by it."""

import asyncio
from collections.abc import Sequence

import pytest

from image_workflow_emulator.app import Application
from image_workflow_emulator.imaging.helpers import Helpers
from image_workflow_emulator.imaging.messages import Head, Message
from tests.support.emulator_client import Call, Json, advance_call, control_call
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What becomes of each drawing, in place of helper processes that draw."""
    events: list[str] = []

    async def draw(
        _self: Helpers,
        job: Head,
        _parts: Sequence[bytes],
    ) -> Message:
        resolution = job["recipe"]["resolution"]
        events.append(f"{resolution} begins")
        for _ in range(20):  # so many steps of others happen meanwhile
            await asyncio.sleep(0)
        events.append(f"{resolution} ends")
        return {}, [b"drawn"]

    monkeypatch.setattr(Helpers, "run", draw)
    return events


@pytest.fixture
def sources(emulator: EmulatorUnderTest) -> list[str]:
    return emulator.assets(1)


def order(
    emulator: EmulatorUnderTest,
    sources: list[str],
    resolution: str,
    images: int = 1,
) -> Json:
    answer = emulator.photograph(
        asset_ids=sources,
        resolution=resolution,
        image_count=images,
    )
    return dict(answer.json)


def draw_what_waits(emulator: EmulatorUnderTest) -> None:
    async def wait_for_all_others() -> None:
        this = asyncio.current_task()
        while others := asyncio.all_tasks() - {this}:
            await asyncio.wait(others)

    emulator.run(wait_for_all_others())


def test_a_list_waits_for_no_large_picture_that_was_finished_before(
    emulator: EmulatorUnderTest,
    sources: list[str],
    events: list[str],
) -> None:
    order(emulator, sources, "4k")
    emulator.told("POST", "/clock/advance", {"seconds": 60})
    draw_what_waits(emulator)
    drawn_before = list(events)

    listed = emulator.items("/assets?source=generation")

    assert drawn_before == ["4k begins", "4k ends"]
    assert events == drawn_before
    assert [asset["size_bytes"] for asset in listed] == [len(b"drawn")]


def test_small_pictures_are_drawn_when_they_are_asked_for(
    emulator: EmulatorUnderTest,
    sources: list[str],
    events: list[str],
) -> None:
    order(emulator, sources, "1k")

    emulator.told("POST", "/clock/advance", {"seconds": 60})
    draw_what_waits(emulator)

    assert events == []


def test_large_pictures_that_nobody_asked_for_are_drawn_one_by_one(
    emulator: EmulatorUnderTest,
    sources: list[str],
    events: list[str],
) -> None:
    order(emulator, sources, "2k", images=3)

    emulator.told("POST", "/clock/advance", {"seconds": 60})
    draw_what_waits(emulator)

    assert events == ["2k begins", "2k ends"] * 3


def test_large_pictures_wait_for_the_pictures_that_somebody_asked_for(
    emulator: EmulatorUnderTest,
    sources: list[str],
    events: list[str],
) -> None:
    small = emulator.wait_for(order(emulator, sources, "1k"))
    order(emulator, sources, "2k")
    path = f"/assets/{small['outputs'][0]['asset']['id']}"

    emulator.together(Call("GET", path), advance_call(60))
    draw_what_waits(emulator)

    assert events == ["1k begins", "1k ends", "2k begins", "2k ends"]


def test_a_saved_state_does_not_depend_on_what_was_drawn_unasked(
    emulator: EmulatorUnderTest,
    sources: list[str],
    events: list[str],
) -> None:
    order(emulator, sources, "2k")
    emulator.told("POST", "/clock/advance", {"seconds": 60})
    before = emulator.ask("GET", "/state").body

    draw_what_waits(emulator)

    assert events == ["2k begins", "2k ends"]
    assert emulator.ask("GET", "/state").body == before


def test_no_drawing_outlives_the_emulator(emulator: EmulatorUnderTest) -> None:
    emulator.application = Application(settings_of())  # with helpers of its own
    order(emulator, emulator.assets(1), "4k", images=2)
    emulator.told("POST", "/clock/advance", {"seconds": 60})

    async def start_and_stop() -> set[asyncio.Task[object]]:
        application = emulator.application
        async with application.router.lifespan_context(application):
            pass
        return asyncio.all_tasks() - {asyncio.current_task()}

    tasks_left = emulator.run(start_and_stop())

    assert tasks_left == set()


def test_nothing_is_drawn_for_a_sandbox_that_was_reset_meanwhile(
    emulator: EmulatorUnderTest,
    sources: list[str],
    events: list[str],
) -> None:
    order(emulator, sources, "2k", images=2)

    emulator.together(advance_call(60), control_call("POST", "/reset"))
    draw_what_waits(emulator)

    assert events == ["2k begins", "2k ends"]
