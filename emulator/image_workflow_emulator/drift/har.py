"""Recordings as HTTP Archives (HAR 1.2), as browsers, mitmproxy, Charles and Playwright export them.

Repairs what these tools leave out, and marks what cannot be repaired: a body that is missing, cut off, or kept in
another file makes its exchange evidence for the status alone.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.testing.transport import lower_names

_NOT_TEXT = ("image/", "application/octet-stream")


def read_entry(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Read one entry. Raises KeyError, TypeError or ValueError for what is none."""
    request, response, took = entry["request"], entry.get("response") or {}, entry.get("time")
    status = int(response.get("status") or 0) or None  # browsers write 0 or -1 where no answer came
    request_body, is_request_partial = _request_body(request)
    response_body, is_response_partial = _response_body(response) if status else (None, False)
    return RecordedExchange(
        where=where,
        at=_instant(entry.get("startedDateTime")),
        took_ms=float(took) if isinstance(took, int | float) and took >= 0 else None,
        method=str(request["method"]).upper(),
        url=str(request["url"]),
        request_headers=_headers(request),
        request_body=request_body,
        status=status if status is not None and status > 0 else None,
        response_headers=_headers(response),
        response_body=response_body,
        is_partial=is_request_partial or is_response_partial,
    )


def _instant(text: Any) -> int | None:
    """Read the time at which a request began, which may have more digits than microseconds."""
    return parse_timestamp(re.sub(r"(\.\d{6})\d+", r"\1", text)) if isinstance(text, str) else None


def _headers(message: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers; those of HTTP/2 that stand for the request line (`:path`) are left out."""
    pairs = [(str(header["name"]), str(header["value"])) for header in message.get("headers") or ()]
    return lower_names(pair for pair in pairs if not pair[0].startswith(":"))


def _request_body(request: Mapping[str, Any]) -> tuple[bytes | None, bool]:
    posted = request.get("postData")
    if not posted:
        size = request.get("bodySize") or 0
        return None, isinstance(size, int) and size > 0
    if posted.get("text") is not None:
        return _decoded(posted)
    if posted.get("params"):
        pairs = [(str(parameter["name"]), str(parameter.get("value", ""))) for parameter in posted["params"]]
        return urlencode(pairs).encode(), False
    return None, True


def _response_body(response: Mapping[str, Any]) -> tuple[bytes | None, bool]:
    content = response.get("content") or {}
    text, size = content.get("text"), content.get("size") or 0
    if text is None:
        return None, (isinstance(size, int) and size > 0) or "_file" in content
    body, is_partial = _decoded(content)
    is_cut = isinstance(size, int) and body is not None and len(body) < size
    return body, is_partial or is_cut


def _decoded(content: Mapping[str, Any]) -> tuple[bytes | None, bool]:
    """Return a body, and whether it is spoiled: cut off, or bytes that were written as text."""
    text = str(content["text"])
    if content.get("encoding") != "base64":
        return text.encode(errors="replace"), str(content.get("mimeType", "")).startswith(_NOT_TEXT)
    compact = "".join(text.split())
    whole = compact[: len(compact) // 4 * 4]
    try:
        return base64.b64decode(whole, validate=True), len(whole) < len(compact)
    except ValueError:
        return None, True
