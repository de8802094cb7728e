"""State files as zip files: written piece by piece, and read whatever they hold: within bounds of bytes and memory."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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
from image_workflow_emulator.service.state import tables
from image_workflow_emulator.service.state.tables import SavedPicture, StateError

VERSION: Final = 11
FORMAT: Final = b"image-workflow-emulator state %d" % VERSION
"""The comment of the zip."""
STATE: Final = "state.jsonl"
DIGEST: Final = "state.sha256"
PICTURES: Final = "pictures/"
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
    head = Encoder().encode_lines([tables.head_of(sandbox, now)])
    return _pieces(head, tables.rows_of(sandbox))


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


def _pieces(head: bytes, rows: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    sink, digest = _Sink(), hashlib.sha256()
    with zipfile.ZipFile(sink, "w") as archive:
        saved = list[SavedPicture]()
        for key, picture in rows["pictures"]:
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
            for lines in _lines(head, {**rows, "pictures": saved}):
                digest.update(lines)
                file.write(lines)
                yield sink.take()
        archive.writestr(_member(DIGEST), _digest_line(digest.hexdigest()))
        archive.comment = FORMAT
    yield sink.take()


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, _EPOCH)


def _lines(head: bytes, rows: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    """Encode the rows, some at a time: no encoding holds other threads up for long."""
    encoder = Encoder()
    yield head
    for name, table in rows.items():
        left = iter(table)
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
            if archive.comment != FORMAT:
                raise StateError(
                    f"the file is not a state file of this version: found {excerpt(archive.comment.decode('latin-1'))}, "
                    f"expected {excerpt(FORMAT.decode())}; load it with the emulator that wrote it"
                )
            return _Reader(archive, MemoryBudget(limit_bytes), is_stopping).read(identifier, contract)
    except _UNREADABLE as error:
        raise StateError(f"the file is not a state file, or is damaged: {error}") from None


@dataclass(eq=False)
class _Reader:
    """Reads one file."""

    _archive: zipfile.ZipFile
    _memory: MemoryBudget
    _is_stopping: Callable[[], bool]

    def read(self, identifier: str, contract: Contract) -> Sandbox:
        """Read the lines one by one, and return the sandbox that they make."""
        number, decoders = 1, {name: Decoder(kind) for name, kind in tables.TABLES.items()}
        with self._open(STATE) as file:
            lines = self._checked_lines(file)
            try:
                head = msgspec.json.decode(next(lines, b""), type=tables.Head)
                loading = tables.Loading(
                    tables.begin(head, identifier, self._memory, contract), head, contract, self._picture
                )
                for line in lines:
                    number += 1
                    name, data = _ROW.decode(line)
                    if name not in decoders:
                        raise ValueError(f"found a row of {excerpt(name)}; expected one of {', '.join(decoders)}")
                    loading.add(name, decoders[name].decode(data))
                loading.complete()
                engine.enter(loading.sandbox)
            except KeyError as error:
                raise StateError(f"{STATE}:{number}: nothing has the id {excerpt(error.args[0])}") from None
            except _UNFIT as error:
                raise StateError(f"{STATE}:{number}: {error}") from None
        return loading.sandbox

    def _checked_lines(self, file: IO[bytes]) -> Iterator[bytes]:
        """Read the lines of the state. Raises StateError at its end if the digest is not its own."""
        digest, left_bytes = hashlib.sha256(), MAX_STATE_BYTES
        while line := file.readline(MAX_LINE_BYTES):
            left_bytes -= len(line)
            if self._is_stopping() or left_bytes < 0:
                raise StateError(f"{STATE} is too large" if left_bytes < 0 else "the emulator is stopping")
            digest.update(line)
            yield line
        if self._read(DIGEST, 1_000, "it can have") != _digest_line(digest.hexdigest()):
            raise _changed(f"{STATE} is not as it was saved (see {DIGEST})")

    def _picture(self, sha256: str) -> bytes:
        """Return the bytes of a picture."""
        memory, name = self._memory, PICTURES + sha256
        left_bytes = memory.limit_bytes - memory.held_bytes
        data = self._read(name, left_bytes, f"--max-memory {memory.limit_bytes} leaves for it; raise it")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise _changed(f"{name} is not as it was saved")
        return data

    def _read(self, name: str, limit_bytes: int, allowed: str) -> bytes:
        with self._open(name) as file:
            data = file.read(limit_bytes + 1)
        if len(data) > limit_bytes:
            raise StateError(f"{name} has more bytes than {allowed}")
        return data

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._archive.NameToInfo:
            raise StateError(f"the file is not a state file: it has no {name}")
        member = self._archive.getinfo(name)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise StateError(f"{name}: expected it to be stored or deflated")
        return self._archive.open(member)


def _changed(what: str) -> StateError:
    return StateError(f"{what}: the file is damaged, or somebody changed it")
