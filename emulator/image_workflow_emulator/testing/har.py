"""Requests of the journal as an HTTP Archive (HAR 1.2), which browsers and proxies read."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from image_workflow_emulator import __version__
from image_workflow_emulator.http.requests import encoded_path


def journal_as_har(entries: Iterable[Mapping[str, Any]], url: str) -> dict[str, Any]:
    """Return entries of the journal of the emulator at `url` as HAR, in the emulator's time."""
    creator = {"name": "image-workflow-emulator", "version": __version__}
    return {"log": {"version": "1.2", "creator": creator, "entries": [har_entry(entry, url) for entry in entries]}}


def har_entry(entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return an entry of the journal of the emulator at `url` as an entry of a HAR. Raises KeyError for a field that
    lacks.
    """
    query, took, answered = entry["query"] or "", entry["duration_ms"] or 0, entry["response_headers"] or {}
    pairs = parse_qsl(query, keep_blank_values=True)
    names = ("idempotency-key", "user-agent", "content-type", "emulator-fault")
    headers = {name: value for name in names if (value := entry.get(name.replace("-", "_")))}
    if entry["credential"]:  # the journal keeps no key: the credential's id distinguishes keys
        headers["authorization"] = f"Bearer {entry['credential']['id']}"
    request = {
        **_message(headers),
        "method": entry["method"],
        "url": url + encoded_path(entry["path"]) + (f"?{query}" if query else ""),
        "queryString": [{"name": name, "value": value} for name, value in pairs],
    }
    if entry["request_body"] is not None:
        request["postData"] = _content(entry["request_body"], headers)
    response = {
        **_message(answered),
        "status": 0 if entry["lost"] else entry["status"] or 0,
        "statusText": "",
        "content": _content(entry["response_body"], answered),
        "redirectURL": answered.get("location", ""),
    }
    timings = {"send": 0, "wait": took, "receive": 0}
    began = {"startedDateTime": entry["at"], "time": took}
    return {**began, "request": request, "response": response, "cache": {}, "timings": timings}


def _message(headers: Mapping[str, str]) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in headers.items()]
    return {"httpVersion": "HTTP/1.1", "cookies": [], "headersSize": -1, "bodySize": -1, "headers": listed}


def _content(body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return a body, which the journal has as JSON, or as text where it is none."""
    text = body if isinstance(body, str) else "" if body is None else orjson.dumps(body).decode()
    return {"mimeType": headers.get("content-type", ""), "size": len(text.encode()), "text": text}
