"""How answers differ where a sandbox asks for it. Nothing here runs where none does.

- Additions that the service may make within v1 (section 9): `--evolution on` (D68). The
  unknown fields of every object and the additional headers are here; longer identifiers,
  and with them cursors, are made in `kernel/seed`, more premade ingredients in
  `service/sandbox/premade`.
- The spelling of other readings: the media type of JSON (D72), and timestamps (D73).
"""

import re
from typing import Any, Final

import msgspec

from image_workflow_emulator.domain.readings import Readings
from image_workflow_emulator.http.answers import Answer, Header

HEADERS: Final[tuple[Header, ...]] = (
    (b"service-region", b"local-1"),
    (b"server-timing", b"admission;dur=1"),
)
ADDED: Final = {
    "evolved": {
        "since": "1.1",
        "tags": ["new", "optional"],
        "note": None,
    },
}
"""The first field of every object: one that no client knows, with every kind of value."""
_KEPT_AS_SENT: Final = frozenset({"request", "headers", "body"})
"""Fields whose objects repeat what the client sent, or say what it is to send: nothing
may be added there."""
_TIMESTAMP: Final = re.compile(
    rb'("(?:created|updated|started|finished|expires)_at":"[0-9T:.-]{23})Z"'
)
"""A member that holds an instant. No text has this form: in a text, the quotes are
escaped."""


def vary(
    answer: Answer,
    readings: Readings,
    is_evolved: bool,
) -> Answer:
    """Return an answer as the readings write it.

    An evolved one has more headers, and more fields if it is JSON.
    """
    headers = dict(answer.headers)
    body = answer.body
    media_type = headers.get(b"content-type", b"")
    if body and media_type.endswith(b"json"):
        body = _varied_json(body, readings, is_evolved)
        headers[b"content-length"] = b"%d" % len(body)
        if readings.media_types == "charset":
            headers[b"content-type"] = media_type + b"; charset=utf-8"
    added: tuple[Header, ...] = ()
    if is_evolved:
        added = HEADERS
    return Answer(answer.status, (*headers.items(), *added), body)


def _varied_json(
    body: bytes,
    readings: Readings,
    is_evolved: bool,
) -> bytes:
    """Return a body with more fields, and with timestamps as the readings write them."""
    if is_evolved:
        evolved = _evolved_value(msgspec.json.decode(body))
        body = msgspec.json.encode(evolved)
    if readings.timestamps == "offset":
        body = _TIMESTAMP.sub(rb'\1+00:00"', body)
    return body


def _evolved_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_evolved_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    evolved: dict[str, Any] = {**ADDED}
    for name, inner in value.items():
        if name in _KEPT_AS_SENT:
            evolved[name] = inner
        else:
            evolved[name] = _evolved_value(inner)
    return evolved
