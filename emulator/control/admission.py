"""The pause of new writes, for all Teams of a sandbox: set by a person, as a scenario's timeline sets it."""

from typing import Any

from emulator.control.calls import Call
from emulator.control.fields import whole_number, word
from emulator.domain.admission import AdmissionPause
from emulator.domain.problems import Problem
from emulator.service import scenarios

_LONGEST_WAIT_SECONDS = 86_400


def show_admission(call: Call) -> dict[str, Any]:
    """GET /admission."""
    pause = call.sandbox.pause
    return {"state": "paused" if pause.paused else "open", "retry_after": pause.retry_after if pause.paused else None}


def set_admission(call: Call) -> dict[str, Any]:
    """PUT /admission: new writes get a 503 with `retry_after`, or are let in again; reads and accepted work go on."""
    fields = call.fields("state", "retry_after")
    state = fields.need("state", word("paused", "open"))
    retry_after = fields.get("retry_after", whole_number(1, _LONGEST_WAIT_SECONDS))
    if state == "open" and retry_after is not None:
        raise Problem("invalid_request", f"/retry_after: found {retry_after}; expected it only with the state paused")
    call.sandbox.pause = AdmissionPause(state == "paused")
    if retry_after is not None:
        call.sandbox.pause.retry_after = retry_after
    call.sandbox.feed.note("scenario", scenarios.EVERYONE)
    return show_admission(call)
