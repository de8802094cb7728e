"""Encoded pictures: which reader serves which format, what a header says, and how files
are written.

Formats are opened by their own readers: `Image.open` compares every picture with a
limit of the process, and warns. Files are written fast rather than small, and without
metadata. Pillow compresses by libraries of its own, so the bytes depend on its build,
and not on the interpreter's zlib.
"""

import contextlib
import io
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from PIL import (
    GifImagePlugin,
    Image,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    WebPImagePlugin,
)

from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging.av1 import PixelSize
from image_workflow_emulator.imaging.avif import (
    MAX_AVIF_EDGE,
    MAX_AVIF_PIXELS,
    announced_size,
    open_avif,
)
from image_workflow_emulator.imaging.bits import BitReader
from image_workflow_emulator.imaging.colors import opaque
from image_workflow_emulator.imaging.pictures import Picture, Size
from image_workflow_emulator.imaging.png import open_png, png_size

SourceFormat = Literal["jpeg", "png", "gif", "webp", "avif"]
Reader = Callable[[bytes], ImageFile.ImageFile]

MAX_EDGE = 65_500
"""Pixels of the longer edge, in every format: as many as JPEG's decoder takes (D57)."""

PngImagePlugin.MAX_TEXT_CHUNK = 1 << 24  # a colour profile of some MB is sound
# Uploads have limits of their own, and GIF's reader would warn.
Image.MAX_IMAGE_PIXELS = None


class Header(NamedTuple):
    """What the header of a file announces; the size is in pixels."""

    format: SourceFormat
    width: int
    height: int


def _open_jpeg(data: bytes) -> ImageFile.ImageFile:
    return JpegImagePlugin.JpegImageFile(io.BytesIO(data))


def _open_gif(data: bytes) -> ImageFile.ImageFile:
    return GifImagePlugin.GifImageFile(io.BytesIO(data))


def _open_webp(data: bytes) -> ImageFile.ImageFile:
    return WebPImagePlugin.WebPImageFile(io.BytesIO(data))


READERS: Mapping[SourceFormat, Reader] = {
    "jpeg": _open_jpeg,
    "png": open_png,
    "gif": _open_gif,
    "webp": _open_webp,
    "avif": open_avif,
}

_SIGNATURES: Mapping[SourceFormat, re.Pattern[bytes]] = {
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "avif": re.compile(rb".{4}ftyp.{0,56}avi[fs]", re.DOTALL),
}
"""How the files of each format begin."""

_OTHER_SIGNATURES: Mapping[str, re.Pattern[bytes]] = {
    "HEIC": re.compile(rb".{4}ftyp.{0,56}(hei[cmsx]|hev[cmsx])", re.DOTALL),
    "a multipart form": re.compile(rb"--[^\r\n]{1,200}\r?\nContent-", re.IGNORECASE),
}
"""How the files begin that are sent by mistake."""

_OPTIONS: Mapping[PictureFormat, Mapping[str, Any]] = {
    # Runs alone (3): faster, and smaller for drawings.
    "png": {
        "compress_level": 1,
        "compress_type": 3,
    },
    "jpeg": {"quality": 90},
    "webp": {
        "quality": 85,
        "alpha_quality": 90,
        "method": 0,
    },
}


def sniff(data: bytes) -> SourceFormat | None:
    """The image format that the first bytes indicate, if it is one of the accepted
    five.
    """
    for source, signature in _SIGNATURES.items():
        if signature.match(data):
            return source
    return None


def name_of_content(data: bytes) -> str | None:
    """What the first bytes are, in words: an accepted format, or a frequent mistake."""
    source = sniff(data)
    if source is not None:
        return source.upper()
    for name, signature in _OTHER_SIGNATURES.items():
        if signature.match(data):
            return name
    return None


def size_of(data: bytes, source: SourceFormat) -> Size:
    """Width and height in pixels, from the header alone.

    Raises nearly any exception for a broken one.
    """
    if source == "png":
        return png_size(data)
    if source == "webp":  # its reader takes the memory of the whole picture at once
        return _webp_size(data)
    if source == "avif":
        size = announced_size(data)
        if size is not None and _is_beyond_avif(size):
            return size  # the decoder refuses it, and does not say why
    with READERS[source](data) as opened:
        return opened.size


def _is_beyond_avif(size: PixelSize) -> bool:
    return max(size) > MAX_AVIF_EDGE or size.area > MAX_AVIF_PIXELS


def _webp_size(data: bytes) -> Size:
    """Raises ValueError if the header is cut off.

    Numbers have their least significant byte first: those of odd widths are read from
    the end.
    """
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little")
        height = int.from_bytes(data[27:30], "little")
        return width + 1, height + 1
    if kind == b"VP8L":
        reader = BitReader(data[24:20:-1])
        reader.read(4)
        height = reader.read(14)
        width = reader.read(14)
        return width + 1, height + 1
    reader = BitReader(data[29:25:-1])
    reader.read(2)
    height = reader.read(14)
    reader.read(2)
    width = reader.read(14)
    return width, height


def header_of(data: bytes) -> Header | None:
    """What the header of a file announces; None if it cannot be read."""
    source = sniff(data)
    if source is None:
        return None
    try:
        width, height = size_of(data, source)
    except Exception:  # decoders raise nearly anything on hostile bytes
        return None
    return Header(
        format=source,
        width=width,
        height=height,
    )


def load(data: bytes, enough: int | None = None) -> Picture:
    """A stored picture in RGB or RGBA.

    With `enough`, a picture whose longest edge is twice as many pixels or more is
    reduced, quickly, to no less. A state file may bring bytes that no decoder takes: a
    grey pixel stands for these.
    """
    header = header_of(data)
    if header is not None and max(header.width, header.height) <= MAX_EDGE:
        with contextlib.suppress(Exception):  # likewise
            return _decoded(READERS[header.format](data), enough)
    return Image.new("RGB", (1, 1), "#808080")


def _decoded(image: Picture, enough: int | None) -> Picture:
    if enough is not None:
        image = _reduced(image, enough)
    mode = "RGB"
    if image.has_transparency_data:
        mode = "RGBA"
    image.load()
    if image.mode == mode:
        return image
    return image.convert(mode)


def _reduced(opened: Picture, enough: int) -> Picture:
    """A picture that has at least `enough` pixels an edge, if it had them.

    JPEG's decoder reduces while it decodes.
    """
    longest = max(opened.size)
    width = max(1, enough * opened.width // longest)
    height = max(1, enough * opened.height // longest)
    opened.draft("RGB", (width, height))
    factor = max(opened.size) // enough
    if factor > 1:
        return opened.reduce(factor)
    return opened


def encode(image: Picture, target: PictureFormat) -> bytes:
    """The file of an image in L, RGB or RGBA.

    JPEG has no transparency: flattened on white.
    """
    if target == "jpeg":
        image = opaque(image)
    image.info = {}  # Pillow would write a part of the metadata that it read
    buffer = io.BytesIO()
    image.save(buffer, target, **_OPTIONS[target])
    return buffer.getvalue()
