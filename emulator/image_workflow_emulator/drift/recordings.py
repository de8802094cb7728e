"""Files of recorded traffic become exchanges: HTTP Archives (HAR 1.2), cassettes of VCR.py, and the emulator's own
journal.

Owns what an exchange is, the detection of a format, by content, and the bounds of what is read. What an exporter leaves
out is repaired as far as it can be; a body that is cut off, or kept in another file, counts as missing. Cassettes hold
no times: those of the service's answers stand in for them, in whole seconds. Knows nothing of the service.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final

import orjson
import yaml
from msgspec import Struct, convert
from msgspec.structs import replace

from image_workflow_emulator.client.control_client import lower_names
from image_workflow_emulator.client.exports import har_entry
from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.documents.files import MAX_RECORDING_BYTES
from image_workflow_emulator.kernel.timestamps import SECOND_MS, parse_timestamp
from image_workflow_emulator.settings import UsageError

MAX_EXCHANGES: Final = 20_000
"""The most exchanges of all files together."""
_MAX_DEPTH: Final = 200
_NOT_TEXT: Final = ("image/", "application/octet-stream")


class RecordedExchange(Struct, frozen=True):
    """One request with its answer. Names of headers are in lower case."""

    where: str
    """Where it was recorded, for people: `session.har, entry 12`."""
    at: int | None
    """The instant of the request; None where the recording does not tell."""
    took_ms: float | None
    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes | None
    status: int | None
    """None where no answer was recorded: it was lost, or the client left."""
    response_headers: Mapping[str, str]
    response_body: bytes | None
    is_coarse: bool = False
    """Whether its instant is known in whole seconds only, which is no evidence for waits."""
    sandbox: str = ""
    """The sandbox of the emulator that recorded it."""
    sequence: int = 0
    """Its number in the journal; 0 where no journal has it."""
    arrived_at: int | None = None
    """The host's time of its arrival, where `at` is the time of an emulator's clock."""
    entry: RecordedRequest | None = None
    """What the emulator's journal has of it."""


# Files ----------------------------------------------------------------------------------------------------------------


def read_recordings(files: Iterable[str]) -> list[RecordedExchange]:
    """Return the exchanges of some files, in the order in which their requests were sent.

    Raises:
        UnusableFileError: a file cannot be read.
        UsageError: it holds no recording.
    """
    exchanges: list[RecordedExchange] = []
    for file in files:
        exchanges += read_recording(
            read_file(file, MAX_RECORDING_BYTES), Path(file).name
        )
        if len(exchanges) > MAX_EXCHANGES:
            raise UsageError(
                f"{file}: more than {MAX_EXCHANGES:,} exchanges; split the recording"
            )
    if all(exchange.at is not None for exchange in exchanges):
        exchanges.sort(
            key=lambda exchange: exchange.at or 0
        )  # a HAR may list them as they were answered
    return exchanges


def check_calls(calls: int, files: Sequence[str]) -> None:
    """Raise UsageError where no exchange of the files is a call of the service."""
    if not calls:
        raise UsageError(
            f"{Path(files[-1]).name}: no exchange is a call of the Image Workflow Service"
        )


def read_recording(content: bytes, name: str) -> list[RecordedExchange]:
    """Return the exchanges of one recording, as they stand in it. `name` is for messages. Raises UsageError."""
    match _document(content, name):
        case {"log": {"entries": [*entries]}}:
            read = _exchange_of_har
        case {"interactions": [*entries]}:
            read = _exchange_of_cassette
        case {"data": [*entries]} if all(
            isinstance(entry, dict) and "sequence" in entry for entry in entries
        ):
            read = _exchange_of_journal
        case _:
            raise UsageError(
                f"{name}: neither a HAR (log.entries), nor a VCR.py cassette (interactions), nor a journal (data)"
            )
    exchanges = []
    for number, entry in enumerate(entries, start=1):
        where = f"{name}, entry {number}"
        try:
            exchanges.append(replace(read(entry), where=where))
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            reason = (
                f"{error} is missing" if isinstance(error, KeyError) else str(error)
            )
            raise UsageError(
                f"{where}: not an exchange of this format ({reason})"
            ) from None
    exchanges.sort(
        key=lambda one: (one.sandbox, one.sequence)
    )  # a journal may list the newest first
    return exchanges


def _document(content: bytes, name: str) -> Any:
    """Read JSON, or YAML where it is not JSON. Raises UsageError."""
    content = content.removeprefix(
        b"\xef\xbb\xbf"
    )  # some tools begin with a byte order mark
    if content.lstrip()[:1] not in (b"{", b"["):
        return _load_yaml(content, name)
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        with suppress(
            ValueError, RecursionError
        ):  # half a surrogate pair: browsers write it for a byte that is no text
            return orjson.loads(
                json.dumps(json.loads(content), ensure_ascii=False).encode(
                    errors="replace"
                )
            )
        raise UsageError(f"{name}: not complete JSON ({error})") from None


def _load_yaml(content: bytes, name: str) -> Any:
    """Read YAML. Raises UsageError."""
    try:
        depth = 0
        for event in yaml.parse(content, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
                event, yaml.CollectionEndEvent
            )
            if depth > _MAX_DEPTH or isinstance(
                event, yaml.AliasEvent
            ):  # a small file that would become deep or large
                raise ValueError(f"aliases, or more than {_MAX_DEPTH} levels")
        return yaml.load(content, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise UsageError(
            f"{name}{place}: neither JSON nor YAML ({getattr(error, 'problem', error)})"
        ) from None


# The formats ----------------------------------------------------------------------------------------------------------


def _exchange_of_har(entry: Mapping[str, Any]) -> RecordedExchange:
    request, response, took = (
        entry["request"],
        entry.get("response") or {},
        entry.get("time"),
    )
    status = int(
        response.get("status") or 0
    )  # browsers write 0 or -1 where no answer came
    sent, received = (
        _har_body(request.get("postData") or {}),
        _har_body(response.get("content") or {}),
    )
    started = re.sub(
        r"(\.\d{6})\d+", r"\1", str(entry.get("startedDateTime"))
    )  # some write more than microseconds
    asked = (
        str(request["method"]).upper(),
        str(request["url"]),
        _har_headers(request),
        sent,
    )
    answered = (
        (status, _har_headers(response), received) if status > 0 else (None, {}, None)
    )
    took_ms = float(took) if isinstance(took, int | float) and took >= 0 else None
    exchange = RecordedExchange("", instant_of(started), took_ms, *asked, *answered)
    journal = entry.get("_journal")
    return exchange if journal is None else _with_journal(exchange, journal)


def _with_journal(
    exchange: RecordedExchange, journal: Mapping[str, Any]
) -> RecordedExchange:
    """Add what the emulator's journal has of an exchange, and HAR has no place for."""
    recorded = convert(journal, RecordedRequest)
    return replace(
        exchange,
        sandbox=str(journal.get("sandbox", "")),
        sequence=recorded.sequence,
        arrived_at=instant_of(recorded.arrived_at),
        entry=recorded,
    )


def _har_headers(message: Mapping[str, Any]) -> dict[str, str]:
    return lower_names(
        (str(header["name"]), str(header["value"]))
        for header in message.get("headers") or ()
    )


def _har_body(content: Mapping[str, Any]) -> bytes | None:
    """Return a body; None where it was left out, cut off, or is bytes that were written as text."""
    text, is_base64 = content.get("text"), content.get("encoding") == "base64"
    if text is None or (
        not is_base64 and str(content.get("mimeType", "")).startswith(_NOT_TEXT)
    ):
        return None
    try:
        body = base64.b64decode(str(text)) if is_base64 else str(text).encode()
    except ValueError:  # cut off
        return None
    return body if body and len(body) >= float(content.get("size") or 0) else None


def _exchange_of_cassette(entry: Mapping[str, Any]) -> RecordedExchange:
    request, response = entry["request"], entry["response"]
    sent, received = (
        _cassette_body(request.get("body")),
        _cassette_body(response.get("body")),
    )
    asked = (
        str(request["method"]).upper(),
        str(request["uri"]),
        _cassette_headers(request),
        sent,
    )
    answered = int(response["status"]["code"]), _cassette_headers(response), received
    return RecordedExchange(
        "", _date_of(answered[1]), None, *asked, *answered, is_coarse=True
    )


def _cassette_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """Return headers, whose values are lists in newer cassettes and texts in older ones."""
    headers = (message.get("headers") or {}).items()
    listed = (
        (name, values if isinstance(values, list) else [values])
        for name, values in headers
    )
    return lower_names(
        (str(name), str(value)) for name, values in listed for value in values
    )


def _cassette_body(body: Any) -> bytes | None:
    """Read a body: a text or bytes, of an answer under `string`."""
    content = body.get("string") if isinstance(body, dict) else body
    return (
        content or None
        if content is None or isinstance(content, bytes)
        else str(content).encode()
    )


def _date_of(headers: Mapping[str, str]) -> int | None:
    """Read the time of an answer from its header Date, in whole seconds."""
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        return (
            max(0, int(parsedate_to_datetime(headers["date"]).timestamp())) * SECOND_MS
        )
    return None


def _exchange_of_journal(entry: Mapping[str, Any]) -> RecordedExchange:
    return _exchange_of_har(har_entry(entry, "http://emulator"))


# Values of JSON -------------------------------------------------------------------------------------------------------


def json_of(body: bytes | None) -> Any:
    """Return the JSON of a body; None where it is none, or nested so deep that it would exhaust the stack."""
    with suppress(ValueError, orjson.JSONEncodeError):
        value = orjson.loads(body or b"null")
        orjson.dumps(value)  # which takes 254 levels
        return value
    return None


def instant_of(text: object) -> int | None:
    """Return the instant of a timestamp; None if it is none."""
    with suppress(ValueError):
        return parse_timestamp(text) if isinstance(text, str) else None
    return None


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over the texts, numbers and the like in some JSON, each with the name of the member that holds it."""
    if isinstance(value, dict):
        for member, item in value.items():
            yield from leaves(item, member)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, name)
    else:
        yield name, value
