"""Held admissions: a scenario keeps a request in admission for a span of emulator time,
however the sandbox's clock runs (D13).
"""

import asyncio
from contextlib import suppress
from typing import Final

from image_workflow_emulator.domain.idempotency import Scope as KeyScope
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.sandbox import HeldAdmission, Sandbox

_REFRESH_SECONDS: Final = 0.25
"""How often a held request checks its clock: its mode may have changed."""
_AUTO_HOLD_SECONDS: Final = 1.0
"""How long in real time an auto clock holds a request that is not repeated."""


async def hold(
    sandbox: Sandbox,
    scope: KeyScope | None,
    now: int,
    duration_ms: int,
) -> None:
    """Keep a request waiting for a span of emulator time."""
    held = HeldAdmission(now + duration_ms, scope)
    name = sandbox.identifiers.next("hold")
    sandbox.held_admissions[name] = held
    sandbox.timeline.schedule(held.due, engine.HOLD_EVENT, name)
    loop = asyncio.get_running_loop()
    gives_up_at = loop.time() + _AUTO_HOLD_SECONDS
    while not held.ended.is_set():
        seconds = _seconds_to_wait(sandbox, held, gives_up_at - loop.time())
        if seconds <= 0:
            engine.advance(sandbox, held.due)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(held.ended.wait(), seconds)
        engine.enter(sandbox)


def _seconds_to_wait(
    sandbox: Sandbox,
    held: HeldAdmission,
    auto_seconds: float,
) -> float:
    """Return how long to wait before the clock is checked again; 0 ends the hold.

    `auto_seconds` are left to a request that an auto clock holds.
    """
    setting = sandbox.clock.setting
    if setting.mode == "auto":
        return min(auto_seconds, _REFRESH_SECONDS)
    if setting.mode == "real":
        remaining_ms = max(held.due - sandbox.clock.now(), 1)
        return min(remaining_ms / SECOND_MS / setting.rate, _REFRESH_SECONDS)
    return _REFRESH_SECONDS


def end_hold(sandbox: Sandbox, scope: KeyScope) -> None:
    """End a hold on an auto clock: a second request with its key was answered."""
    if not sandbox.clock.skips_waits:
        return
    for held in list(sandbox.held_admissions.values()):
        if held.scope == scope:
            engine.advance(sandbox, held.due)
