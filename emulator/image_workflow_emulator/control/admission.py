"""The pause of new writes: read, begun and ended by hand."""

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.scenario.timeline import AdmissionChange
from image_workflow_emulator.service.sandbox import changes
from image_workflow_emulator.service.sandbox.sandbox import EVERYONE


def get_admission(call: ControlCall) -> JsonObject:
    """GET /admission: whether new writes are let in."""
    pause = call.sandbox.pause
    if not pause.paused:
        return {"state": "open", "retry_after": None}
    return {
        "state": "paused",
        "retry_after": pause.retry_after,
    }


def set_admission(call: ControlCall) -> JsonObject:
    """PUT /admission: as a timeline sets it: new writes get a 503 with `retry_after`,
    or are let in again.
    """
    change = AdmissionChange(
        admission=call.fields["state"],
        retry_after=call.fields.get("retry_after"),
    )
    changes.change_admission(call.sandbox, change)
    call.sandbox.feed.note("scenario", EVERYONE)
    return get_admission(call)
