"""The id of the Generation in the file of its picture: equal orders share a drawing, and yet each file names its own.

Owns the place for the id, which a drawing leaves in its metadata. Must not know how metadata is read or drawn.
"""

import zlib

NO_GENERATION = "gen_" + "0" * 26
"""Stands where the id is to be, and is as long."""

_PNG_START = b"\x89PNG\r\n\x1a\n"


def stamped(data: bytes, generation_id: str | None) -> bytes:
    """Return a file with the id where there is a place for it; files of uploads and ingredients have none."""
    place, mark = NO_GENERATION.encode(), (generation_id or "").encode()
    if len(mark) != len(place) or place not in data:
        return data
    data = data.replace(place, mark)
    return _with_checksums(data) if data.startswith(_PNG_START) else data


def _with_checksums(png: bytes) -> bytes:
    """A PNG file, with the checksum of each chunk before its pixels made anew."""
    parts, start = [_PNG_START], len(_PNG_START)
    while (kind := png[start + 4 : start + 8]) not in (b"IDAT", b""):
        end = start + 8 + int.from_bytes(png[start : start + 4])
        parts += [png[start : start + 4], kind, png[start + 8 : end], zlib.crc32(png[start + 4 : end]).to_bytes(4)]
        start = end + 4
    return b"".join((*parts, png[start:]))
