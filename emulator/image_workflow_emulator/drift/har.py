"""HTTP Archives (HAR 1.2), as browsers, Playwright, mitmproxy and the emulator write them.

What an exporter leaves out is repaired as far as possible. A body that was cut off, or is
kept in another file, counts as missing.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, convert, field
from msgspec.structs import replace

from image_workflow_emulator.client.control_client import lower_names
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.json_values import instant_of

Status = Annotated[int, Meta(ge=-1, le=999)]
"""A status of HTTP. Browsers write 0 or -1 if there was no answer."""
_BINARY_TYPES: Final = ("image/", "application/octet-stream")
_EXCESS_DIGITS: Final = re.compile(r"(\.\d{6})\d+")
"""Digits of a second beyond microseconds, which some tools write."""


class _Header(Struct):
    name: str
    value: str


class _Body(Struct, rename="camel"):
    text: str | None = None
    encoding: str | None = None
    mime_type: str | None = None
    size: float | None = None


class _Request(Struct, rename="camel"):
    method: str
    url: str
    headers: list[_Header] | None = None
    post_data: _Body | None = None


class _Response(Struct):
    status: Status | None = None
    headers: list[_Header] | None = None
    content: _Body | None = None


class _Journaled(RecordedRequest, frozen=True, kw_only=True):
    """What the emulator's journal has of a request, with its sandbox."""

    sandbox: str = ""


class _Entry(Struct, rename="camel"):
    request: _Request
    response: _Response | None = None
    started_date_time: str | None = None
    time: float | None = None
    journaled: _Journaled | None = field(default=None, name="_journal")
    """What the emulator's journal has beside what HAR has a place for."""


def exchange_of_har(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Return an entry of a HAR as an exchange. Raises ValidationError (of msgspec)."""
    read = convert(entry, _Entry)
    request = read.request
    response = read.response or _Response()
    status = response.status
    if status is None or status <= 0:
        status = None
        response = _Response()
    started = _EXCESS_DIGITS.sub(r"\1", read.started_date_time or "")
    took_ms = read.time
    if took_ms is not None and took_ms < 0:
        took_ms = None
    exchange = RecordedExchange(
        where=where,
        at=instant_of(started),
        took_ms=took_ms,
        method=request.method.upper(),
        url=request.url,
        request_headers=_headers(request.headers),
        request_body=_body(request.post_data),
        status=status,
        response_headers=_headers(response.headers),
        response_body=_body(response.content),
    )
    if read.journaled is None:
        return exchange
    return replace(
        exchange,
        sandbox=read.journaled.sandbox,
        sequence=read.journaled.sequence,
        arrived_at=instant_of(read.journaled.arrived_at),
        entry=read.journaled,
    )


def _headers(headers: list[_Header] | None) -> dict[str, str]:
    return lower_names((header.name, header.value) for header in headers or ())


def _body(content: _Body | None) -> bytes | None:
    """Return a body; None if it was left out, cut off, or is binary written as text."""
    if content is None or not content.text:
        return None
    if content.encoding == "base64":
        try:
            body = base64.b64decode(content.text)
        except (binascii.Error, ValueError):  # cut off
            return None
    elif (content.mime_type or "").startswith(_BINARY_TYPES):
        return None
    else:
        body = content.text.encode()
    if len(body) < (content.size or 0):  # cut off
        return None
    return body
