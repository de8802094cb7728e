"""Recorded exchanges as the tools of the field write them to their files."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.kernel.timestamps import (
    MINUTE_MS,
    SECOND_MS,
    format_timestamp,
    parse_timestamp,
)

Exchanges = Sequence[RecordedExchange]


# HAR ----------------------------------------------------------------------------------


def as_har(exchanges: Exchanges) -> dict[str, Any]:
    """A HAR with nothing but what is read of it."""
    entries = [_har_entry(exchange) for exchange in exchanges]
    return _har("tests", entries)


def write_har(exchanges: Exchanges, file: Path) -> str:
    """Write such a HAR, and return the name of the file."""
    har = as_har(exchanges)
    file.write_text(json.dumps(har))
    return str(file)


def chrome(exchanges: Exchanges) -> bytes:
    """The developer tools of Chrome: "Save all as HAR (sanitized)".

    Without Authorization and the bytes of uploads, with HTTP/2's own headers, the
    preflights and the page's own requests; listed by when the answers came.
    """
    entries = [_chrome_font()]
    for number, exchange in enumerate(exchanges):
        at = (exchange.at or 0) + number  # one at a time
        later = replace(exchange, at=at)
        if later.request_headers.get("authorization"):
            entries.append(_chrome_preflight(later))
        entries.append(_chrome_entry(later))
    entries.sort(key=_answered_at)
    har = _har("WebInspector", entries)
    return json.dumps(har).encode()


def _chrome_entry(exchange: RecordedExchange) -> dict[str, Any]:
    headers = {":authority": "testserver", **exchange.request_headers}
    headers.pop("authorization", None)
    entry = _sized_entry(exchange)
    entry["_initiator"] = {"type": "script"}
    entry["_priority"] = "High"
    request = entry["request"]
    request["httpVersion"] = "http/2.0"
    request["headers"] = _har_headers(headers)
    if _is_binary(exchange.request_body):
        request["postData"] = {
            "mimeType": "image/png",
            "text": "",
        }
    response = entry["response"]
    response["statusText"] = ""
    response["_transferSize"] = 300
    response["_error"] = None
    return entry


def _chrome_preflight(exchange: RecordedExchange) -> dict[str, Any]:
    preflight = _har_entry(exchange)
    preflight["request"] = {
        "method": "OPTIONS",
        "url": exchange.url,
        "headers": [],
    }
    preflight["response"] = {
        "status": 204,
        "headers": [],
        "content": {"size": 0},
    }
    return preflight


def _answered_at(entry: Mapping[str, Any]) -> int:
    """When an answer came, if a write takes 40 ms."""
    began_at = parse_timestamp(entry["startedDateTime"])
    if entry["request"]["method"] == "GET":
        return began_at
    return began_at + 40


def _chrome_font() -> dict[str, Any]:
    return {
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "time": 9,
        "request": {
            "method": "GET",
            "url": "https://fonts.example.net/a.woff2",
        },
        "response": {
            "status": 200,
            "content": {"size": 90_000},
        },
    }


def playwright(exchanges: Exchanges) -> bytes:
    """A HAR that Playwright records. The text of a binary body is empty."""
    entries = []
    for exchange in exchanges:
        entry = _sized_entry(exchange)
        entry["pageref"] = "page@1"
        entry["_securityDetails"] = {}
        if _is_binary(exchange.request_body):
            entry["request"]["postData"] = {
                "mimeType": "image/png",
                "params": [],
                "text": "",
            }
        response = entry["response"]
        response["headersSize"] = -1
        response["bodySize"] = -1
        response["redirectURL"] = ""
        entries.append(entry)
    har = _har("Playwright", entries)
    return json.dumps(har).encode()


def mitmproxy(exchanges: Exchanges) -> bytes:
    """mitmproxy's option hardump: microseconds, and binary bodies as text."""
    entries = []
    for exchange in exchanges:
        entry = _sized_entry(exchange)
        seconds = (exchange.at or 0) / SECOND_MS
        began_at = datetime.fromtimestamp(seconds, UTC)
        entry["startedDateTime"] = began_at.isoformat(timespec="microseconds")
        if exchange.request_body:
            entry["request"]["postData"] = {
                "mimeType": exchange.request_headers["content-type"],
                "text": exchange.request_body.decode("utf-8", "surrogateescape"),
                "params": [],
            }
        entry["response"]["content"]["compression"] = 0
        entries.append(entry)
    har = _har("mitmproxy", entries)
    return json.dumps(har).encode()


def _har(creator: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    log = {
        "version": "1.2",
        "creator": {"name": creator, "version": "1"},
        "pages": [],
        "entries": entries,
    }
    return {"log": log}


def _har_entry(exchange: RecordedExchange) -> dict[str, Any]:
    request: dict[str, Any] = {
        "method": exchange.method,
        "url": exchange.url,
        "headers": _har_headers(exchange.request_headers),
    }
    if exchange.request_body:
        request["postData"] = _har_body(exchange.request_body)
    response = {
        "status": exchange.status,
        "headers": _har_headers(exchange.response_headers),
        "content": _har_body(exchange.response_body or b""),
    }
    return {
        "startedDateTime": format_timestamp(exchange.at or 0),
        "time": exchange.took_ms,
        "request": request,
        "response": response,
    }


def _sized_entry(exchange: RecordedExchange) -> dict[str, Any]:
    body = exchange.response_body or b""
    entry = _har_entry(exchange)
    content = entry["response"]["content"]
    content["size"] = len(body)
    return entry


def _har_headers(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def _har_body(body: bytes) -> dict[str, Any]:
    if _is_binary(body):
        return {
            "text": base64.b64encode(body).decode(),
            "encoding": "base64",
        }
    return {"text": body.decode()}


def _is_binary(body: bytes | None) -> bool:
    return body is not None and b"\0" in body


# Cassettes ----------------------------------------------------------------------------


def vcr(exchanges: Exchanges) -> bytes:
    """VCR.py around requests: no times but the header Date of the answers."""
    cassette = {
        "interactions": [_interaction(exchange) for exchange in exchanges],
        "version": 1,
    }
    return yaml.safe_dump(cassette).encode()


def _interaction(exchange: RecordedExchange) -> dict[str, Any]:
    seconds = (exchange.at or 0) // SECOND_MS
    whole_second = datetime.fromtimestamp(seconds, UTC)
    answered = dict(exchange.response_headers)
    answered["Date"] = format_datetime(whole_second, usegmt=True)
    content = _text_if_possible(exchange.response_body or b"")
    request = {
        "body": _text_if_possible(exchange.request_body),
        "headers": _listed(exchange.request_headers),
        "method": exchange.method,
        "uri": exchange.url,
    }
    response = {
        "body": {"string": content},
        "headers": _listed(answered),
        "status": {
            "code": exchange.status,
            "message": "OK",
        },
    }
    return {"request": request, "response": response}


def _listed(headers: Mapping[str, str]) -> dict[str, list[str]]:
    return {name.title(): [value] for name, value in headers.items()}


def _text_if_possible(body: bytes | None) -> str | bytes | None:
    if body is None or _is_binary(body):
        return body
    return body.decode()


def at_the_minute(exchange: RecordedExchange) -> RecordedExchange:
    """An exchange whose time is known by the minute alone."""
    minutes = (exchange.at or 0) // MINUTE_MS
    return replace(exchange, at=minutes * MINUTE_MS)


def compressed(exchange: RecordedExchange) -> RecordedExchange:
    """An exchange whose answer is compressed, as VCR.py keeps it."""
    if not exchange.response_body:
        return exchange
    headers = {**exchange.response_headers, "content-encoding": "gzip"}
    body = gzip.compress(exchange.response_body)
    return replace(
        exchange,
        response_headers=headers,
        response_body=body,
    )
