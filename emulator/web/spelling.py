"""How an answer is spelt by other readings: the media type of JSON (D72), and timestamps (D73)."""

import re
from typing import Final

from emulator.domain.readings import Readings
from emulator.http.responses import Response

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
