"""Recordings as this emulator's own journal writes them: `requests --format json` and `exec --journal FILE`."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.http.requests import encoded_path
from image_workflow_emulator.kernel.timestamps import parse_timestamp

ORIGIN: Final = "http://emulator"
"""Stands for the address of the emulator, which a journal does not hold."""


def oldest_first(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return entries in the order of their requests, those of each sandbox together."""
    return sorted(entries, key=lambda entry: (str(entry.get("sandbox", "")), int(entry["sequence"])))


def read_entry(entry: Mapping[str, Any], where: str, origin: str = ORIGIN) -> RecordedExchange:
    """Read one entry, of the emulator at `origin`. Raises KeyError, TypeError or ValueError for what is none."""
    query = entry.get("query")
    took_ms = entry.get("duration_ms")
    response_body = _body(entry.get("response_body"))
    note = str(entry.get("note") or "")
    return RecordedExchange(
        where=where,
        at=parse_timestamp(entry["at"]),
        took_ms=None if took_ms is None else float(took_ms),
        method=str(entry["method"]),
        url=origin + encoded_path(entry["path"]) + (f"?{query}" if query else ""),
        request_headers=_request_headers(entry),
        request_body=_body(entry.get("request_body")),
        status=None if entry.get("lost") else entry["status"],
        response_headers={name.lower(): value for name, value in (entry.get("response_headers") or {}).items()},
        response_body=response_body,
        surface=entry.get("bytes"),
        is_partial="is not shown" in note and not str(entry.get("bytes") or ""),
    )


def _request_headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that the journal keeps. It has only the beginning of a key: the credential's id tells keys apart."""
    kept = ("idempotency-key", "user-agent", "content-type", "emulator-fault")
    headers = {name: entry.get(name.replace("-", "_")) for name in kept}
    if entry.get("credential"):
        headers["authorization"] = f"Bearer {entry['credential']['id']}"
    return {name: value for name, value in headers.items() if value}


def _body(value: Any) -> bytes | None:
    """Return a body, which the journal shows as JSON, or as text where it is none."""
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else orjson.dumps(value)
