"""Files of recorded traffic become exchanges: HTTP Archives (HAR 1.2), cassettes of VCR.py, and the emulator's own journal.

Owns the detection of a format, by content, and the bounds of what is read. What an exporter leaves out is repaired; what
cannot be repaired is marked: a body that is missing, cut off, or kept in another file makes its exchange evidence for the
status alone. Cassettes hold no times: those of the service's answers stand in for them, in whole seconds.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final

import orjson
import yaml
from msgspec import convert
from msgspec.structs import replace

from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.drift.exchanges import RecordedExchange, RecordingError, instant_of
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.testing.har import har_entry
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
    read: Callable[[Any], RecordedExchange]
    match _document(content, name):
        case {"log": {"entries": [*entries]}}:
            read = _exchange_of_har
        case {"interactions": [*entries]}:
            read = _exchange_of_cassette
        case {"data": [*entries]} if all(isinstance(entry, dict) and "sequence" in entry for entry in entries):
            read = _exchange_of_journal
        case _:
            raise RecordingError(
                f"{name}: neither a HAR (log.entries), nor a VCR.py cassette (interactions), nor a journal (data)"
            )
    exchanges = []
    for number, entry in enumerate(entries, start=1):
        where = f"{name}, entry {number}"
        try:
            exchanges.append(replace(read(entry), where=where))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise RecordingError(f"{where}: not an exchange of this format ({reason})") from None
    if read is _exchange_of_journal:  # whose newest entries may come first
        exchanges.sort(key=lambda one: (one.sandbox, one.sequence))
    return exchanges


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


# The formats ----------------------------------------------------------------------------------------------------------


def _exchange_of_har(entry: Mapping[str, Any]) -> RecordedExchange:
    request, response, took = entry["request"], entry.get("response") or {}, entry.get("time")
    status = int(response.get("status") or 0)  # browsers write 0 or -1 where no answer came
    request_body, is_request_partial = _har_body(request.get("postData") or {"size": request.get("bodySize")})
    response_body, is_response_partial = _har_body(response.get("content") or {}) if status > 0 else (None, False)
    return RecordedExchange(
        where="",
        at=instant_of(
            re.sub(r"(\.\d{6})\d+", r"\1", str(entry.get("startedDateTime")))
        ),  # some write more digits than microseconds
        took_ms=float(took) if isinstance(took, int | float) and took >= 0 else None,
        method=str(request["method"]).upper(),
        url=str(request["url"]),
        request_headers=_har_headers(request),
        request_body=request_body,
        status=status if status > 0 else None,
        response_headers=_har_headers(response),
        response_body=response_body,
        is_partial=is_request_partial or is_response_partial,
    )


def _har_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers; those of HTTP/2 that stand for the request line (`:path`) are left out."""
    pairs = [(str(header["name"]), str(header["value"])) for header in message.get("headers") or ()]
    return lower_names(pair for pair in pairs if not pair[0].startswith(":"))


def _har_body(content: Mapping[str, Any]) -> tuple[bytes | None, bool]:
    """Return a body, and whether it is partial: left out, cut off, or bytes that were written as text."""
    text, size = content.get("text"), float(content.get("size") or 0)
    if text is None:
        return None, size > 0 or "_file" in content
    if content.get("encoding") != "base64":
        body = str(text).encode()
        return body or None, len(body) < size or str(content.get("mimeType", "")).startswith(_NOT_TEXT)
    compact = "".join(str(text).split())
    whole = compact[: len(compact) // 4 * 4]
    try:
        body = base64.b64decode(whole, validate=True)
    except ValueError:
        return None, True
    return body, len(whole) < len(compact) or len(body) < size


def _exchange_of_cassette(entry: Mapping[str, Any]) -> RecordedExchange:
    request, response = entry["request"], entry["response"]
    headers, status = _cassette_headers(response), response["status"]
    return RecordedExchange(
        where="",
        at=_date_of(headers),
        took_ms=None,
        method=str(request["method"]).upper(),
        url=str(request["uri"]),
        request_headers=_cassette_headers(request),
        request_body=_cassette_body(request.get("body")),
        status=int(status["code"] if isinstance(status, dict) else status),
        response_headers=headers,
        response_body=_cassette_body(response.get("body")),
        is_coarse=True,
    )


def _cassette_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """Return headers, whose values are lists in newer cassettes and texts in older ones."""
    headers = (message.get("headers") or {}).items()
    listed = ((name, values if isinstance(values, list) else [values]) for name, values in headers)
    return lower_names((str(name), str(value)) for name, values in listed for value in values)


def _cassette_body(body: Any) -> bytes | None:
    """Read a body: a text, bytes, or either of them under `string` or `base64_string`."""
    if isinstance(body, dict):
        if "base64_string" in body:
            return base64.b64decode(str(body["base64_string"]))
        body = body.get("string")
    if body is None or isinstance(body, bytes):
        return body or None
    return str(body).encode()


def _date_of(headers: Mapping[str, str]) -> int | None:
    """Read the time of an answer from its header Date, in whole seconds."""
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        return max(0, int(parsedate_to_datetime(headers["date"]).timestamp())) * SECOND_MS
    return None


def _exchange_of_journal(entry: Mapping[str, Any]) -> RecordedExchange:
    exchange, surface = _exchange_of_har(har_entry(entry, JOURNAL_ORIGIN)), entry.get("bytes")
    return replace(
        exchange,
        surface=surface if surface in ("upload", "download") else None,
        is_partial="is not shown" in str(entry.get("note")) and surface is None,
        arrived_at=instant_of(entry.get("arrived_at")),
        sandbox=str(entry.get("sandbox", "")),
        entry=convert(entry, RecordedRequest),
    )
