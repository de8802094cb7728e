"""Files of recorded traffic become exchanges: owns the detection of a format, by content, and the bounds of what is read.

Cassettes hold no times: those of the service's answers stand in for them.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from image_workflow_emulator.drift import har, journals
from image_workflow_emulator.drift.exchanges import RecordedExchange, RecordingError
from image_workflow_emulator.testing.options import read_file
from image_workflow_emulator.testing.transport import lower_names

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
MAX_EXCHANGES: Final = 20_000
"""The most exchanges of all files together."""


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH: Final = 200


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
    document = _document(content, name)
    match document:
        case {"log": {"entries": [*entries]}}:
            read_entry: Callable[[Any, str], RecordedExchange] = har.read_entry
        case {"interactions": [*entries]}:
            read_entry = _read_interaction
        case {"data": [*entries]} if all(isinstance(entry, dict) and "sequence" in entry for entry in entries):
            entries, read_entry = journals.oldest_first(entries), journals.read_entry
        case _:
            raise RecordingError(
                f"{name}: neither a HAR (log.entries), nor a VCR.py cassette (interactions), nor a journal (data)"
            )
    return [_exchange(read_entry, entry, f"{name}, entry {number}") for number, entry in enumerate(entries, start=1)]


def _exchange(read_entry: Callable[[Any, str], RecordedExchange], entry: Any, where: str) -> RecordedExchange:
    try:
        return read_entry(entry, where)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise RecordingError(f"{where}: not an exchange of this format ({reason})") from None


def _document(content: bytes, name: str) -> Any:
    """Read JSON, or YAML where it is not JSON."""
    try:
        return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))  # some tools begin with a byte order mark
    except orjson.JSONDecodeError as error:
        if content.lstrip()[:1] in (b"{", b"["):
            raise RecordingError(f"{name}: not complete JSON ({error})") from None
    return _load_yaml(content, name)


# YAML, and the cassettes of VCR.py --------------------------------------------------------------------------------------


def _load_yaml(content: bytes, name: str) -> Any:
    """Read YAML; timestamps and switches become what YAML takes them for. Raises RecordingError."""
    try:
        _check_events(content, name)
        return yaml.load(content, Loader=_Loader)  # noqa: S506 (a safe loader, and the faster one)
    except RecordingError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise RecordingError(f"{name}{place}: neither JSON nor YAML ({getattr(error, 'problem', error)})") from None
    except (RecursionError, ValueError) as error:
        raise RecordingError(f"{name}: cannot be read as YAML ({type(error).__name__})") from None


def _check_events(content: bytes, name: str) -> None:
    """Refuse what makes a small file large or deep when it is read. Raises RecordingError."""
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise RecordingError(f"{name}: YAML aliases are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise RecordingError(f"{name}: nested more than {_MAX_DEPTH} levels deep")


def _read_interaction(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Read one interaction of a cassette. Raises KeyError, TypeError or ValueError for what is none."""
    request, response = entry["request"], entry["response"]
    headers = _headers(response.get("headers"))
    status = response["status"]
    return RecordedExchange(
        where=where,
        at=_instant(headers),
        took_ms=None,
        method=str(request["method"]).upper(),
        url=str(request["uri"]),
        request_headers=_headers(request.get("headers")),
        request_body=_body(request.get("body")),
        status=int(status["code"] if isinstance(status, dict) else status),
        response_headers=headers,
        response_body=_body(response.get("body")),
    )


def _headers(headers: Any) -> dict[str, str]:
    """Return headers, whose values are lists in newer cassettes and texts in older ones."""
    pairs = []
    for name, values in (headers or {}).items():
        pairs += [(str(name), str(value)) for value in (values if isinstance(values, list) else [values])]
    return lower_names(pairs)


def _body(body: Any) -> bytes | None:
    """Read a body: a text, bytes, or either of them under `string` or `base64_string`."""
    if isinstance(body, dict):
        if "base64_string" in body:
            return base64.b64decode(str(body["base64_string"]))
        body = body.get("string")
    if body is None or isinstance(body, bytes):
        return body or None
    return str(body).encode()


def _instant(headers: Mapping[str, str]) -> int | None:
    """Read the time of an answer from its header Date, in whole seconds."""
    try:
        return int(parsedate_to_datetime(headers["date"]).timestamp()) * 1000
    except (KeyError, ValueError, TypeError):
        return None
