"""State files: a sandbox saved as one file, and loaded from one."""

import asyncio
from typing import Any

from starlette.concurrency import iterate_in_threadpool

from emulator.control.calls import ControlCall, ControlPlane
from emulator.control.sandboxes import describe
from emulator.control.streams import Stream
from emulator.domain.problems import Problem
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
    try:
        loaded = await asyncio.to_thread(_load, call.body, call.sandbox.id, plane)
        shown = describe(call, loaded)
        plane.sandboxes.replace(loaded)
    except (state.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return shown


def _load(content: bytes, identifier: str, plane: ControlPlane) -> Sandbox:
    """Load a sandbox, and settle it: before the old one is given up, and while others are served."""
    from emulator.service import state

    limit_bytes, stop = plane.settings.max_memory, plane.stop
    loaded = state.load(content, identifier, limit_bytes, plane.contract, lambda: stop.has_begun)
    engine.enter(loaded)
    return loaded
