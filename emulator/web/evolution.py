"""Additions that the service may make within v1 (section 9), to test clients with: `--evolution on` (D68).

Owns the unknown fields of every object and the additional headers; longer identifiers, and with them cursors, are made in
`kernel/identifiers`, more premade ingredients in `service/premade`. Nothing here runs where evolution is off.
"""

from typing import Any, Final

import orjson

from emulator.http.responses import Header, Response
from emulator.kernel.json_bytes import json_bytes

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
