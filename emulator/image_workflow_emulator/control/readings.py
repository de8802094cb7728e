"""The readings of the specification, where it is silent."""

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.scenario.readings import described_readings


def list_readings(call: ControlCall) -> JsonObject:
    """GET /readings: every reading, and whether this sandbox has it."""
    chosen_names = chosen(call.sandbox.readings)
    readings = []
    for reading in described_readings():
        name = f"{reading['decision']}={reading['id']}"
        readings.append({**reading, "chosen": name in chosen_names})
    return {"data": readings}
