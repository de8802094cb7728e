"""State files: a sandbox fetched as one file, and put in the place of another."""

from typing import Any

from starlette.responses import Response

from emulator.control.calls import Call
from emulator.control.sandboxes import describe
from emulator.domain.problems import Problem
from emulator.scenario.format import parse_scenario
from emulator.scenario.scenario import Scenario
from emulator.service import state
from emulator.service.sandboxes import SandboxConflictError

_MEDIA_TYPE = "application/zip"


def save_state(call: Call) -> Response:
    """GET /state."""
    name = f'attachment; filename="{call.sandbox.id}-state.zip"'
    return Response(state.save(call.sandbox), headers={"Content-Disposition": name}, media_type=_MEDIA_TYPE)


def load_state(call: Call) -> dict[str, Any]:
    """PUT /state: the sandbox becomes the one in the file, as a whole or not at all."""
    plane = call.plane

    def read_scenario(text: str, file: str) -> Scenario:
        return parse_scenario(text, file, plane.facts)

    try:
        loaded = state.load(call.body, call.sandbox.id, plane.sandboxes.memory, read_scenario)
        shown = describe(call, loaded)  # what is due by now happens here, before the old sandbox is given up
        plane.sandboxes.replace(loaded)
    except (state.StateError, SandboxConflictError) as error:
        raise Problem("invalid_request", f"(body): {error}") from None
    return shown
