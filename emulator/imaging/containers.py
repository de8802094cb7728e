"""The file structure of JPEG, PNG, GIF and WebP: which part of a file is the picture, and which is metadata.

Owns taking a file apart without decoding it, so that metadata can be dropped without touching the picture, and so that
files made to exhaust a decoder are refused before they are decoded. AVIF is left to its decoder. Knows nothing of
Pillow. Raises BrokenFile, struct.error, IndexError or zlib.error for files that do not hold together.
"""

import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

_MOST_PARTS = 20_000
_MOST_SCANS = 100
_MOST_PROFILE_BYTES = 4 << 20


class BrokenFile(Exception):
    """The file is broken; the text says how, as a sentence."""


class Contents(Struct, frozen=True):
    """A file with the first picture alone, and its properties."""

    data: bytes
    width: int
    height: int
    exif: bytes | None = None
    """TIFF structure, without the prefix that JPEG has before it."""
    icc_profile: bytes | None = None
    is_plain: bool = False
    """Whether `data` is a file of one still picture, in 8-bit grey, RGB or RGBA, that can be kept as it is."""


def contents_of(data: bytes, source: str) -> Contents | None:
    """The contents of a file of a format by its name; None for formats that are not taken apart here."""
    reader = _READERS.get(source)
    return reader(data) if reader else None


# ----------------------------------------------------------------------------------------------------------------- JPEG

_SOI, _EOI, _SOS = 0xD8, 0xD9, 0xDA
_APP0, _APP1, _APP2, _APP14, _APP15, _COM = 0xE0, 0xE1, 0xE2, 0xEE, 0xEF, 0xFE
_FRAMES = (0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
_EXIF_PREFIX, _ICC_PREFIX = b"Exif\0\0", b"ICC_PROFILE\0"
_MARKER = re.compile(rb"\xff[^\xff]", re.DOTALL)  # of several 0xFF, all but the last are fill bytes
_END_OF_SCAN = re.compile(rb"\xff[^\xff\x00\xd0-\xd7]", re.DOTALL)  # these belong to entropy-coded data
_FILLING = re.compile(rb"\xff+")
_PLAIN_JFIF = b"\xff\xe0\x00\x10JFIF\0\x01\x01\x00\x00\x01\x00\x01\x00\x00"


def _read_jpeg(data: bytes) -> Contents:
    pieces: list[bytes | memoryview] = [data[:2]]
    exif: bytes | None = None
    profile_parts: dict[int, bytes] = {}
    size = (0, 0)
    for marker, segment, scan in _jpeg_segments(data):
        body = segment[4:]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", body, 1)
            size = (width, height)
        if marker == _APP1 and body.startswith(_EXIF_PREFIX):
            exif = exif or body[len(_EXIF_PREFIX) :]
        elif marker == _APP2 and body.startswith(_ICC_PREFIX):
            profile_parts[body[len(_ICC_PREFIX)]] = body[len(_ICC_PREFIX) + 2 :]
        if marker == _APP0 and body.startswith(b"JFIF\0"):  # decides the colour space; its thumbnail goes
            pieces.append(_PLAIN_JFIF)
        elif marker == _APP14 or not (_APP0 <= marker <= _APP15 or marker == _COM):
            pieces += (segment, scan)
    profile = b"".join(part for _, part in sorted(profile_parts.items()))
    return Contents(b"".join(pieces), *size, exif, profile or None, is_plain=True)


def _jpeg_segments(data: bytes) -> Iterator[tuple[int, bytes, memoryview]]:
    """Each segment up to the end of the picture: its marker, itself, and the entropy-coded data that follows it."""
    position, scans, view = 2, 0, memoryview(data)
    for _ in range(_MOST_PARTS):
        position = _next(_MARKER, data, position)
        marker = data[position + 1]
        if marker == _EOI:
            yield marker, data[position : position + 2], view[:0]
            return
        if marker in (0x00, 0x01, _SOI) or 0xD0 <= marker <= 0xD7:
            position += 2
            continue
        end = position + 2 + struct.unpack_from(">H", data, position + 2)[0]
        if end > len(data):
            raise BrokenFile("it ends within a segment")
        scan_end = end
        if marker == _SOS:
            scans += 1
            scan_end = _next(_END_OF_SCAN, data, end)
        if scans > _MOST_SCANS:
            raise BrokenFile(f"it has more than {_MOST_SCANS} scans")
        scan = view[end:scan_end]
        if data.find(b"\xff\xff", end, scan_end) >= 0:  # of many fill bytes, the decoder reads each again and again
            scan = memoryview(_FILLING.sub(b"\xff", scan))
        yield marker, data[position:end], scan
        position = scan_end
    raise BrokenFile(f"it has more than {_MOST_PARTS} segments")


def _next(pattern: re.Pattern[bytes], data: bytes, start: int) -> int:
    found = pattern.search(data, start)
    if found is None:
        raise BrokenFile("it ends before its end marker")
    return found.start()


# ------------------------------------------------------------------------------------------------------------------ PNG

_PNG_START = b"\x89PNG\r\n\x1a\n"
_PLAIN_COLOR_TYPES = (0, 2, 6)  # grey, RGB, RGBA


def _read_png(data: bytes) -> Contents:
    pieces: list[bytes | memoryview] = [_PNG_START]
    exif: bytes | None = None
    profile: bytes | None = None
    kinds: set[bytes] = set()
    for kind, chunk in _png_chunks(data):
        kinds.add(kind)
        if _is_critical(kind) or kind == b"tRNS":
            pieces.append(chunk)
        elif kind == b"eXIf":
            exif = exif or bytes(chunk[8:-4])
        elif kind == b"iCCP":
            profile = profile or _inflated_profile(bytes(chunk[8:-4]))
    width, height, depth, color_type = struct.unpack_from(">IIBB", data, 16)
    is_plain = depth == 8 and color_type in _PLAIN_COLOR_TYPES and kinds.isdisjoint((b"tRNS", b"PLTE"))
    is_whole = sum(map(len, pieces)) == len(data)  # then there is nothing to copy
    return Contents(data if is_whole else b"".join(pieces), width, height, exif, profile, is_plain)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Each chunk's kind and the chunk as it stands, up to the last."""
    position, view = len(_PNG_START), memoryview(data)
    if data[12:16] != b"IHDR":
        raise BrokenFile("it does not begin with its header")
    for _ in range(_MOST_PARTS):
        length, kind = struct.unpack_from(">I4s", data, position)
        chunk = view[position : position + length + 12]
        if len(chunk) < length + 12:
            raise BrokenFile("it ends within a chunk")
        if _is_critical(kind) and zlib.crc32(chunk[4:-4]) != struct.unpack_from(">I", chunk, length + 8)[0]:
            raise BrokenFile("a chunk's check sum is wrong")
        yield kind, chunk
        if kind == b"IEND":
            return
        position += length + 12
    raise BrokenFile(f"it has more than {_MOST_PARTS} chunks")


def _is_critical(kind: bytes) -> bool:
    """An upper-case first letter marks a chunk that the picture needs."""
    return not kind[0] & 0x20


def _inflated_profile(body: bytes) -> bytes | None:
    """The ICC profile of an iCCP chunk; None if it is broken or unreasonably large."""
    name_end = body.find(b"\0")
    inflate = zlib.decompressobj()
    try:
        profile = inflate.decompress(body[name_end + 2 :], _MOST_PROFILE_BYTES)
    except zlib.error:
        return None
    return profile if inflate.eof else None


# ------------------------------------------------------------------------------------------------------------------ GIF

_GIF_EXTENSION, _GIF_IMAGE, _GIF_CONTROL = 0x21, 0x2C, 0xF9


def _read_gif(data: bytes) -> Contents:
    """The first frame alone: its extension blocks dropped, its canvas grown to hold it."""
    flags = data[10]
    position = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    colors = data[13:position]
    control = b""
    for _ in range(_MOST_PARTS):
        introducer = data[position]
        if introducer == _GIF_IMAGE:
            break
        if introducer != _GIF_EXTENSION:
            raise BrokenFile("it has no picture")
        end = _end_of_gif_blocks(data, position + 2)
        if data[position + 1] == _GIF_CONTROL:
            control = data[position:end]
        position = end
    else:
        raise BrokenFile(f"it has more than {_MOST_PARTS} extensions")
    left, top, across, down = struct.unpack_from("<HHHH", data, position + 1)
    width, height = struct.unpack_from("<HH", data, 6)
    width, height = max(width, left + across), max(height, top + down)
    if max(width, height) > 0xFFFF:
        raise BrokenFile("its first frame lies outside of its canvas")
    start = data[:6] + struct.pack("<HH", width, height) + data[10:13]
    return Contents(b"".join((start, colors, control, data[position:])), width, height)


def _end_of_gif_blocks(data: bytes, position: int) -> int:
    while data[position]:
        position += data[position] + 1
    return position + 1


# ----------------------------------------------------------------------------------------------------------------- WebP

_WEBP_PICTURE = (b"VP8 ", b"VP8L", b"ALPH")
_WEBP_EXTENDED = b"VP8X"
_WEBP_ANIMATION_FLAG, _WEBP_ALPHA_FLAG = 0x02, 0x10


def _read_webp(data: bytes) -> Contents:
    chunks = dict(_webp_chunks(data))
    exif = bytes(chunks.get(b"EXIF", b"")[8:]).removeprefix(_EXIF_PREFIX) or None
    profile = bytes(chunks.get(b"ICCP", b"")[8:]) or None
    extended = chunks.get(_WEBP_EXTENDED)
    if extended and extended[8] & _WEBP_ANIMATION_FLAG:
        width, height = _webp_canvas(extended)
        return Contents(data, width, height, exif, profile)
    pieces: list[bytes | memoryview] = [chunk for kind, chunk in chunks.items() if kind in _WEBP_PICTURE]
    if extended:
        width, height = _webp_canvas(extended)
        pieces[:0] = (extended[:8], bytes((extended[8] & _WEBP_ALPHA_FLAG, 0, 0, 0)), extended[12:18])
    else:
        width, height = _webp_frame(chunks)
    start = b"RIFF" + struct.pack("<I", sum(map(len, pieces)) + 4) + b"WEBP"
    return Contents(b"".join((start, *pieces)), width, height, exif, profile, is_plain=True)


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    """Each chunk's kind and the chunk with its padding; of the frames of an animation, only the last."""
    position, view = 12, memoryview(data)
    end = 8 + struct.unpack_from("<I", data, 4)[0]
    if end > len(data):
        raise BrokenFile("it ends before its announced length")
    for _ in range(_MOST_PARTS):
        if position + 8 > end:
            return
        kind, length = struct.unpack_from("<4sI", data, position)
        padded = 8 + length + length % 2
        chunk = view[position : min(position + padded, end)]
        if len(chunk) < 8 + length:
            raise BrokenFile("it ends within a chunk")
        yield kind, chunk
        position += padded
    raise BrokenFile(f"it has more than {_MOST_PARTS} chunks")


def _webp_canvas(extended: memoryview) -> tuple[int, int]:
    return 1 + int.from_bytes(extended[12:15], "little"), 1 + int.from_bytes(extended[15:18], "little")


def _webp_frame(chunks: Mapping[bytes, memoryview]) -> tuple[int, int]:
    if b"VP8L" in chunks:
        bits = struct.unpack_from("<I", chunks[b"VP8L"], 9)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if b"VP8 " not in chunks:
        raise BrokenFile("it has no picture")
    width, height = struct.unpack_from("<HH", chunks[b"VP8 "], 14)
    return width & 0x3FFF, height & 0x3FFF


_READERS: Mapping[str, Callable[[bytes], Contents]] = {
    "jpeg": _read_jpeg,
    "png": _read_png,
    "gif": _read_gif,
    "webp": _read_webp,
}
