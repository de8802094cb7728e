"""The whole state of a sandbox as a file: saved, and loaded in place of what was there.

Loading never enters the old state: it works whatever that state is.
"""

import asyncio

from starlette.concurrency import iterate_in_threadpool
from starlette.responses import StreamingResponse

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.control.operations import STATE_FILE
from image_workflow_emulator.control.sandboxes import describe_sandbox
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.service.sandbox.sandboxes import SandboxConflictError


def save_state(call: ControlCall) -> StreamingResponse:
    """GET /state: as it is now, whatever happens while the file is on its way."""
    # 50 ms of import that a process without state files need not spend.
    from image_workflow_emulator.service.state import archive

    name = f"{call.sandbox.id}-state.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    pieces = iterate_in_threadpool(archive.save(call.sandbox, call.now))
    return StreamingResponse(pieces, headers=headers, media_type=STATE_FILE)


async def load_state(call: ControlCall) -> JsonObject:
    """PUT /state: the sandbox becomes the one in the file, as a whole or not at all."""
    from image_workflow_emulator.service.state import archive

    plane = call.plane
    try:
        loaded = await asyncio.to_thread(
            archive.load,
            call.body,
            call.sandbox.id,
            plane.settings.max_memory,
            plane.contract,
            lambda: plane.stop.has_begun,
        )
        described = describe_sandbox(call, loaded)
        plane.sandboxes.replace(loaded)
    except (archive.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return described
