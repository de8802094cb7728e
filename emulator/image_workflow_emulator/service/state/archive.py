"""State files as zip files: written piece by piece, and read whatever they hold: within bounds of bytes and memory."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import IO, Annotated, Any, Final

import msgspec
from msgspec import Meta
from msgspec.json import Decoder, Encoder

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.ledger import LedgerError
from image_workflow_emulator.domain.lifecycles import IllegalMoveError
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.images import MemoryBudget
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.state.tables import (
    FORMAT,
    TABLES,
    VERSION,
    FileVersion,
    Head,
    Loading,
    SavedPicture,
    StateError,
    begin,
    complete,
    head_of,
)

STATE: Final = "state.jsonl"
DIGEST: Final = "state.sha256"
PICTURES: Final = "pictures/"
CHUNK_BYTES: Final = 64 * 1024
"""How much is read at once."""
MAX_STATE_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of `state.jsonl`."""
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
MAX_MEMBERS: Final = 100_000
_MEMBER_SIGNATURE: Final = b"PK\x01\x02"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The one date that every member of the file has, so that equal states are equal files."""
_ROWS_AT_ONCE: Final = 50

_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, ArithmeticError, RuntimeError)
"""What the reader of zip files raises for damaged files and for files of another kind."""
_UNFIT = (ValueError, DocumentError, RecursionError, IndexError, AssertionError, LedgerError, IllegalMoveError)
"""What is raised for lines that do not fit."""

_ROW: Final = Decoder(tuple[Annotated[str, Meta(max_length=40)], msgspec.Raw])


def _digest_line(digest: str) -> bytes:
    return f"{digest}  {STATE}\n".encode()


# Writing --------------------------------------------------------------------------------------------------------------


def save(sandbox: Sandbox, now: int) -> Iterator[bytes]:
    """Return a sandbox that is settled up to now as the pieces of a state file.

    The sandbox may change while the pieces are fetched, from whatever thread: they show the moment of this call.
    """
    head = Encoder().encode_lines([head_of(sandbox, now)])
    return _pieces(head, {name: table.rows(sandbox) for name, table in TABLES.items()})


class _Sink(io.RawIOBase):
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _pieces(head: bytes, tables: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    sink, digest = _Sink(), hashlib.sha256()
    with zipfile.ZipFile(sink, "w") as archive:
        saved = list[SavedPicture]()
        for key, picture in tables["pictures"]:
            data, sha256 = picture.data, None
            if data is not None:
                sha256 = hashlib.sha256(data).hexdigest()
                if PICTURES + sha256 not in archive.NameToInfo:
                    archive.writestr(_member(PICTURES + sha256), data)
                    yield sink.take()
            saved.append(SavedPicture(key, picture.content.recipe if data is None else None, sha256, picture.scene))
        member = _member(STATE)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as file:
            for lines in _lines(head, {**tables, "pictures": saved}):
                digest.update(lines)
                file.write(lines)
                yield sink.take()
        archive.writestr(_member(DIGEST), _digest_line(digest.hexdigest()))
    yield sink.take()


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, _EPOCH)


def _lines(head: bytes, tables: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    """Encode the rows, some at a time: no encoding holds other threads up for long."""
    encoder = Encoder()
    yield head
    for name, rows in tables.items():
        left = iter(rows)
        while some := [(name, row) for row in islice(left, _ROWS_AT_ONCE)]:
            yield encoder.encode_lines(some)


# Reading --------------------------------------------------------------------------------------------------------------


def load(
    content: bytes,
    identifier: str,
    limit_bytes: int,
    contract: Contract,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Sandbox:
    """Make a sandbox with an id from a state file, settled; nothing else changes. Call it in a thread of its own.

    `limit_bytes` is how many bytes of pictures it may have (`--max-memory`). They are counted in a budget of the sandbox's
    own, until it takes its place. `is_stopping` ends the loading: the process cannot end before its threads.

    Raises:
        StateError: the file is not a state file, is of another version, or does not fit together.
    """
    if content.count(_MEMBER_SIGNATURE) > MAX_MEMBERS:
        raise StateError(f"the file is not a state file: it has more than {MAX_MEMBERS} members")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            reader = _Reader(archive, MemoryBudget(limit_bytes), is_stopping)
            reader.check_whole()
            sandbox = reader.read(identifier, contract)
    except _UNREADABLE as error:
        raise StateError(f"the file is not a state file, or is damaged: {error}") from None
    return sandbox


@cache
def _decoder(table: str) -> Decoder[Any]:
    return Decoder(TABLES[table].kind)


@dataclass(eq=False)
class _Reader:
    """Reads one file."""

    _archive: zipfile.ZipFile
    _memory: MemoryBudget
    _is_stopping: Callable[[], bool]

    def check_whole(self) -> None:
        """Check format, version and digest."""
        with self._open(STATE) as file:
            try:
                found = msgspec.json.decode(file.readline(MAX_LINE_BYTES), type=FileVersion)
            except msgspec.MsgspecError:
                raise StateError(f"the file is not a state file: {STATE} does not begin as one") from None
        if found.format != FORMAT:
            raise StateError(f"the file is not a state file: found the format {excerpt(found.format)}")
        if found.version != VERSION:
            raise StateError(
                f"another version of the emulator wrote this file: found version {found.version} of state files, and this "
                f"emulator reads version {VERSION}; load it with the emulator that wrote it"
            )
        digest = hashlib.sha256()
        for piece in self._pieces(STATE, MAX_STATE_BYTES, "the emulator reads"):
            digest.update(piece)
        if b"".join(self._pieces(DIGEST, CHUNK_BYTES, "it can have")) != _digest_line(digest.hexdigest()):
            raise _changed(f"{STATE} is not as it was saved (see {DIGEST})")

    def read(self, identifier: str, contract: Contract) -> Sandbox:
        """Read the lines one by one, and return the sandbox that they make."""
        number = 1
        with io.BufferedReader(self._open(STATE), CHUNK_BYTES) as file:  # type: ignore[type-var]  # it reads like a raw file
            try:
                head = msgspec.json.decode(file.readline(MAX_LINE_BYTES), type=Head)
                loading = Loading(begin(head, identifier, self._memory, contract), head, contract, self._bytes)
                while line := file.readline(MAX_LINE_BYTES):
                    number += 1
                    self._check_going_on()
                    name, data = _ROW.decode(line)
                    if name not in TABLES:
                        raise StateError(
                            f"{STATE}:{number}: found a row of {excerpt(name)}; expected one of {', '.join(TABLES)}"
                        )
                    TABLES[name].add(loading, _decoder(name).decode(data))
                complete(loading.sandbox)
                engine.enter(loading.sandbox)
            except KeyError as error:
                raise StateError(f"{STATE}:{number}: nothing has the id {excerpt(error.args[0])}") from None
            except _UNFIT as error:
                raise StateError(f"{STATE}:{number}: {error}") from None
        return loading.sandbox

    def _open(self, name: str) -> IO[bytes]:
        try:
            member = self._archive.getinfo(name)
        except KeyError:
            raise StateError(f"the file is not a state file: it has no {name}") from None
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise StateError(f"{name}: expected it to be stored or deflated")
        return self._archive.open(member)

    def _pieces(self, name: str, limit_bytes: int, allowed: str) -> Iterator[bytes]:
        """Read a member piece by piece: a whole one, which may be a bomb, would hold other threads up."""
        with self._open(name) as file:
            while piece := file.read(CHUNK_BYTES):
                self._check_going_on()
                limit_bytes -= len(piece)
                if limit_bytes < 0:
                    raise StateError(f"{name} has more bytes than {allowed}")
                yield piece

    def _check_going_on(self) -> None:
        if self._is_stopping():
            raise StateError("the emulator is stopping")

    def _bytes(self, sha256: str) -> bytes:
        """Return the bytes of a picture."""
        memory, name = self._memory, PICTURES + sha256
        left_bytes = memory.limit_bytes - memory.held_bytes
        data = b"".join(self._pieces(name, left_bytes, f"--max-memory {memory.limit_bytes} leaves for it; raise it"))
        if hashlib.sha256(data).hexdigest() != sha256:
            raise _changed(f"{name} is not as it was saved")
        return data


def _changed(what: str) -> StateError:
    return StateError(f"{what}: the file is damaged, or somebody changed it")
