"""Cassettes of VCR.py.

They hold no times: the header Date of each answer stands in, in whole seconds.
"""

import zlib
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from msgspec import Struct, convert

from image_workflow_emulator.client.control_client import lower_names
from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.drift.har import Status
from image_workflow_emulator.kernel.timestamps import SECOND_MS

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
"""Limit of a compressed body after it is decompressed; a longer one counts as missing."""
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_Value = str | int | float
"""A header value: YAML reads one without quotes as a number."""


class _Request(Struct):
    method: str
    uri: str
    headers: dict[str, list[_Value] | _Value] | None = None
    body: Any = None


class _StatusLine(Struct):
    code: Status


class _Response(Struct):
    status: _StatusLine | None = None
    status_code: Status | None = None
    """What VCR.py before 6.0 wrote for httpx, with `content`, in place of `status`."""
    headers: dict[str, list[_Value] | _Value] | None = None
    body: Any = None
    content: Any = None


class _Interaction(Struct):
    request: _Request
    response: _Response


def exchange_of_cassette(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Return an interaction of a cassette as an exchange. Raises ValueError."""
    read = convert(entry, _Interaction)
    request = read.request
    response = read.response
    headers = _headers(response.headers)
    body = response.body
    if response.content is not None:
        body = response.content
    return RecordedExchange(
        where=where,
        at=_instant_of_date(headers.get("date", "")),
        took_ms=None,
        method=request.method.upper(),
        url=request.uri,
        request_headers=_headers(request.headers),
        request_body=_body(request.body, "request.body"),
        status=_status(response),
        response_headers=headers,
        response_body=_decompressed(
            _body(body, "response.body"),
            headers.get("content-encoding", ""),
        ),
        is_coarse=True,
    )


def _status(response: _Response) -> int:
    if response.status is not None:
        return response.status.code
    if response.status_code is not None:
        return response.status_code
    raise ValueError("response.status is missing")


def _headers(headers: Mapping[str, list[_Value] | _Value] | None) -> dict[str, str]:
    """Return headers, whose values are lists in newer cassettes and texts in older ones."""
    pairs = []
    for name, values in (headers or {}).items():
        if isinstance(values, list):
            pairs += [(name, str(value)) for value in values]
        else:
            pairs.append((name, str(values)))
    return lower_names(pairs)


def _body(body: Any, where: str) -> bytes | None:
    """Return a body: a text or bytes, which stand under `string` in an answer."""
    content = body
    if isinstance(body, dict):
        content = body.get("string")
    if isinstance(content, str):
        content = content.encode()
    if content is None or isinstance(content, bytes):
        return content or None
    found = type(content).__name__
    raise ValueError(f"{where}: expected a text or bytes, got `{found}`")


def _decompressed(body: bytes | None, encoding: str) -> bytes | None:
    """Return a body without its Content-Encoding; None if it cannot be decompressed.

    VCR.py keeps a body as it was sent, or decompresses it and leaves the header.
    """
    if body is None or encoding in ("", "identity"):
        return body
    if body.startswith((b"{", b"[")):
        return body
    decompressor = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        content = decompressor.decompress(body, MAX_BODY_BYTES)
    except zlib.error:  # brotli and zstd too
        return None
    if not decompressor.eof:  # cut off, or too long
        return None
    return content


def _instant_of_date(date: str) -> int | None:
    """Return the time in a header Date."""
    try:
        instant = int(parsedate_to_datetime(date).timestamp()) * SECOND_MS
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0, instant)
