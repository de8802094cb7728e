"""Files and options for an emulator, which checks them: files are read and written whole, and the options of `serve`
are plain values.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.documents.complaints import Complaint, DocumentError
from image_workflow_emulator.documents.document import MAX_BYTES, read_document
from image_workflow_emulator.settings import OPTIONS, UsageError
from image_workflow_emulator.testing.errors import UnusableFileError, is_refusal, unreadable, unwritable

__tracebackhide__ = is_refusal

MAX_STATE_BYTES: Final = 4 * 2**30
DOCUMENTS: Final = ("world", "scenario")
"""The options that name a file, and may be given as what it says."""


def read_file(file: "str | PathLike[str]", most_bytes: int = MAX_BYTES) -> bytes:
    """Return what a file holds. Raises UnusableFileError if it cannot be read, or is larger than any of its kind."""
    try:
        with Path(file).open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size  # a device says 0
            data = b"" if size > most_bytes else opened.read(most_bytes + 1)
    except OSError as error:
        raise UnusableFileError("not_found", unreadable(error)) from None
    if (found := max(len(data), size)) > most_bytes:
        too_large = Complaint(fspath(file), 0, 0, f"found {found} bytes; expected at most {most_bytes}")
        raise UnusableFileError("invalid_request", str(too_large))
    return data


def read_state_file(file: "str | PathLike[str]") -> bytes:
    """Return what a state file holds. Raises UnusableFileError for one that cannot be read, or has no end."""
    if Path(file).exists() and not Path(file).is_file():
        raise UnusableFileError("invalid_request", f"{fspath(file)}: expected a file, not a device or a pipe")
    return read_file(file, MAX_STATE_BYTES)


def sandbox_option(name: str, value: Any) -> Any:
    """Return an option of a new sandbox as JSON: what a file of a world or of readings holds, or a timestamp.

    Raises UnusableFileError with the place, ValueError for a datetime without a time zone.
    """
    from image_workflow_emulator.domain.readings import by_decision
    from image_workflow_emulator.scenario.world import file_of_readings, readings_of

    if isinstance(value, datetime):
        return timestamp_text(value)
    named = file_of_readings(value) if name == "readings" and isinstance(value, str) else value
    try:
        if name == "world" and isinstance(value, str | PathLike):
            return read_document(read_file(value), fspath(value)).data
        if name == "readings" and isinstance(named, PathLike):
            return by_decision(readings_of(read_document(read_file(named), fspath(named))))
    except DocumentError as error:
        raise UnusableFileError("invalid_request", str(error)) from None
    return value


def put_in_place(file: "str | PathLike[str]", content: bytes) -> None:
    """Write a file whole, or leave what was there; what is not a regular file, such as a device, is written to.

    Raises UnusableFileError.
    """
    try:
        target = Path(file).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        beside = target.with_name(f"{target.name}.part")
        try:
            beside.write_bytes(content)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UnusableFileError("invalid_request", unwritable(file, error)) from None


def writable_file(flag: str, name: str) -> Path:
    """Return the file that an option names, which can be written as far as can be known before. Raises UsageError."""
    file = Path(name)
    try:
        target, is_new = file.resolve(), not file.exists()  # a link may name a file that is not there yet
        target.open("ab").close()
        if is_new:
            target.unlink()
    except (OSError, ValueError, RuntimeError) as error:  # the last for links that lead to each other
        raise UsageError(f"{flag}: {unwritable(name, error)}") from None
    return file


def write_file(file: Path, content: str | bytes) -> None:
    """Write a file. Raises UsageError."""
    try:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise UsageError(unwritable(file, error)) from error


# The options of `serve` as Python has them ----------------------------------------------------------------------------


@contextmanager
def option_texts(options: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Give the text of each option that is given, by its field: True is `on`, a list is its members with commas
    between.

    An option has the name of its flag, such as `allowed_host`; one that can be repeated also that of all its values. A
    world or a scenario that is a mapping is a file while this lasts.

    Raises TypeError for an option that `serve` does not have.
    """
    names = {option.flag.removeprefix("--").replace("-", "_"): option.field for option in OPTIONS}
    fields = {**names, **{field: field for field in names.values()}}
    unknown = sorted(options.keys() - fields.keys())
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; expected one of: {', '.join(names)}")
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        texts = {}
        for name, value in options.items():
            if name in DOCUMENTS and isinstance(value, Mapping):
                file = Path(folder, f"{name}.json")
                file.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
                texts[fields[name]] = str(file)
            elif value is not None:
                texts[fields[name]] = _value_text(value)
        yield texts


def _value_text(value: Any) -> str:
    """Return one value as the command line takes it."""
    match value:
        case bool():
            return "on" if value else "off"
        case datetime():
            return timestamp_text(value)
        case Mapping():  # readings by decision
            return ",".join(f"{decision}={reading}" for decision, reading in value.items()) or "plain"
        case list() | tuple():
            return ",".join(map(_value_text, value))
    return str(value)


def timestamp_text(moment: datetime) -> str:
    """Return an aware `datetime` as the emulator writes it. Raises ValueError for a naive one."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; expected an aware datetime, such as one with timezone.utc")
    return moment.isoformat(timespec="milliseconds")
