"""Write a sandbox as a state file."""

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec.json import Encoder

from emulator.service.images import Picture
from emulator.service.sandbox import Sandbox
from emulator.service.state.layout import CHUNK_BYTES, DIGEST, PICTURES, STATE, Head, digest_line, head_of
from emulator.service.state.tables import TABLES, SavedPicture

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The one date that every member of the file has, so that equal states are equal files."""
_ROWS_AT_ONCE = 50


def save(sandbox: Sandbox, now: int) -> Iterator[bytes]:
    """Return a sandbox that is settled up to now as the pieces of a state file.

    The sandbox may change while the pieces are fetched, from whatever thread: they show the moment of this call.
    """
    tables = {name: table.rows(sandbox) for name, table in TABLES.items()}
    return _pieces(head_of(sandbox, now), tables)


class _Sink(io.RawIOBase):
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self, least_bytes: int = 0) -> list[bytes]:
        """Return what was written since the last call, or nothing before there is so much of it."""
        if sum(map(len, self._pieces)) < least_bytes:
            return []
        pieces, self._pieces = self._pieces, []
        return pieces


def _pieces(head: Head, tables: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    sink, saved, digest = _Sink(), list[SavedPicture](), hashlib.sha256()
    with zipfile.ZipFile(sink, "w") as archive:
        for _ in _write_pictures(archive, tables["pictures"], saved):
            yield from sink.take(CHUNK_BYTES)
        member = _member(STATE)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as file:
            for lines in _lines(head, {**tables, "pictures": saved}):
                digest.update(lines)
                file.write(lines)
                yield from sink.take(CHUNK_BYTES)
        archive.writestr(_member(DIGEST), digest_line(digest.hexdigest()))
    yield b"".join(sink.take())


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, _EPOCH)


def _write_pictures(
    archive: zipfile.ZipFile, pictures: Iterable[tuple[str, Picture]], saved: list[SavedPicture]
) -> Iterator[None]:
    """Write the bytes of pictures, each content once, and collect the rows of the pictures; yields between them."""
    written = set[str]()
    for key, picture in pictures:
        data, digest = picture.data, None
        if data is not None:
            digest = hashlib.sha256(data).hexdigest()
            if digest not in written:
                written.add(digest)
                archive.writestr(_member(PICTURES + digest), data, zipfile.ZIP_STORED)
                yield
        saved.append(SavedPicture(key, picture.content.recipe if data is None else None, digest, picture.scene))


def _lines(head: Head, tables: dict[str, Iterable[Any]]) -> Iterator[bytes]:
    """Encode the head and the rows, some at a time: no encoding holds other threads up for long."""
    encoder = Encoder()
    yield encoder.encode_lines([head])
    for name, rows in tables.items():
        left = iter(rows)
        while some := [(name, row) for row in islice(left, _ROWS_AT_ONCE)]:
            yield encoder.encode_lines(some)
