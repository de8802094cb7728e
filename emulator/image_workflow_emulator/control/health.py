"""Whether the emulator is ready, and its versions."""

from image_workflow_emulator import __version__
from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall


def get_health(call: ControlCall) -> JsonObject:
    """GET /health: answered as soon as the service is ready."""
    return {
        "status": "ok",
        "version": __version__,
        "contract_version": call.plane.contract.version,
    }
