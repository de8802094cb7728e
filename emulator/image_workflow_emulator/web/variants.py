"""How answers differ where a sandbox asks for it. Nothing here runs where none does.

- Additions that the service may make within v1 (section 9): `--evolution on` (D68). The unknown fields of every object and the
  additional headers are here; longer identifiers, and with them cursors, are made in `kernel/identifiers`, more premade
  ingredients in `service/premade`.
- The spelling of other readings: the media type of JSON (D72), and timestamps (D73).
"""

import re
from typing import Any, Final

import orjson

from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.http.responses import Header, Response
from image_workflow_emulator.kernel.json_bytes import json_bytes

HEADERS: Final[tuple[Header, ...]] = ((b"service-region", b"local-1"), (b"server-timing", b"admission;dur=1"))
ADDED: Final = {"evolved": {"since": "1.1", "tags": ["new", "optional"], "note": None}}
"""The first field of every object: one that no client knows, with every kind of value inside."""
_AS_IT_IS: Final = frozenset({"request", "headers", "body"})
"""Fields whose objects repeat what the client sent, or say what it is to send: nothing may be added there."""


def evolved(response: Response) -> Response:
    """Return an answer with more fields, if it is JSON, and more headers."""
    headers, body = response.headers, response.body
    if body and any(name == b"content-type" and value.endswith(b"json") for name, value in headers):
        body = json_bytes(_evolved_value(orjson.loads(body)))
        headers = tuple((name, b"%d" % len(body) if name == b"content-length" else value) for name, value in headers)
    return Response(response.status, (*headers, *HEADERS), body)


def _evolved_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_evolved_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: inner if name in _AS_IT_IS else _evolved_value(inner) for name, inner in value.items()}
    return {**ADDED, **kept}


_JSON: Final = b"json"
_TIMESTAMP: Final = re.compile(rb'("(?:created|updated|started|finished|expires)_at":"[0-9T:.-]{23})Z"')
"""A member that holds an instant. No text can look so: in a text, the quotes are escaped."""


def respelt(response: Response, readings: Readings) -> Response:
    """Return an answer as the readings write it."""
    headers, body = dict(response.headers), response.body
    media_type = headers.get(b"content-type", b"")
    if not media_type.endswith(_JSON):
        return response
    if readings.media_types == "charset":
        headers[b"content-type"] = media_type + b"; charset=utf-8"
    if readings.timestamps == "offset":
        body = _TIMESTAMP.sub(rb'\1+00:00"', body)
        headers[b"content-length"] = b"%d" % len(body)
    return Response(response.status, tuple(headers.items()), body)
