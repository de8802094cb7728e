"""State files: a sandbox fetched as one file, and put in the place of another."""

import asyncio
from types import ModuleType
from typing import Any

from starlette.responses import StreamingResponse

from emulator.control.calls import Call
from emulator.control.sandboxes import describe
from emulator.domain.problems import Problem
from emulator.examiner.conduct import portable
from emulator.service.sandboxes import SandboxConflictError

_MEDIA_TYPE = "application/zip"


def _import_state() -> ModuleType:
    """Import what reads and writes state files, in a thread: no other request waits for it, nor for its use."""
    from emulator.service import state

    return state


async def save_state(call: Call) -> StreamingResponse:
    """GET /state: as it is now, whatever happens while the file is on its way."""
    state = await asyncio.to_thread(_import_state)
    call.check_unchanged()
    while call.sandbox.timeline.moves:  # in the middle of a move the state is not settled
        await asyncio.sleep(0)
        call.check_unchanged()
    name = f'attachment; filename="{call.sandbox.id}-state.zip"'
    pieces = state.save(call.sandbox, call.now, portable(call.sandbox))
    return StreamingResponse(pieces, headers={"Content-Disposition": name}, media_type=_MEDIA_TYPE)


async def load_state(call: Call) -> dict[str, Any]:
    """PUT /state: the sandbox becomes the one in the file, as a whole or not at all."""
    plane = call.plane
    state = await asyncio.to_thread(_import_state)
    try:
        limit_bytes = plane.settings.max_memory
        loaded = await asyncio.to_thread(state.load, call.body, call.sandbox.id, limit_bytes, plane.contract)
        shown = describe(call, loaded)  # what is due by now happens here, before the old sandbox is given up
        plane.sandboxes.replace(loaded)
    except (state.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return shown
