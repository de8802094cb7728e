"""Files that are sent to an emulator, which checks their content, and files that its answers are written to."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

from emulator.documents.complaints import Complaint, DocumentError
from emulator.documents.yaml_reader import MAX_BYTES, read_document
from emulator.testing.errors import UnusableFileError, UnwritableError, is_refusal, unreadable

__tracebackhide__ = is_refusal


def read_file(file: "str | PathLike[str]") -> bytes:
    """Return what a file holds. Raises UnusableFileError `not_found` if it cannot be read."""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UnusableFileError("not_found", unreadable(error)) from None


def read_document_file(file: "str | PathLike[str]") -> bytes:
    """Return what the file of a document holds. Raises UnusableFileError if it cannot be read, or is larger than any."""
    data = read_file(file)
    if len(data) > MAX_BYTES:
        too_large = Complaint(fspath(file), 0, 0, f"found {len(data)} bytes; expected at most {MAX_BYTES}")
        raise UnusableFileError("invalid_request", str(too_large))
    return data


def readings_value(readings: Any) -> Any:
    """Return readings as JSON: by decision those of a file that is named, or any other value as it is.

    Raises UnusableFileError with the place.
    """
    from emulator.domain.readings import by_decision
    from emulator.scenario.readings_format import file_of_readings, parse_readings_file

    file = file_of_readings(readings) if isinstance(readings, str) else readings
    if not isinstance(file, PathLike):
        return readings
    try:
        return by_decision(parse_readings_file(read_file(file), fspath(file)))
    except DocumentError as error:
        raise UnusableFileError("invalid_request", str(error)) from None


def opened(file: "str | PathLike[str]") -> BinaryIO:
    """Open a file, to be sent piece by piece and closed. Raises UnusableFileError `not_found` if it cannot be read."""
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise UnusableFileError("not_found", unreadable(error)) from None


@contextmanager
def put_in_place(file: "str | PathLike[str]") -> Iterator[BinaryIO]:
    """Open a file beside the given one, and let it replace that one when it is complete: a failure changes nothing.

    What is not a regular file, such as a device, is written to directly. Raises OSError.
    """
    try:
        with _written(Path(file).resolve()) as stream:
            yield stream
    except UnwritableError as error:
        raise error.error from None


@contextmanager
def _written(target: Path) -> Iterator[BinaryIO]:
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    beside = target.with_name(f"{target.name}.part")
    try:
        with beside.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def world_value(world: Any) -> Any:
    """Return a world as JSON: the content of a YAML file, or any other value as it is. Raises UnusableFileError with the place."""
    if isinstance(world, Mapping) or not isinstance(world, str | PathLike):
        return world
    try:
        return read_document(read_file(world), fspath(world)).data
    except DocumentError as error:
        raise UnusableFileError("invalid_request", str(error)) from None
