"""The timeline of a running scenario as people read it: what it sets when, as its file spells it."""

from collections.abc import Collection
from typing import Any

from msgspec import structs

from emulator.kernel.timestamps import SECOND_MS, timestamp_or_none
from emulator.scenario.changes import After, Change, CredentialChange
from emulator.scenario.matching import BYTE_SURFACES, EVERY, RequestMatch
from emulator.scenario.playbook import Playbook


def describe_timeline(playbook: Playbook, now: int) -> list[dict[str, Any]]:
    """Return the changes of a scenario in order, each with the instant at which it was made, null if it is to come."""
    return [
        {
            **_when(timed.when),
            "set": describe_change(timed.change),
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
    values = {
        "operation": None if match.bytes or EVERY in match.operations else _one_or_all(match.operations),
        "team": match.team,
        "body": match.body,
        "credential": match.credential,
        "resource": match.resource,
        "query": match.query,
        "idempotency_key": match.idempotency_key,
        "bytes": EVERY if match.bytes == frozenset(BYTE_SURFACES) else _one_or_all(match.bytes),
    }
    return {name: value for name, value in values.items() if value not in (None, {})}


def _one_or_all(names: Collection[str]) -> str | list[str] | None:
    return sorted(names) if len(names) > 1 else next(iter(names), None)


def _span(span_ms: int) -> str:
    return f"{span_ms / SECOND_MS:.3f}".rstrip("0").rstrip(".") + "s"


def describe_change(change: Change) -> dict[str, Any]:
    """Return a change as a scenario file spells it."""
    values = structs.asdict(change)
    if isinstance(change, CredentialChange):
        values = {"credential": values.pop("key"), **values, "expires_at": timestamp_or_none(change.expires_at)}
    return {name: value for name, value in values.items() if value not in (None, ())}
