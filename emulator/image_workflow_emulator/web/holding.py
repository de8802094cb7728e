"""Held admissions: a scenario keeps a request in admission for a span of emulator time (D13)."""

import asyncio
from contextlib import suppress

from image_workflow_emulator.domain.idempotency import Scope
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.sandbox import HeldAdmission, Sandbox

_REFRESH_SECONDS = 0.25
"""How often a held request checks its clock: its mode may have changed."""
_AUTO_SECONDS = 1.0
"""How long in real time an auto clock holds a request that is not repeated."""


async def hold(sandbox: Sandbox, scope: Scope | None, now: int, duration_ms: int) -> None:
    """Keep a request waiting for a span of emulator time, however the sandbox's clock runs."""
    held = HeldAdmission(now + duration_ms, scope)
    name = sandbox.identifiers.next("hold")
    sandbox.held_admissions[name] = held
    sandbox.timeline.schedule(held.due, engine.HOLD_EVENT, name)
    loop = asyncio.get_running_loop()
    gives_up_at = loop.time() + _AUTO_SECONDS
    while not held.ended.is_set():
        setting, seconds = sandbox.clock.setting, _REFRESH_SECONDS
        if setting.mode == "real":
            seconds = min(max(held.due - sandbox.clock.now(), 1) / 1000 / setting.rate, seconds)
        elif setting.mode == "auto":
            seconds = min(gives_up_at - loop.time(), seconds)
            if seconds <= 0:
                engine.advance(sandbox, held.due)
                return
        with suppress(TimeoutError):
            await asyncio.wait_for(held.ended.wait(), seconds)
        engine.enter(sandbox)


def end_hold(sandbox: Sandbox, scope: Scope) -> None:
    """A second request with the key was answered: on an auto clock, this ends the hold."""
    if sandbox.clock.skips_waits:
        for held in list(sandbox.held_admissions.values()):
            if held.scope == scope:
                engine.advance(sandbox, held.due)
