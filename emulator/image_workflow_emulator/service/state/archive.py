"""State files as zip files: written piece by piece, and read within bounds of bytes and
memory.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO, Annotated, Any, Final, TypeAlias, cast

import msgspec
from msgspec import Meta
from msgspec.json import Decoder, Encoder

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.kernel.timestamps import LATEST_INSTANT
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.images import MemoryBudget
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.state import tables
from image_workflow_emulator.service.state.references import check_references

VERSION: Final = 13
FORMAT: Final = b"image-workflow-emulator state %d" % VERSION
"""The comment of the zip."""
STATE: Final = "state.jsonl"
DIGEST: Final = "state.sha256"
PICTURES: Final = "pictures/"
MAX_STATE_BYTES: Final = 256 * 1024 * 1024
"""Limit of `state.jsonl`."""
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
MAX_MEMBERS: Final = 100_000
_MAX_DIGEST_BYTES: Final = 1_000
_MEMBER_SIGNATURE: Final = b"PK\x01\x02"
_BOUNDED_COMPRESSIONS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Only these are inflated within bounds."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The one date that every member of the file has, so that equal states are equal
files."""
_ROWS_AT_ONCE: Final = 50
_CHANGED: Final = "the file is damaged, or somebody changed it"

_TableName: TypeAlias = Annotated[str, Meta(max_length=40)]
_ROW: Final = Decoder(tuple[_TableName, msgspec.Raw])
"""Decodes a line: the name of a table, and a row, which is still encoded."""


class StateError(Exception):
    """A state file that cannot be loaded; the text says where and why."""


def _digest_line(digest: str) -> bytes:
    return f"{digest}  {STATE}\n".encode()


# Writing ------------------------------------------------------------------------------


def save(sandbox: Sandbox, now: int) -> Iterator[bytes]:
    """Return a sandbox that is settled up to now as the pieces of a state file.

    The sandbox may change while the pieces are fetched, from whatever thread: they show
    the moment of this call.
    """
    head = tables.head_of(sandbox, now)
    head_line = Encoder().encode_lines([head])
    pictures = tables.pictures_of(sandbox)
    rows = tables.rows_of(sandbox, pictures)
    return _pieces(head_line, pictures, rows)


class _Sink(io.RawIOBase):
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        content = b"".join(self._pieces)
        self._pieces.clear()
        return content


def _pieces(
    head: bytes,
    pictures: tables.Pictures,
    rows: dict[str, Iterable[Any]],
) -> Iterator[bytes]:
    sink = _Sink()
    digest = hashlib.sha256()
    with zipfile.ZipFile(sink, "w") as archive:
        for saved, picture in pictures:
            if picture.data is not None:
                saved.sha256 = _write_picture(archive, picture.data)
                yield sink.take()
        member = zipfile.ZipInfo(STATE, _EPOCH)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as file:
            for lines in _lines(head, rows):
                digest.update(lines)
                file.write(lines)
                yield sink.take()
        digest_line = _digest_line(digest.hexdigest())
        archive.writestr(zipfile.ZipInfo(DIGEST, _EPOCH), digest_line)
        archive.comment = FORMAT
    yield sink.take()


def _write_picture(archive: zipfile.ZipFile, data: bytes) -> str:
    """Write the bytes of a picture, unless equal ones are there; return their SHA-256."""
    sha256 = hashlib.sha256(data).hexdigest()
    name = PICTURES + sha256
    if name not in archive.NameToInfo:
        archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return sha256


def _lines(head: bytes, rows: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    """Encode the rows, some at a time: no encoding holds other threads up for long."""
    encoder = Encoder()
    yield head
    for name, table in rows.items():
        rows_left = iter(table)
        while rows_now := list(islice(rows_left, _ROWS_AT_ONCE)):
            lines = [(name, row) for row in rows_now]
            yield encoder.encode_lines(lines)


# Reading ------------------------------------------------------------------------------


def load(
    content: bytes,
    identifier: str,
    limit_bytes: int,
    contract: Contract,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Sandbox:
    """Make a sandbox with an id from a state file, settled; nothing else changes. Call
    it in a thread of its own.

    `limit_bytes` is how many bytes of pictures it may have (`--max-memory`). They are
    counted in a budget of the sandbox's own, until it takes its place. `is_stopping`
    ends the loading: the process cannot end before its threads.

    Raises:
        StateError: the file is not a state file, is of another version, was changed, or
            does not fit together.
    """
    try:
        return _load(content, identifier, limit_bytes, contract, is_stopping)
    except StateError:
        raise
    except Exception as error:
        # Damaged zip files raise many kinds, and so do lines written by hand.
        cause = f"{type(error).__name__}: {error}"
        raise StateError(
            f"the file is not a state file, or is damaged: {cause}"
        ) from error


def _load(
    content: bytes,
    identifier: str,
    limit_bytes: int,
    contract: Contract,
    is_stopping: Callable[[], bool],
) -> Sandbox:
    if content.count(_MEMBER_SIGNATURE) > MAX_MEMBERS:
        raise ValueError(f"it has more than {MAX_MEMBERS} members")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check(archive)
        reading = _Reading(
            archive=archive,
            identifier=identifier,
            limit_bytes=limit_bytes,
            contract=contract,
            is_stopping=is_stopping,
        )
        sandbox = reading.sandbox()
        check_references(sandbox)
        if len(sandbox.timeline):
            _rehearse(reading.sandbox())
    engine.enter(sandbox)
    return sandbox


def _rehearse(copy: Sandbox) -> None:
    """Let all time pass in a copy of a sandbox.

    An event that does not fit what it happens to would otherwise be met by every later
    request. Raises what goes wrong.
    """
    engine.settle(copy, LATEST_INSTANT)
    check_references(copy)


@dataclass(frozen=True)
class _Reading:
    """A state file that is being read."""

    archive: zipfile.ZipFile
    identifier: str
    limit_bytes: int
    contract: Contract
    is_stopping: Callable[[], bool]

    def sandbox(self) -> Sandbox:
        """Make a sandbox of the file, as it was when it was saved.

        Raises:
            StateError: its parts do not belong together, or the emulator stops.
        """
        memory = MemoryBudget(self.limit_bytes)
        picture_of = partial(_picture, self.archive, memory)
        row_decoders = {name: Decoder(row) for name, row in tables.TABLES.items()}
        with _open(self.archive, STATE, MAX_STATE_BYTES) as file:
            lines = iter(lambda: file.readline(MAX_LINE_BYTES), b"")
            first_line = next(lines, b"")
            loading = tables.Loading(
                head=msgspec.json.decode(first_line, type=tables.Head),
                identifier=self.identifier,
                memory=memory,
                contract=self.contract,
                picture_of=picture_of,
            )
            for line in lines:
                if self.is_stopping():
                    raise StateError("the emulator is stopping")
                name, encoded_row = _ROW.decode(line)
                row = row_decoders[name].decode(encoded_row)
                loading.add(name, row)
        loading.sandbox.images.free_unheld()
        return loading.sandbox


def _check(archive: zipfile.ZipFile) -> None:
    """Check the version, and that the lines are as they were saved. Raises StateError."""
    if archive.comment != FORMAT:
        found = excerpt(archive.comment.decode("latin-1"))
        expected = excerpt(FORMAT.decode())
        raise StateError(
            f"the file is not a state file of this version: found {found}, expected "
            f"{expected}; load it with the emulator that wrote it"
        )
    with _open(archive, STATE, MAX_STATE_BYTES) as file:
        buffered = cast(io.BufferedIOBase, file)
        digest = hashlib.file_digest(buffered, "sha256").hexdigest()
    if _read(archive, DIGEST, _MAX_DIGEST_BYTES) != _digest_line(digest):
        raise StateError(f"{STATE} is not as it was saved (see {DIGEST}): {_CHANGED}")


def _picture(
    archive: zipfile.ZipFile,
    memory: MemoryBudget,
    sha256: str,
) -> bytes:
    """Return the bytes of a picture; what can be drawn again makes room for them.

    Raises:
        StateError: it is not as it was saved, or does not fit into the memory.
    """
    name = PICTURES + sha256
    memory.make_room(archive.getinfo(name).file_size)
    data = _read(archive, name, memory.limit_bytes - memory.held_bytes)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StateError(f"{name} is not as it was saved: {_CHANGED}")
    return data


def _open(
    archive: zipfile.ZipFile,
    name: str,
    limit_bytes: int,
) -> IO[bytes]:
    member = archive.getinfo(name)
    if member.compress_type not in _BOUNDED_COMPRESSIONS:
        raise StateError(f"{name}: expected it to be stored or deflated")
    if member.file_size > limit_bytes:
        allowed = "it can have"
        if name.startswith(PICTURES):
            allowed = "--max-memory leaves for it; raise it"
        raise StateError(f"{name} has {member.file_size} bytes, more than {allowed}")
    return archive.open(member)


def _read(
    archive: zipfile.ZipFile,
    name: str,
    limit_bytes: int,
) -> bytes:
    with _open(archive, name, limit_bytes) as file:
        return file.read()
