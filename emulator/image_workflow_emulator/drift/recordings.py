"""Files of recorded traffic become exchanges: HTTP Archives (HAR 1.2), cassettes of VCR.py, and the emulator's own journal.

Owns the detection of a format, by content, and the bounds of what is read. What an exporter leaves out is repaired; what
cannot be repaired is marked: a body that is missing, cut off, or kept in another file makes its exchange evidence for the
status alone. Cassettes hold no times: those of the service's answers stand in for them, in whole seconds.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import orjson
import yaml
from msgspec import Struct, convert, field

from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.drift.exchanges import RecordedExchange, RecordingError, Surface, instant_of
from image_workflow_emulator.http.requests import encoded_path
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.testing.options import read_file
from image_workflow_emulator.testing.transport import lower_names

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
MAX_EXCHANGES: Final = 20_000
"""The most exchanges of all files together."""
JOURNAL_ORIGIN: Final = "http://emulator"
"""Stands for the address of the emulator, which a journal does not hold."""
_MAX_DEPTH: Final = 200
_NOT_TEXT: Final = ("image/", "application/octet-stream")

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Kind = TypeVar("_Kind")


def read_recordings(files: Iterable[str]) -> list[RecordedExchange]:
    """Return the exchanges of some files, in the order in which their requests were sent.

    Raises:
        UnusableFileError: a file cannot be read.
        RecordingError: it holds no recording.
    """
    exchanges: list[RecordedExchange] = []
    for file in files:
        exchanges += read_recording(read_file(file, MAX_FILE_BYTES), Path(file).name)
        if len(exchanges) > MAX_EXCHANGES:
            raise RecordingError(f"{file}: more than {MAX_EXCHANGES:,} exchanges; split the recording")
    if all(exchange.at is not None for exchange in exchanges):
        exchanges.sort(key=lambda exchange: exchange.at or 0)  # a HAR may list them as they were answered
    return exchanges


def read_recording(content: bytes, name: str) -> list[RecordedExchange]:
    """Return the exchanges of one recording, as they stand in it. `name` is for messages. Raises RecordingError."""
    match _document(content, name):
        case {"log": {"entries": [*entries]}}:
            return _exchanges(entries, _HarEntry, _exchange_of_har, name)
        case {"interactions": [*entries]}:
            return _exchanges(entries, _Interaction, _exchange_of_cassette, name)
        case {"data": [*entries]} if all(isinstance(entry, dict) and "sequence" in entry for entry in entries):
            return _exchanges(entries, _JournalEntry, _exchange_of_journal, name)
    raise RecordingError(
        f"{name}: neither a HAR (log.entries), nor a VCR.py cassette (interactions), nor a journal (data)"
    )


def _exchanges(
    entries: Sequence[Any], kind: type[_Kind], exchange_of: Callable[[_Kind, str], RecordedExchange], name: str
) -> list[RecordedExchange]:
    """Read entries by the types of their format, which all that follows relies on. Raises RecordingError."""
    try:
        found = [convert(entry, kind) for entry in entries]
        if kind is _JournalEntry:  # whose newest entries come first
            found.sort(key=attrgetter("sandbox", "sequence"))
        return [exchange_of(entry, f"{name}, entry {number}") for number, entry in enumerate(found, start=1)]
    except ValueError as error:
        raise RecordingError(f"{name}: an entry is not an exchange of this format ({error})") from None


def _document(content: bytes, name: str) -> Any:
    """Read JSON, or YAML where it is not JSON. Raises RecordingError."""
    try:
        return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))  # some tools begin with a byte order mark
    except orjson.JSONDecodeError as error:
        if content.lstrip()[:1] not in (b"{", b"["):
            return _load_yaml(content, name)
        reason = str(error)
    with suppress(ValueError, RecursionError):  # half a surrogate pair, which browsers write for a byte that is no text
        return orjson.loads(json.dumps(json.loads(content), ensure_ascii=False).encode(errors="replace"))
    raise RecordingError(f"{name}: not complete JSON ({reason})")


def _load_yaml(content: bytes, name: str) -> Any:
    """Read YAML. Raises RecordingError."""
    try:
        depth = 0
        for event in yaml.parse(content, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):  # a small file that would become deep or large
                raise yaml.YAMLError(f"found aliases, or more than {_MAX_DEPTH} levels")
        return yaml.load(content, Loader=_Loader)  # noqa: S506 (a safe loader, and the faster one)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise RecordingError(f"{name}{place}: neither JSON nor YAML ({getattr(error, 'problem', error)})") from None
    except (RecursionError, ValueError) as error:
        raise RecordingError(f"{name}: cannot be read as YAML ({type(error).__name__})") from None


# HTTP Archives --------------------------------------------------------------------------------------------------------


class _Pair(Struct):
    name: str
    value: str = ""


class _Content(Struct, rename="camel"):
    text: str | None = None
    encoding: str | None = None
    mime_type: str | None = None
    size: float | None = None
    params: Sequence[_Pair] = ()
    file: Any = field(default=None, name="_file")


class _HarRequest(Struct, rename="camel"):
    method: str
    url: str
    headers: Sequence[_Pair] = ()
    post_data: _Content | None = None
    body_size: float | None = None


class _HarResponse(Struct):
    status: int | None = None
    headers: Sequence[_Pair] = ()
    content: _Content | None = None


class _HarEntry(Struct, rename="camel"):
    request: _HarRequest
    response: _HarResponse | None = None
    started_date_time: str | None = None
    time: float | None = None


def _exchange_of_har(entry: _HarEntry, where: str) -> RecordedExchange:
    request, response = entry.request, entry.response or _HarResponse()
    status = response.status if response.status and response.status > 0 else None  # browsers write 0 or -1
    posted = request.post_data or _Content(size=request.body_size)
    if posted.text is None and posted.params:
        posted = _Content(text=urlencode([(pair.name, pair.value) for pair in posted.params]))
    request_body, is_request_partial = _har_body(posted)
    response_body, is_response_partial = _har_body(response.content or _Content())
    return RecordedExchange(
        where=where,
        at=instant_of(re.sub(r"(\.\d{6})\d+", r"\1", entry.started_date_time or "")),  # more digits than microseconds
        took_ms=entry.time if entry.time is not None and entry.time >= 0 else None,
        method=request.method.upper(),
        url=request.url,
        request_headers=_har_headers(request.headers),
        request_body=request_body,
        status=status,
        response_headers=_har_headers(response.headers),
        response_body=response_body if status else None,
        is_partial=is_request_partial or (is_response_partial and status is not None),
    )


def _har_headers(pairs: Sequence[_Pair]) -> dict[str, str]:
    """Return the headers; those of HTTP/2 that stand for the request line (`:path`) are left out."""
    return lower_names((pair.name, pair.value) for pair in pairs if not pair.name.startswith(":"))


def _har_body(content: _Content) -> tuple[bytes | None, bool]:
    """Return a body, and whether it is partial: left out, cut off, or bytes that were written as text."""
    size = content.size or 0
    if content.text is None:
        return None, size > 0 or content.file is not None
    if content.encoding != "base64":
        body = content.text.encode()
        return body or None, len(body) < size or (content.mime_type or "").startswith(_NOT_TEXT)
    compact = "".join(content.text.split())
    whole = compact[: len(compact) // 4 * 4]
    try:
        body = base64.b64decode(whole, validate=True)
    except ValueError:
        return None, True
    return body, len(whole) < len(compact) or len(body) < size


# Cassettes of VCR.py --------------------------------------------------------------------------------------------------


class _CassetteRequest(Struct):
    method: str
    uri: str
    headers: Mapping[str, Sequence[str] | str] | None = None
    body: Any = None


class _StatusLine(Struct):
    code: int


class _CassetteResponse(Struct):
    status: _StatusLine | int
    headers: Mapping[str, Sequence[str] | str] | None = None
    body: Any = None


class _Interaction(Struct):
    request: _CassetteRequest
    response: _CassetteResponse


def _exchange_of_cassette(entry: _Interaction, where: str) -> RecordedExchange:
    request, response = entry.request, entry.response
    headers = _cassette_headers(response.headers)
    return RecordedExchange(
        where=where,
        at=_date_of(headers),
        took_ms=None,
        method=request.method.upper(),
        url=request.uri,
        request_headers=_cassette_headers(request.headers),
        request_body=_cassette_body(request.body),
        status=response.status.code if isinstance(response.status, _StatusLine) else response.status,
        response_headers=headers,
        response_body=_cassette_body(response.body),
        is_coarse=True,
    )


def _cassette_headers(headers: Mapping[str, Sequence[str] | str] | None) -> dict[str, str]:
    """Return headers, whose values are lists in newer cassettes and texts in older ones."""
    listed = ((name, [values] if isinstance(values, str) else values) for name, values in (headers or {}).items())
    return lower_names((name, value) for name, values in listed for value in values)


def _cassette_body(body: Any) -> bytes | None:
    """Read a body: a text, bytes, or either of them under `string` or `base64_string`. Raises ValueError."""
    match body:
        case {"base64_string": str() as text}:
            return base64.b64decode(text)
        case {"string": str() | bytes() | None as inner}:
            return _cassette_body(inner)
        case str() | bytes():
            return (body.encode() if isinstance(body, str) else body) or None
        case None:
            return None
    raise ValueError("a body is neither text nor bytes")


def _date_of(headers: Mapping[str, str]) -> int | None:
    """Read the time of an answer from its header Date, in whole seconds."""
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        return max(0, int(parsedate_to_datetime(headers["date"]).timestamp())) * SECOND_MS
    return None


# The journal of the emulator ------------------------------------------------------------------------------------------


class _JournalEntry(RecordedRequest, frozen=True):
    sandbox: str = ""
    bytes: Surface | None = None
    note: str | None = None
    response_headers: Mapping[str, str] | None = None


def _exchange_of_journal(entry: _JournalEntry, where: str) -> RecordedExchange:
    names = ("idempotency-key", "user-agent", "content-type", "emulator-fault")
    headers = {name: value for name in names if (value := getattr(entry, name.replace("-", "_")))}
    if entry.credential:  # the journal has only the beginning of a key: the credential's id tells keys apart
        headers["authorization"] = f"Bearer {entry.credential.get('id')}"
    return RecordedExchange(
        where=where,
        at=instant_of(entry.at),
        took_ms=entry.duration_ms,
        method=entry.method,
        url=JOURNAL_ORIGIN + encoded_path(entry.path) + (f"?{entry.query}" if entry.query else ""),
        request_headers=headers,
        request_body=_journal_body(entry.request_body),
        status=None if entry.lost else entry.status,
        response_headers=lower_names((entry.response_headers or {}).items()),
        response_body=_journal_body(entry.response_body),
        surface=entry.bytes,
        is_partial="is not shown" in (entry.note or "") and entry.bytes is None,
        arrived_at=instant_of(entry.arrived_at),
        sandbox=entry.sandbox,
        entry=entry,
    )


def _journal_body(value: Any) -> bytes | None:
    """Return a body, which the journal shows as JSON, or as text where it is none."""
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else orjson.dumps(value)
