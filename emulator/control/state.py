"""State files: a sandbox saved as one file, and loaded from one."""

import asyncio
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

from starlette.concurrency import iterate_in_threadpool

from emulator.contract import Contract
from emulator.control.calls import ControlCall
from emulator.control.sandboxes import describe
from emulator.control.streams import Stream
from emulator.domain.problems import Problem
from emulator.http.requests import ClientDisconnectedError
from emulator.service import engine
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import SandboxConflictError

_MEDIA_TYPE = "application/zip"


async def save_state(call: ControlCall) -> Stream:
    """GET /state: as it is now, whatever happens while the file is on its way."""
    from emulator.service import state  # 50 ms that a process without state files need not spend

    while call.sandbox.timeline.moves:  # in the middle of a move the state is not settled
        await asyncio.sleep(0)
        call.check_unchanged()
    name = f'attachment; filename="{call.sandbox.id}-state.zip"'
    pieces = state.save(call.sandbox, call.now)
    return Stream(iterate_in_threadpool(pieces), {"Content-Disposition": name}, _MEDIA_TYPE)


async def load_state(call: ControlCall) -> dict[str, Any]:
    """PUT /state: the sandbox becomes the one in the file, as a whole or not at all."""
    from emulator.service import state

    plane = call.plane
    limit_bytes = plane.settings.max_memory
    try:
        loaded = await _in_thread(partial(_load, call.body, call.sandbox.id, limit_bytes, plane.contract))
        shown = describe(call, loaded)
        plane.sandboxes.replace(loaded)
    except (state.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return shown


def _load(content: bytes, identifier: str, limit_bytes: int, contract: Contract, go_on: Callable[[], None]) -> Sandbox:
    """Load a sandbox, and settle it: before the old one is given up, and while others are served."""
    from emulator.service import state

    loaded = state.load(content, identifier, limit_bytes, contract, go_on)
    engine.enter(loaded)
    return loaded


async def _in_thread(work: Callable[[Callable[[], None]], Sandbox]) -> Sandbox:
    """Do work in a thread, which ends soon after this task is cancelled: the process could not end before."""
    is_given_up = Event()

    def go_on() -> None:
        if is_given_up.is_set():
            raise asyncio.CancelledError

    try:
        return await asyncio.to_thread(work, go_on)
    except asyncio.CancelledError:  # the emulator stops, and has cut the connection
        raise ClientDisconnectedError from None
    finally:
        is_given_up.set()
