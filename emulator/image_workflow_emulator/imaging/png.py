"""PNG files as Pillow should read them: without the chunks that no pixel needs, and
with a usable colour key.

Pillow refuses a whole picture for a damaged comment, and knows a colour key (tRNS) at 8
bits alone. Metadata that is dropped here can neither fail nor turn a picture.
"""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from PIL import PngImagePlugin

from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.pictures import Mask, Picture, Size

SIGNATURE = b"\x89PNG\r\n\x1a\n"

_CHUNK_HEAD = struct.Struct(">I4s")
_CHECKSUM = struct.Struct(">I")
_SIZE = struct.Struct(">II")
_SIZE_PLACE = 16
_DEPTH_PLACE = 24
_ANCILLARY_BIT = 0x20
"""A bit of the first byte of a chunk's name: a reader may leave the chunk out."""
_USED_IF_SOUND = frozenset((b"iCCP", b"eXIf"))
_USED = _USED_IF_SOUND | {b"tRNS", b"acTL", b"fcTL", b"fdAT"}
"""The ancillary chunks that decide how the first picture looks."""
_MAX_CHUNKS = 50_000
"""Limit of the chunks of a file; encoders write one for every few kibibytes."""


class Chunk(NamedTuple):
    """A chunk, by its places in a file; `start` and `end` include its head and its
    checksum.
    """

    kind: bytes
    start: int
    end: int

    @property
    def body_end(self) -> int:
        """Where the checksum begins."""
        return self.end - _CHECKSUM.size

    def body_in(self, data: bytes) -> bytes:
        """The content, without head and checksum."""
        start = self.start + _CHUNK_HEAD.size
        return data[start : self.body_end]


def png_size(data: bytes) -> Size:
    """Width and height in pixels. Raises struct.error if the header is cut off."""
    width, height = _SIZE.unpack_from(data, _SIZE_PLACE)
    return width, height


def open_png(data: bytes) -> PngImagePlugin.PngImageFile:
    """The picture with its header read. Raises nearly anything for a broken one."""
    used = _without_unused_chunks(data)
    image = PngImagePlugin.PngImageFile(io.BytesIO(used))
    key = image.info.get("transparency")
    if key is not None and image.mode == "L":
        # The key has the levels of the file, the picture has 256.
        level_count = 1 << data[_DEPTH_PLACE]
        highest = level_count - 1
        level = key % level_count
        image.info["transparency"] = level * 255 // highest
    return image


def _without_unused_chunks(data: bytes) -> bytes:
    view = memoryview(data)
    pieces = []
    kept_until = 0
    for chunk in _chunks(data):
        if not _is_used(chunk, data):
            pieces.append(view[kept_until : chunk.start])
            kept_until = chunk.end
    if not pieces:
        return data
    return b"".join((*pieces, view[kept_until:]))


def _chunks(data: bytes) -> Iterator[Chunk]:
    """The chunks up to the first that is cut off or has no name.

    Raises ValueError for more of them than any encoder writes.
    """
    start = len(SIGNATURE)
    for _ in range(_MAX_CHUNKS):
        if start + _CHUNK_HEAD.size > len(data):
            return
        length, kind = _CHUNK_HEAD.unpack_from(data, start)
        end = start + _CHUNK_HEAD.size + length + _CHECKSUM.size
        if end > len(data) or not kind.isalpha():
            return
        yield Chunk(kind, start, end)
        start = end
    raise ValueError(f"more than {_MAX_CHUNKS} chunks")


def _is_used(chunk: Chunk, data: bytes) -> bool:
    if not chunk.kind[0] & _ANCILLARY_BIT:
        return True
    if chunk.kind in _USED_IF_SOUND:
        return _is_sound(chunk, data)
    return chunk.kind in _USED


def _is_sound(chunk: Chunk, data: bytes) -> bool:
    body = chunk.body_in(data)
    (checksum,) = _CHECKSUM.unpack_from(data, chunk.body_end)
    if zlib.crc32(chunk.kind + body) != checksum:
        return False
    if chunk.kind != b"iCCP":
        return True
    _, _, compressed = body.partition(b"\0")
    return compressed.startswith(b"\0")  # the only method of compression


def alpha_of_deep_key(image: Picture, data: bytes) -> Mask | None:
    """The alpha channel of a decoded picture that had 16 bits a channel and a colour
    key; None without these.

    Pillow keeps 16 bits of grey, and the upper 8 of a colour: the lower 8 are decoded
    again.
    """
    key = image.info.get("transparency")
    if key is None or data[_DEPTH_PLACE] != 16:
        return None
    if image.mode == "I;16":
        levels = [255] * (1 << 16)
        levels[key] = 0
        return image.convert("I").point(levels, "L")
    if image.mode != "RGB":
        return None
    upper_key = [level >> 8 for level in key]
    lower_key = [level & 255 for level in key]
    upper_equal = _where_equal(image, upper_key)
    lower_equal = _where_equal(_lower_bytes(data), lower_key)
    transparent = masks.common(upper_equal, lower_equal)
    return masks.inverted(transparent)


def _lower_bytes(data: bytes) -> Picture:
    image = open_png(data)
    image.tile = [tile._replace(args="RGB;16L") for tile in image.tile]
    image.load()
    return image


def _where_equal(image: Picture, color: list[int]) -> Mask:
    """A mask of the pixels that have a colour."""
    mask = masks.everywhere(image.size)
    for number, level in enumerate(color):
        channel = image.getchannel(number)
        channel_equal = masks.equal(channel, level)
        mask = masks.common(mask, channel_equal)
    return mask
