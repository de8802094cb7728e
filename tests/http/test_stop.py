"""Waiting until something happens, or until the emulator is about to stop."""

import asyncio

import pytest

from image_workflow_emulator.http.stopping import Stop


async def fail() -> None:
    raise ValueError("as it must")


def test_what_goes_wrong_is_told() -> None:
    async def story() -> bool:
        return await Stop().cut_short(fail())

    with pytest.raises(ValueError, match="as it must"):
        asyncio.run(story())


def test_the_stop_ends_every_wait_and_those_that_come_after_it() -> None:
    async def story() -> list[bool]:
        stop = Stop()
        waiting = [asyncio.ensure_future(stop.cut_short(asyncio.Event().wait())) for _ in range(2)]
        await asyncio.sleep(0)
        stop.begin()
        return [*(await asyncio.gather(*waiting)), await stop.cut_short(asyncio.Event().wait())]

    assert asyncio.run(story()) == [True, True, True]


def test_who_is_cancelled_cancels_what_it_waits_for() -> None:
    async def story() -> bool:
        awaited = asyncio.get_running_loop().create_future()
        waiting = asyncio.ensure_future(Stop().cut_short(awaited))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return awaited.cancelled()

    assert asyncio.run(story())
