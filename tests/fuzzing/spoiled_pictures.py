"""Picture files of the five formats with something wrong inside: taken apart as the format has it, changed, and put
together again so that lengths and check sums hold, for otherwise a decoder never comes to see what is wrong.

What is changed: numbers of headers, the parts' order and number, bits of the compressed picture, and lengths.
"""

import struct
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any

from PIL import Image, ImageDraw

from tests.fuzzing.cases import changed_bytes
from tests.support.pictures import encode, png_chunk

Part = tuple[bytes, bytes]
"""Kind and body of a part of a file."""

LONGEST = 300_000
"""Bytes of a file; more is cut off."""
EDGES_8 = (0, 1, 2, 7, 0x7F, 0x80, 0xFE, 0xFF)
EDGES_16 = (0, 1, 2, 255, 256, 4_000, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF)
EDGES_32 = (0, 1, 2, 9_999, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF)


@cache
def sources(content_type: str) -> tuple[bytes, ...]:
    """Small files of a format, of as many structures as it has."""
    base = Image.linear_gradient("L").resize((48, 40)).convert("RGB")
    ImageDraw.Draw(base).ellipse((10, 8, 36, 32), fill="#703010")
    clear = base.convert("RGBA")
    clear.putalpha(Image.linear_gradient("L").resize((48, 40)))
    exif = Image.Exif()
    exif[0x0112] = 6
    frames: dict[str, Any] = {"save_all": True, "append_images": [base.rotate(90)], "duration": 40}
    kinds: list[tuple[Image.Image, dict[str, Any]]]
    match content_type:
        case "image/jpeg":
            kinds = [
                (base, {"exif": exif, "comment": b"words"}),
                (base, {"progressive": True}),
                (base.convert("L"), {}),
            ]
            kinds += [(base.convert("CMYK"), {"restart_marker_rows": 1}), (base, {"subsampling": 2, "quality": 5})]
        case "image/png":
            kinds = [(base, {"exif": exif, "dpi": (72, 72)}), (clear, {}), (base.quantize(8), {"transparency": 1})]
            kinds += [(base.convert("1"), {}), (Image.new("I;16", (9, 7), 700), {}), (clear, frames)]
        case "image/gif":
            kinds = [(base.quantize(8), {"comment": b"words"}), (base, frames), (base.quantize(2), {"transparency": 0})]
            kinds += [(base.quantize(200), {"interlace": 0})]
        case "image/webp":
            kinds = [(base, {}), (clear, {"exif": exif}), (clear, {"lossless": True}), (clear, frames)]
        case _:
            kinds = [(base, {"speed": 10}), (clear, {"speed": 10, "exif": exif}), (base, {"speed": 10, **frames})]
    return tuple(encode(image, content_type, **options) for image, options in kinds)


def spoiled(content_type: str, chance: Random) -> bytes:
    """Return a file of a format with something wrong."""
    data = chance.choice(sources(content_type))
    take_apart, put_together, change = FORMATS[content_type]
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if chance.random() < 0.2:
            data = changed_bytes(data, chance)
            continue
        parts = take_apart(data)
        if chance.random() < 0.35:
            parts = rearranged(parts, chance)
        elif parts:
            place = chance.randrange(len(parts))
            parts[place] = change(*parts[place], chance)
        data = put_together(parts)[:LONGEST]
    return data or b"\0"


def rearranged(parts: list[Part], chance: Random) -> list[Part]:
    """Return parts with one left out, doubled, moved, emptied, filled, or repeated many times."""
    if not parts:
        return parts
    place = chance.randrange(len(parts))
    kind, body = parts.pop(place)
    match chance.randrange(6):
        case 0:
            return parts
        case 1:
            parts[place:place] = [(kind, body)] * 2
        case 2:
            parts.insert(chance.randint(0, len(parts)), (kind, body))
        case 3:
            parts.insert(place, (kind, b""))
        case 4:
            parts.insert(place, (kind, body + chance.choice((b"\0", b"\xff", body)) * chance.choice((1, 100, 5_000))))
        case 5:
            parts[place:place] = [(kind, body)] * 400
    return parts


def with_field(body: bytes, place: int, size: int, chance: Random, order: str = ">") -> bytes:
    """Return a body in which a number is another: one at the edge of what it can be, or one that is near."""
    form = order + {1: "B", 2: "H", 4: "I"}[size]
    if place < 0 or len(body) < place + size:
        return body + b"\0"
    (old,) = struct.unpack_from(form, body, place)
    edges = {1: EDGES_8, 2: EDGES_16, 4: EDGES_32}[size]
    new = chance.choice((*edges, old + 1, old - 1, old * 2)) % (1 << 8 * size)
    return body[:place] + struct.pack(form, new) + body[place + size :]


def with_some_bytes(kind: bytes, body: bytes, chance: Random) -> Part:
    for _ in range(chance.choice((1, 1, 3))):
        body = changed_bytes(body, chance)
    return kind, body


# PNG ------------------------------------------------------------------------------------------------------------------

_PNG_START = b"\x89PNG\r\n\x1a\n"


def _png_parts(data: bytes) -> list[Part]:
    position, parts = len(_PNG_START), []
    while position + 12 <= len(data):
        length = struct.unpack_from(">I", data, position)[0]
        parts.append((data[position + 4 : position + 8], data[position + 8 : position + 8 + length]))
        position += 12 + min(length, len(data))
    return parts


def _png_file(parts: list[Part]) -> bytes:
    return _PNG_START + b"".join(png_chunk(*part) for part in parts)


def _png_change(kind: bytes, body: bytes, chance: Random) -> Part:
    if kind == b"IHDR":
        place, size = chance.choice(((0, 4), (4, 4), (8, 1), (9, 1), (9, 1), (10, 1), (11, 1), (12, 1)))
        return kind, with_field(body, place, size, chance)
    if kind in (b"IDAT", b"fdAT") and chance.random() < 0.6:
        return kind, _deflated_anew(body, chance)
    if chance.random() < 0.3:
        kinds = b"tRNS PLTE acTL fcTL fdAT iCCP gAMA eXIf zTXt XXXX".split()
        return chance.choice(kinds), body
    return with_some_bytes(kind, body, chance)


def _deflated_anew(body: bytes, chance: Random) -> bytes:
    """Return picture data that inflates to something else: too little, too much, other filters."""
    try:
        rows = zlib.decompressobj().decompress(body, 1 << 20)
    except zlib.error:
        return body
    others = (rows[:-1], rows[: len(rows) // 2], rows * 3, b"", changed_bytes(rows, chance), b"\x05" + rows[1:])
    return zlib.compress(chance.choice(others), chance.choice((0, 1, 9)))


# JPEG -----------------------------------------------------------------------------------------------------------------


def _jpeg_parts(data: bytes) -> list[Part]:
    """The segments: marker, and all that follows it up to the next, lengths left out."""
    position, parts = 2, []
    while position + 4 <= len(data) and data[position] == 0xFF:
        length = struct.unpack_from(">H", data, position + 2)[0]
        end = position + 2 + length
        if data[position + 1] == 0xDA:
            end = len(data) if data.find(b"\xff\xd9", end) < 0 else data.find(b"\xff\xd9", end)
        parts.append((data[position : position + 2], data[position + 4 : end]))
        position = end
    return parts


def _jpeg_file(parts: list[Part]) -> bytes:
    pieces = [b"\xff\xd8"]
    for kind, body in parts:
        length = 2 + (1 + 2 * body[0] + 3 if kind == b"\xff\xda" and body else len(body))
        pieces.append(kind + struct.pack(">H", min(length, 0xFFFF)) + body)
    return b"".join([*pieces, b"\xff\xd9"])


def _jpeg_change(kind: bytes, body: bytes, chance: Random) -> Part:
    if kind[1] in range(0xC0, 0xC4):
        place, size = chance.choice(((0, 1), (1, 2), (3, 2), (5, 1), (6, 1), (7, 1), (7, 1), (8, 1), (10, 1)))
        return kind, with_field(body, place, size, chance)
    if chance.random() < 0.2:
        markers = b"\xc0\xc1\xc2\xc3\xc4\xc9\xda\xdb\xdc\xdd\xde\xe0\xe1\xe2\xee\xfe\xf0\x01"
        return bytes((0xFF, chance.choice(markers))), body
    if kind == b"\xff\xda" and chance.random() < 0.5:
        place = chance.randrange(len(body) + 1)
        return kind, body[:place] + chance.choice((b"\xff\xd0", b"\xff\xd7", b"\xff\x00", b"\xff\xff")) + body[place:]
    return with_some_bytes(kind, body, chance)


# GIF ------------------------------------------------------------------------------------------------------------------


def _gif_parts(data: bytes) -> list[Part]:
    """The header with its colours, and each block after it, by its introducer."""
    start = 13 + (3 << (data[10] & 7) + 1 if len(data) > 10 and data[10] & 0x80 else 0)
    parts, position = [(b"", data[:start])], start
    while position < len(data) and data[position] in (0x21, 0x2C):
        head = 2
        if data[position] == 0x2C:
            flags = data[position + 9] if position + 9 < len(data) else 0
            head = 11 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
        end = position + head
        while end < len(data) and data[end]:
            end += data[end] + 1
        parts.append((data[position : position + 1], data[position + 1 : end + 1]))
        position = end + 1
    return parts


def _gif_file(parts: list[Part]) -> bytes:
    return b"".join(kind + body for kind, body in parts) + b";"


def _gif_change(kind: bytes, body: bytes, chance: Random) -> Part:
    if not kind:
        place, size = chance.choice(((6, 2), (8, 2), (10, 1), (11, 1), (4, 1)))
        return kind, with_field(body, place, size, chance, "<")
    if kind == b"\x2c" and chance.random() < 0.7:
        place, size = chance.choice(((0, 2), (2, 2), (4, 2), (6, 2), (8, 1), (9, 1), (9, 1), (10, 1)))
        return kind, with_field(body, place, size, chance, "<")
    return with_some_bytes(kind, body, chance)


# WebP -----------------------------------------------------------------------------------------------------------------


def _webp_parts(data: bytes) -> list[Part]:
    position, parts = 12, []
    while position + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, position)
        parts.append((kind, data[position + 8 : position + 8 + length]))
        position += 8 + length + length % 2
    return parts


def _webp_file(parts: list[Part]) -> bytes:
    chunks = b"".join(kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2) for kind, body in parts)
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def _webp_change(kind: bytes, body: bytes, chance: Random) -> Part:
    fields = {
        b"VP8X": ((0, 1), (0, 1), (4, 2), (7, 2), (6, 1), (9, 1)),
        b"VP8 ": ((0, 1), (0, 2), (3, 1), (6, 2), (8, 2), (10, 4)),
        b"VP8L": ((0, 1), (1, 4), (5, 4), (9, 4)),
        b"ALPH": ((0, 1), (1, 4)),
        b"ANMF": ((0, 2), (6, 2), (9, 2), (15, 1), (16, 4), (20, 4)),
    }
    if kind in fields and chance.random() < 0.7:
        place, size = chance.choice(fields[kind])
        return kind, with_field(body, place, size, chance, "<")
    if chance.random() < 0.2:
        return chance.choice((*fields, b"ANIM", b"ICCP", b"EXIF", b"XXXX")), body
    return with_some_bytes(kind, body, chance)


# AVIF -----------------------------------------------------------------------------------------------------------------

_CONTAINERS = {b"meta": 4, b"iinf": 6} | dict.fromkeys(
    (b"iprp", b"ipco", b"moov", b"trak", b"mdia", b"minf", b"stbl"), 0
)
"""Boxes of boxes, and how many bytes come before the inner ones."""


def _boxes(data: bytes) -> list[Part]:
    position, parts = 0, []
    while position + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        end = min(position + max(length, 8), len(data))
        parts.append((kind, data[position + 8 : end]))
        position = end
    return parts


def _boxes_file(parts: list[Part]) -> bytes:
    return b"".join(struct.pack(">I", len(body) + 8) + kind + body for kind, body in parts)


def _box_change(kind: bytes, body: bytes, chance: Random) -> Part:
    if kind in _CONTAINERS and chance.random() < 0.9:
        head, inner = body[: _CONTAINERS[kind]], _boxes(body[_CONTAINERS[kind] :])
        if inner and chance.random() < 0.8:
            place = chance.randrange(len(inner))
            inner[place] = _box_change(*inner[place], chance)
        else:
            inner = rearranged(inner, chance)
        return kind, head + _boxes_file(inner)
    if kind in (b"ispe", b"iloc", b"pitm", b"pixi", b"av1C", b"ipma", b"colr", b"irot", b"clap", b"infe") and body:
        size = chance.choice((1, 2, 4))
        return kind, with_field(body, chance.randrange(max(len(body) - size + 1, 1)), size, chance)
    return with_some_bytes(kind, body, chance)


FORMATS: Mapping[
    str, tuple[Callable[[bytes], list[Part]], Callable[[list[Part]], bytes], Callable[[bytes, bytes, Random], Part]]
] = {
    "image/jpeg": (_jpeg_parts, _jpeg_file, _jpeg_change),
    "image/png": (_png_parts, _png_file, _png_change),
    "image/gif": (_gif_parts, _gif_file, _gif_change),
    "image/webp": (_webp_parts, _webp_file, _webp_change),
    "image/avif": (_boxes, _boxes_file, _box_change),
}
"""By content type: how a file is taken apart, put together, and how one part of it is changed."""
