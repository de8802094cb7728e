"""State files: a sandbox saved as one file, and loaded from one."""

import asyncio
from typing import Any

from starlette.concurrency import iterate_in_threadpool
from starlette.responses import StreamingResponse

from emulator.control.calls import ControlCall, ControlPlane
from emulator.control.sandboxes import describe
from emulator.domain.problems import Problem
from emulator.service import engine
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import SandboxConflictError


def save_state(call: ControlCall) -> StreamingResponse:
    """GET /state: as it is now, whatever happens while the file is on its way."""
    from emulator.service import state  # 50 ms that a process without state files need not spend

    headers = {"Content-Disposition": f'attachment; filename="{call.sandbox.id}-state.zip"'}
    pieces = iterate_in_threadpool(state.save(call.sandbox, call.now))
    return StreamingResponse(pieces, headers=headers, media_type="application/zip")


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
