"""Recorded requests as an HTTP Archive (HAR 1.2), which browsers' tools and proxies open. Knows nothing but their JSON."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from emulator import __version__
from emulator.http.requests import encoded_path

_UNKNOWN = -1
"""HAR's value for a size or a time that was not measured."""
_OWN = ("sequence", "operation", "code", "request_id", "replayed", "lost", "rule", "note", "sandbox")
"""Fields of the journal that HTTP does not have: custom fields of HAR, which begin with an underscore."""


def as_har(entries: Iterable[Mapping[str, Any]], url: str) -> dict[str, Any]:
    """Return recorded requests, oldest first, as HAR; `url` is the address of the emulator."""
    creator = {"name": "image-workflow-emulator", "version": __version__}
    return {"log": {"version": "1.2", "creator": creator, "entries": [_entry(entry, url) for entry in entries]}}


def _entry(entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    took = entry["duration_ms"] if entry["duration_ms"] is not None else 0
    return {
        "startedDateTime": entry["arrived_at"],
        "time": took,
        "request": _request(entry, url),
        "response": _response(entry),
        "cache": {},
        "timings": {"send": 0, "wait": took, "receive": 0},
        **{f"_{name}": entry[name] for name in _OWN if entry.get(name) is not None},
    }


def _request(entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    headers = {
        "Authorization": entry["credential"] and f"Bearer {entry['credential']['key']}",
        "Idempotency-Key": entry["idempotency_key"],
        "User-Agent": entry["user_agent"],
        "Content-Type": entry["content_type"],
        "Emulator-Fault": entry["emulator_fault"],
    }
    query = entry["query"]
    request = {
        "method": entry["method"],
        "url": url + encoded_path(entry["path"]) + (f"?{query}" if query else ""),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "queryString": [_pair(*pair) for pair in parse_qsl(query, keep_blank_values=True)],
        "headersSize": _UNKNOWN,
        "bodySize": _UNKNOWN,
    }
    if entry["request_body"] is not None:
        body, media_type = entry["request_body"], entry["content_type"] or ""
        # What is no JSON is kept as text; a body that is one string of JSON is refused, as that is.
        request["postData"] = {"mimeType": media_type, "text": body if isinstance(body, str) else _json(body)}
    return request


def _response(entry: Mapping[str, Any]) -> dict[str, Any]:
    status = entry["status"] or 0
    headers = entry["response_headers"] or {}
    text = "" if entry["response_body"] is None else _json(entry["response_body"])
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if status in set(HTTPStatus) else "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "content": {"size": len(text.encode()), "mimeType": headers.get("content-type", ""), "text": text},
        "redirectURL": "",
        "headersSize": _UNKNOWN,
        "bodySize": _UNKNOWN,
    }


def _json(value: Any) -> str:
    """Write a body as the emulator does, so that its size is that of the answer."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _pairs(values: Mapping[str, Any]) -> list[dict[str, str]]:
    return [_pair(name, value) for name, value in values.items() if value]


def _pair(name: str, value: Any) -> dict[str, str]:
    return {"name": name, "value": str(value)}
