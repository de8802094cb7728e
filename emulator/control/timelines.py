"""The timeline of a running scenario as people read it: what it sets when, as its file spells it."""

from dataclasses import fields
from typing import Any

from emulator.kernel.timestamps import SECOND_MS, format_timestamp
from emulator.scenario.changes import AdmissionChange, Change, CredentialChange
from emulator.scenario.playbook import Playbook


def describe_timeline(playbook: Playbook, now: int) -> list[dict[str, Any]]:
    """Return the changes of a scenario in order, each with the instant at which it was made, null if it is to come."""
    return [
        {
            "at": _span(timed.at_ms),
            "set": _spelling(timed.change),
            "line": timed.line or None,
            "done_at": format_timestamp(due) if due <= now else None,
        }
        for timed, (due, _) in zip(playbook.scenario.timeline, playbook.changes_due(), strict=True)
    ]


def _span(span_ms: int) -> str:
    return f"{span_ms / SECOND_MS:.3f}".rstrip("0").rstrip(".") + "s"


def _spelling(change: Change) -> dict[str, Any]:
    """Return a change as a scenario file spells it."""
    values = {field.name: getattr(change, field.name) for field in fields(change)}
    match change:
        case AdmissionChange():
            pass
        case CredentialChange(key, expires_at=expires_at):
            del values["key"]
            instant = None if expires_at is None else format_timestamp(expires_at)
            values = {"credential": key, **values, "expires_at": instant}
    return {name: value for name, value in values.items() if value is not None}
