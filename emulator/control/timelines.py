"""The timeline of a running scenario as people read it: what it sets when, as its file spells it."""

from typing import Any

from msgspec import structs

from emulator.kernel.timestamps import SECOND_MS, timestamp_or_none
from emulator.scenario.changes import AdmissionChange, After, Change, CredentialChange
from emulator.scenario.matching import BYTE_SURFACES, EVERY, RequestMatch
from emulator.scenario.playbook import Playbook


def describe_timeline(playbook: Playbook, now: int) -> list[dict[str, Any]]:
    """Return the changes of a scenario in order, each with the instant at which it was made, null if it is to come."""
    return [
        {
            **_when(timed.when),
            "set": _spelling(timed.change),
            "line": timed.line or None,
            "done_at": timestamp_or_none(playbook.done_at(index, now)),
        }
        for index, timed in enumerate(playbook.scenario.timeline)
    ]


def _when(when: int | After) -> dict[str, Any]:
    """Return when a change is made, as a scenario file spells it."""
    if isinstance(when, int):
        return {"at": _span(when)}
    return {"after": {"match": _match(when.match), "nth": when.nth}}


def _match(match: RequestMatch) -> dict[str, Any]:
    """Return which requests are meant; names that are a list in the file are one here too."""
    surfaces = {frozenset(BYTE_SURFACES): EVERY}.get(match.bytes, next(iter(match.bytes), None))
    operations = sorted(match.operations)
    values = {
        "operation": None
        if surfaces or operations == [EVERY]
        else operations[0]
        if len(operations) == 1
        else operations,
        "team": match.team,
        "body": match.body,
        "credential": match.credential,
        "resource": match.resource,
        "query": match.query,
        "idempotency_key": match.idempotency_key,
        "bytes": surfaces,
    }
    return {name: value for name, value in values.items() if value not in (None, {})}


def _span(span_ms: int) -> str:
    return f"{span_ms / SECOND_MS:.3f}".rstrip("0").rstrip(".") + "s"


def _spelling(change: Change) -> dict[str, Any]:
    """Return a change as a scenario file spells it."""
    values = structs.asdict(change)
    match change:
        case AdmissionChange():
            pass
        case CredentialChange(key, expires_at=expires_at):
            del values["key"]
            values = {"credential": key, **values, "expires_at": timestamp_or_none(expires_at)}
    return {name: value for name, value in values.items() if value is not None}
