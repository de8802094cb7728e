"""Held admissions: a scenario keeps a request in admission for a span of emulator time (D13)."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from emulator.domain.idempotency import Scope
from emulator.service import engine
from emulator.service.sandbox import Sandbox

_REFRESH_SECONDS = 0.25
"""How often a held request checks its clock: its mode may have changed."""
_AUTO_SECONDS = 1.0
"""How long in real time an auto clock holds a request that is not repeated."""


@dataclass(slots=True, eq=False)
class Hold:
    """One request that is kept waiting."""

    due: int
    scope: Scope | None
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self) -> None:
        """Let the request go on."""
        self._ended.set()

    async def wait(self, sandbox: Sandbox) -> None:
        """Wait until the time is over, however the sandbox's clock runs."""
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await self._wait_for(ended, sandbox)
        finally:
            ended.cancel()

    async def _wait_for(self, ended: asyncio.Future[Any], sandbox: Sandbox) -> None:
        loop = asyncio.get_running_loop()
        gives_up_at = loop.time() + _AUTO_SECONDS
        while not self._ended.is_set():
            setting, seconds = sandbox.clock.setting, _REFRESH_SECONDS
            if setting.mode == "real":
                seconds = min(max(self.due - sandbox.clock.now(), 1) / 1000 / setting.rate, seconds)
            elif setting.mode == "auto":
                seconds = min(gives_up_at - loop.time(), seconds)
                if seconds <= 0:
                    engine.advance(sandbox, self.due)
                    return
            await asyncio.wait((ended,), timeout=seconds)
            engine.enter(sandbox)


async def hold(sandbox: Sandbox, scope: Scope | None, now: int, duration_ms: int) -> None:
    """Keep a request waiting for a span of emulator time."""
    held = Hold(now + duration_ms, scope)
    name = sandbox.identifiers.next("hold")
    sandbox.held_admissions[name] = held
    sandbox.timeline.schedule(held.due, engine.HOLD_EVENT, name)
    await held.wait(sandbox)


def end_hold(sandbox: Sandbox, scope: Scope) -> None:
    """A second request with the key was answered: on an auto clock, this ends the hold."""
    if sandbox.clock.skips_waits:
        for held in list(sandbox.held_admissions.values()):
            if held.scope == scope:
                engine.advance(sandbox, held.due)
