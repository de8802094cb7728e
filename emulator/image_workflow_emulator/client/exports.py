"""What leaves a sandbox as a file: its state, to be loaded again; a session, to be viewed; and its journal as an HTTP
Archive (HAR 1.2), which browsers and proxies read.

A session is what the control plane answers at one moment, for `Open file` of the page to show again: JSON with
`format`, `version`, `sandbox`, `answers` (by path, of requests the newest, each with its explanation), `pictures` (by
id, as data URLs) and `left_out` (how many requests and pictures are not in it). No key of the sandbox is whole in it.
Must not know what an answer says, but where requests and pictures are.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from image_workflow_emulator import __version__
from image_workflow_emulator.client.control_client import (
    DEFAULT_SANDBOX,
    MAX_REQUESTS,
    STATE_SECONDS,
    ControlClient,
)
from image_workflow_emulator.client.local_files import is_refusal
from image_workflow_emulator.http.heads import encoded_path

__tracebackhide__ = is_refusal

MAX_PICTURE_BYTES: Final = 8 * 2**20
"""Limit of the pictures of a session, the newest first."""
_ANSWERS: Final = (
    *("clock", "readings", "scenario", "teams", "coverage", "conduct?ended=true"),
    *(f"{name}?limit={MAX_REQUESTS}" for name in ("requests", "work", "assets")),
)
"""The paths that a session has answers of."""


def saved_sandbox(plane: ControlClient, name: str) -> bytes:
    """Return a sandbox as the content of a file of this name. Raises EmulatorError."""
    return (
        _session(plane)
        if name.endswith(".json")
        else plane.exchange("GET", "state", seconds=STATE_SECONDS)
    )


def _session(plane: ControlClient) -> bytes:
    from image_workflow_emulator.control.describing import Masks

    answers = {path.partition("?")[0]: plane.call("GET", path) for path in _ANSWERS}
    running, teams, page = (
        answers["scenario"],
        answers["teams"]["data"],
        answers["requests"],
    )
    # No more of it: its timeline has keys in the form of the world file.
    answers["scenario"] = {
        name: running[name] for name in ("scenario", "team_scenarios")
    }
    keys = [
        credential.pop("key") for team in teams for credential in team["credentials"]
    ]
    more = page["dropped"] + page["total"] - len(page["data"])
    page["data"] = [
        plane.call("GET", f"requests/{entry['sequence']}") for entry in page["data"]
    ]
    # Newest first, those of Assets and then of ingredients, each with its format.
    urls = [(asset["url"], asset["format"]) for asset in answers["assets"]["data"]]
    urls += [
        (url, "png")
        for work in answers["work"]["data"]
        for url in work.get("pictures", ())
    ]
    pictures, more_pictures = _pictures(plane, urls)
    session = {
        "format": "image-workflow-emulator session",
        "version": 1,
        "sandbox": plane.sandbox or DEFAULT_SANDBOX,
        "left_out": {"requests": more, "pictures": more_pictures},
        "answers": answers,
    }
    return f'{Masks(keys).of_text(json.dumps(session))[:-1]}, "pictures": {json.dumps(pictures)}}}\n'.encode()


def _pictures(
    plane: ControlClient, urls: list[tuple[str, str]]
) -> tuple[dict[str, str], int]:
    """Return the first pictures as data URLs, as many as a session holds, and how many there are more."""
    found: dict[str, str] = {}
    size_bytes = 0
    for url, kind in urls:
        name = url.rpartition("/")[2]
        data = plane.exchange("GET", f"pictures/{name}")
        size_bytes += len(data)
        if size_bytes > MAX_PICTURE_BYTES:
            break
        found[name] = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return found, len(urls) - len(found)


def journal_as_har(entries: Iterable[Mapping[str, Any]], url: str) -> dict[str, Any]:
    """Return entries of the journal of the emulator at `url` as HAR, in the emulator's time."""
    creator = {"name": "image-workflow-emulator", "version": __version__}
    return {
        "log": {
            "version": "1.2",
            "creator": creator,
            "entries": [har_entry(entry, url) for entry in entries],
        }
    }


def har_entry(entry: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Return an entry of the journal of the emulator at `url` as an entry of a HAR. Raises KeyError for a field that
    lacks.
    """
    query, took, answered = (
        entry["query"] or "",
        entry["duration_ms"] or 0,
        entry["response_headers"] or {},
    )
    names = ("idempotency-key", "user-agent", "content-type", "emulator-fault")
    headers = {
        name: value for name in names if (value := entry.get(name.replace("-", "_")))
    }
    if entry[
        "credential"
    ]:  # the journal keeps no key: the credential's id distinguishes keys
        headers["authorization"] = f"Bearer {entry['credential']['id']}"
    request = {
        **_message(headers),
        "method": entry["method"],
        "url": url + encoded_path(entry["path"]) + (f"?{query}" if query else ""),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(query, keep_blank_values=True)
        ],
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
    return {
        **began,
        "request": request,
        "response": response,
        "cache": {},
        "timings": timings,
    }


def _message(headers: Mapping[str, str]) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in headers.items()]
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headersSize": -1,
        "bodySize": -1,
        "headers": listed,
    }


def _content(body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return a body, which the journal has as JSON, or as text where it is none."""
    text = (
        body
        if isinstance(body, str)
        else ""
        if body is None
        else orjson.dumps(body).decode()
    )
    return {
        "mimeType": headers.get("content-type", ""),
        "size": len(text.encode()),
        "text": text,
    }
