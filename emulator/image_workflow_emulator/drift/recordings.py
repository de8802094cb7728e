"""Files of recorded traffic become recordings: HARs, cassettes of VCR.py, and journals.

Owns the detection of a format, by content, and the bounds of what is read. Whatever is
wrong in a file is refused with its place. Knows nothing of the service.

Each file is a recording by itself, since nobody knows what happened between two of them;
so is each sandbox of a journal.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from image_workflow_emulator.client.local_files import read_file
from image_workflow_emulator.drift.cassettes import exchange_of_cassette
from image_workflow_emulator.drift.exchanges import RecordedExchange, Recording
from image_workflow_emulator.drift.har import exchange_of_har
from image_workflow_emulator.drift.journals import exchange_of_journal, runs_of
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.settings import UsageError

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
MAX_EXCHANGES: Final = 20_000
"""The most exchanges of all files together."""
_MAX_DEPTH: Final = 200
_MAX_YAML_VALUES: Final = 2_000_000
_FORMATS: Final = (
    "neither a HAR (log.entries), nor a VCR.py cassette (interactions),"
    " nor a journal (data)"
)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_Reader = Callable[[Mapping[str, Any], str], RecordedExchange]


def read_recordings(files: Iterable[str]) -> list[Recording]:
    """Return the recordings in some files.

    Raises:
        UnusableFileError: a file cannot be read.
        UsageError: it holds no recording.
    """
    recordings: list[Recording] = []
    left = MAX_EXCHANGES
    for file in files:
        content = read_file(file, MAX_FILE_BYTES)
        in_file = read_recording(content, Path(file).name)
        left -= sum(len(recording.exchanges) for recording in in_file)
        if left < 0:
            raise UsageError(
                f"{file}: more than {MAX_EXCHANGES:,} exchanges; split the recording"
            )
        recordings += in_file
    return recordings


def check_calls(calls: int, files: Sequence[str]) -> None:
    """Raise UsageError if no exchange of the files is a call of the service."""
    if not calls:
        name = Path(files[-1]).name
        raise UsageError(f"{name}: no exchange is a call of the Image Workflow Service")


def read_recording(content: bytes, name: str) -> list[Recording]:
    """Return the recordings in one file. `name` is for messages. Raises UsageError."""
    match _read_document(content, name):
        case {"log": {"entries": [*entries]}}:
            exchanges = _read_entries(entries, exchange_of_har, name)
        case {"interactions": [*entries]}:
            exchanges = _read_entries(entries, exchange_of_cassette, name)
        case {"data": [*entries]} if all(map(_has_number, entries)):
            exchanges = _read_entries(entries, exchange_of_journal, name)
        case _:
            raise UsageError(f"{name}: {_FORMATS}")
    if all(exchange.entry for exchange in exchanges):
        return [Recording(run) for run in runs_of(exchanges)]
    return [Recording(_in_order(exchanges))]


def _has_number(entry: object) -> bool:
    """Whether it may be an entry of a journal."""
    return isinstance(entry, dict) and "sequence" in entry


def _read_entries(
    entries: Sequence[Any],
    read: _Reader,
    name: str,
) -> list[RecordedExchange]:
    exchanges = []
    for number, entry in enumerate(entries, start=1):
        where = f"{name}, entry {number}"
        try:
            exchanges.append(read(entry, where))
        except Exception as error:  # other people's parsers raise nearly anything
            reason = str(error)
            if isinstance(error, KeyError):
                reason = f"{error} is missing"
            raise UsageError(
                f"{where}: not an exchange of this format ({reason})"
            ) from None
    return exchanges


def _in_order(exchanges: list[RecordedExchange]) -> list[RecordedExchange]:
    """Return exchanges in the order of their requests: a HAR may list them as they were
    answered.
    """
    times = [exchange.at for exchange in exchanges]
    if None in times:
        return exchanges
    return sorted(exchanges, key=lambda exchange: exchange.at or 0)


# Documents ----------------------------------------------------------------------------


def _read_document(content: bytes, name: str) -> Any:
    """Read JSON, or YAML if it does not begin as JSON does. Raises UsageError."""
    content = content.removeprefix(_BYTE_ORDER_MARK)
    if content.lstrip()[:1] in (b"{", b"["):
        return _read_json(content, name)
    return _read_yaml(content, name)


def _read_json(content: bytes, name: str) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        reason = str(error)
    # Browsers write half a surrogate pair for a byte that is no text.
    try:
        text = json.dumps(json.loads(content), ensure_ascii=False)
        return orjson.loads(text.encode(errors="replace"))
    except (ValueError, RecursionError):
        raise UsageError(f"{name}: not complete JSON ({reason})") from None


class _Loader(yaml.CSafeLoader):
    """Says where it failed, whatever it failed with.

    `!!bool maybe` is a KeyError of PyYAML, `!!timestamp soon` an AttributeError.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Make the value of a node. Raises YAMLError."""
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception:
            kind = node.tag.rpartition(":")[2]
            reason = f"{excerpt(node.value)} is not of the type {kind}"
            raise yaml.MarkedYAMLError(None, None, reason, node.start_mark) from None


def _read_yaml(content: bytes, name: str) -> Any:
    """Read YAML. Raises UsageError."""
    place = ""
    try:
        _check_yaml(content)
        return _Loader(content).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        if mark is not None:
            place = f":{mark.line + 1}:{mark.column + 1}"
        reason = error.problem or str(error)
    except yaml.YAMLError as error:
        reason = str(error)
    raise UsageError(f"{name}{place}: neither JSON nor YAML ({reason})")


def _check_yaml(content: bytes) -> None:
    """Refuse a small document that would become deep or large. Raises YAMLError."""
    depth = 0
    events = yaml.parse(content, Loader=yaml.CSafeLoader)
    for number, event in enumerate(events):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise yaml.YAMLError(f"more than {_MAX_DEPTH} levels")
        if number > _MAX_YAML_VALUES:
            raise yaml.YAMLError(f"more than {_MAX_YAML_VALUES:,} values")
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases, which a recording does not need")
