"""The stop of the emulator, and the waits that it ends."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from image_workflow_emulator.kernel.timestamps import SECOND_MS


class Stop:
    """Whether the emulator is stopping. It belongs to the event loop of the requests."""

    def __init__(self) -> None:
        self.has_begun = False
        self._waiting: set[asyncio.Future[Any]] = set()

    def begin(self) -> None:
        """End all waits, from now on."""
        self.has_begun = True
        for waiting in self._waiting:
            waiting.cancel()

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, or until the emulator stops."""
        await self.cut_short(asyncio.sleep(span_ms / SECOND_MS))

    async def cut_short(
        self,
        awaitable: Awaitable[Any],
        timeout_seconds: float | None = None,
    ) -> bool:
        """Wait for something, at most for a timeout, or until the emulator stops.

        Return whether a stop ended the wait.
        """
        waiting = asyncio.ensure_future(awaitable)
        self._waiting.add(waiting)
        if self.has_begun:
            waiting.cancel()
        try:
            await asyncio.wait([waiting], timeout=timeout_seconds)
            if waiting.done() and not waiting.cancelled():
                waiting.result()  # raises what went wrong
            return waiting.cancelled()
        finally:
            self._waiting.discard(waiting)
            waiting.cancel()
