"""Write a sandbox as a state file."""

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from copy import copy
from functools import cache
from typing import Any

import orjson

from emulator.domain.recipes import Recipe
from emulator.domain.resources import Scene
from emulator.kernel.clock import Clock
from emulator.scenario.scenario import Scenario
from emulator.service.sandbox import Sandbox
from emulator.service.state.codec import Codec
from emulator.service.state.layout import CHUNK_BYTES, FORMAT, ONCE, PICTURES, STATE, TABLES, VERSION, SavedPicture

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The one date that every member of the file has, so that equal states are equal files."""


def save(sandbox: Sandbox, now: int) -> Iterator[bytes]:
    """Return a sandbox that is settled up to now as the pieces of a state file.

    The sandbox may change while the pieces are fetched, from whatever thread: they show the moment of this call.
    """
    once = {name: copy(getattr(sandbox, name)) for name in ONCE}
    once["clock"] = Clock(sandbox.clock.setting, now, elapsed_ms=lambda: 0.0)
    tables = {name: list(table.rows(sandbox)) for name, table in TABLES.items()}
    pictures = [
        (key, picture.content.recipe, picture.data, picture.scene) for key, picture in sandbox.images.pictures.items()
    ]
    return _pieces(sandbox.id, once, tables, pictures)


@cache
def _writing_codec() -> Codec:
    """Return what writes values: making it takes longer than writing a small state."""
    return Codec(_read_no_scenario)


def _read_no_scenario(text: str, file: str) -> Scenario:
    raise AssertionError("nothing is read while a state is written")


class _Sink(io.RawIOBase):
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> list[bytes]:
        """Return what was written since the last call; large pieces are not joined, so that pictures are not copied."""
        pieces, self._pieces = self._pieces, []
        return [b"".join(pieces)] if sum(map(len, pieces)) <= CHUNK_BYTES else pieces


def _pieces(
    identifier: str,
    once: dict[str, Any],
    tables: dict[str, list[Any]],
    pictures: list[tuple[str, Recipe | None, bytes | None, Scene | None]],
) -> Iterator[bytes]:
    codec, sink = _writing_codec(), _Sink()
    head = {"format": FORMAT, "version": VERSION, "sandbox": identifier}
    head.update({name: codec.write(value) for name, value in once.items()})
    with zipfile.ZipFile(sink, "w") as archive:
        written, saved = set[str](), []
        for key, recipe, data, scene in pictures:
            digest = None
            if data is not None:
                digest = hashlib.sha256(data).hexdigest()
                if digest not in written:
                    written.add(digest)
                    archive.writestr(zipfile.ZipInfo(PICTURES + digest, _EPOCH), data, zipfile.ZIP_STORED)
                    yield from sink.take()
            saved.append(SavedPicture(key, recipe if data is None else None, digest, scene))
        member = zipfile.ZipInfo(STATE, _EPOCH)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as file:
            for chunk in _chunks(_lines(codec, head, {**tables, "pictures": saved})):
                file.write(chunk)
                yield from sink.take()
    yield from sink.take()


def _lines(codec: Codec, head: dict[str, Any], tables: dict[str, list[Any]]) -> Iterator[bytes]:
    yield orjson.dumps(head, default=list, option=orjson.OPT_APPEND_NEWLINE)
    for name, rows in tables.items():
        for row in sorted(rows) if name == "events" else rows:  # sorted here, in the thread that writes
            yield orjson.dumps([name, codec.write(row)], default=list, option=orjson.OPT_APPEND_NEWLINE)


def _chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join short lines to larger pieces."""
    gathered, size_bytes = [], 0
    for line in lines:
        gathered.append(line)
        size_bytes += len(line)
        if size_bytes >= CHUNK_BYTES:
            yield b"".join(gathered)
            gathered, size_bytes = [], 0
    yield b"".join(gathered)
