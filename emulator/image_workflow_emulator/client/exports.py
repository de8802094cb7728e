"""What leaves a sandbox as a file: its state, a session, or its journal as HAR.

A state file is loaded again, a session is viewed, and an HTTP Archive (HAR 1.2) is read
by browsers and proxies.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from image_workflow_emulator import __version__
from image_workflow_emulator.client.control_client import STATE_SECONDS, ControlClient
from image_workflow_emulator.client.local_files import is_refusal
from image_workflow_emulator.http.heads import encoded_path

__tracebackhide__ = is_refusal

_FIELDS_BY_HEADER: Final = {
    "idempotency-key": "idempotency_key",
    "user-agent": "user_agent",
    "content-type": "content_type",
    "emulator-fault": "emulator_fault",
}
"""The headers of requests that the journal keeps, each with its field of an entry."""
_IN_HAR: Final = (
    "request_body",
    "response_headers",
    "response_body",
    "curl",
    "explanation",
)
"""The members of an entry that HAR has a place for, or that follow from the others."""


def saved_sandbox(plane: ControlClient, name: str) -> bytes:
    """Return a sandbox as the content of a file of this name.

    It is a session if the name ends in `.json`, else a state file; the emulator writes
    both. Raises EmulatorError.
    """
    path = "state"
    if name.endswith(".json"):
        path = "session"
    return plane.exchange("GET", path, seconds=STATE_SECONDS)


def journal_as_har(entries: Iterable[Mapping[str, Any]], url: str) -> dict[str, Any]:
    """Return entries of the journal of the emulator at `url` as HAR.

    Times are the emulator's.
    """
    log = {
        "version": "1.2",
        "creator": {"name": "image-workflow-emulator", "version": __version__},
        "entries": [har_entry(entry, url) for entry in entries],
    }
    return {"log": log}


def har_entry(entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return an entry of the journal of the emulator at `url` as an entry of a HAR.

    The journal's own fields are its member `_journal`. Raises KeyError for a field that
    is missing.
    """
    duration_ms = entry["duration_ms"] or 0
    return {
        "startedDateTime": entry["at"],
        "time": duration_ms,
        "request": _har_request(entry, url),
        "response": _har_response(entry),
        "cache": {},
        "timings": {"send": 0, "wait": duration_ms, "receive": 0},
        "_journal": _journal_fields(entry),
    }


def _har_request(entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    query = entry["query"] or ""
    parameters = parse_qsl(query, keep_blank_values=True)
    address = url + encoded_path(entry["path"])
    if query:
        address += f"?{query}"
    headers = _sent_headers(entry)
    request = {
        **_har_message(headers),
        "method": entry["method"],
        "url": address,
        "queryString": _har_pairs(parameters),
    }
    if entry["request_body"] is not None:
        request["postData"] = _har_content(entry["request_body"], headers)
    return request


def _har_response(entry: Mapping[str, Any]) -> dict[str, Any]:
    headers = entry["response_headers"] or {}
    status = entry["status"] or 0
    if entry["lost"]:
        status = 0
    return {
        **_har_message(headers),
        "status": status,
        "statusText": "",
        "content": _har_content(entry["response_body"], headers),
        "redirectURL": headers.get("location", ""),
    }


def _journal_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the journal has of a request and HAR has no place for: its number, its
    arrival by the host's clock, its connection, and what it did.

    Without them, a recording on an auto clock tells neither order nor time.
    """
    return {name: value for name, value in entry.items() if name not in _IN_HAR}


def _sent_headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of a request that the journal keeps.

    It keeps no key: the id of the credential stands for it, and tells keys apart.
    """
    headers: dict[str, str] = {}
    for header, field in _FIELDS_BY_HEADER.items():
        value = entry.get(field)
        if value:
            headers[header] = value
    credential = entry["credential"]
    if credential:
        headers["authorization"] = f"Bearer {credential['id']}"
    return headers


def _har_message(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return what a request and a response have in common. -1 is an unknown size."""
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headersSize": -1,
        "bodySize": -1,
        "headers": _har_pairs(headers.items()),
    }


def _har_pairs(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _har_content(body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return a body, which the journal has as JSON, or as text where it is none."""
    if body is None:
        text = ""
    elif isinstance(body, str):
        text = body
    else:
        text = msgspec.json.encode(body).decode()
    return {
        "mimeType": headers.get("content-type", ""),
        "size": len(text.encode()),
        "text": text,
    }
