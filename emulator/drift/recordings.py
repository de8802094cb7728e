"""Files of recorded traffic become exchanges: owns the detection of a format, by content, and the bounds of what is read."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import orjson

from emulator.drift import cassettes, har
from emulator.testing.files import read_file
from emulator.traffic import journals
from emulator.traffic.exchanges import RecordedExchange, RecordingError

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
MAX_EXCHANGES: Final = 20_000
"""The most exchanges of all files together."""


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
            read_entry = cassettes.read_entry
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
    return cassettes.load_yaml(content, name)
