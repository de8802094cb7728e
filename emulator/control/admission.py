"""The pause of new writes, for all Teams of a sandbox: set by a person, as a scenario's timeline sets it."""

from typing import Any

from emulator.control.calls import Call
from emulator.domain.admission import AdmissionPause
from emulator.service import scenarios


def show_admission(call: Call) -> dict[str, Any]:
    """GET /admission."""
    pause = call.sandbox.pause
    return {"state": "paused" if pause.paused else "open", "retry_after": pause.retry_after if pause.paused else None}


def set_admission(call: Call) -> dict[str, Any]:
    """PUT /admission: new writes get a 503 with `retry_after`, or are let in again; reads and accepted work go on."""
    fields = call.fields("AdmissionWrite")
    call.sandbox.pause = AdmissionPause(fields["state"] == "paused")
    scenarios.note_cause(call.sandbox, "pause", scenarios.EVERYONE, None)
    if "retry_after" in fields:
        call.sandbox.pause.retry_after = int(fields["retry_after"])
    call.sandbox.feed.note("scenario", scenarios.EVERYONE)
    return show_admission(call)
