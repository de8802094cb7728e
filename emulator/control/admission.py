"""The pause of new writes, for all Teams of a sandbox: set by a person, as a scenario's timeline sets it."""

from typing import Any

from emulator.control.calls import ControlCall
from emulator.documents.values import optional, parse_whole_number
from emulator.scenario.changes import AdmissionChange
from emulator.service import scenarios


def show_admission(call: ControlCall) -> dict[str, Any]:
    """GET /admission."""
    pause = call.sandbox.pause
    return {"state": "paused" if pause.paused else "open", "retry_after": pause.retry_after if pause.paused else None}


def set_admission(call: ControlCall) -> dict[str, Any]:
    """PUT /admission: new writes get a 503 with `retry_after`, or are let in again; reads and accepted work go on."""
    fields = call.fields("AdmissionWrite")
    retry_after = optional(fields, "retry_after", parse_whole_number)
    scenarios.change_admission(call.sandbox, AdmissionChange(fields["state"], retry_after))
    call.sandbox.feed.note("scenario", scenarios.EVERYONE)
    return show_admission(call)
