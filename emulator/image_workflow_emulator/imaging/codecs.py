"""Encoded pictures: which reader serves which format, what is known before a picture is decoded, and how files are
written.

Formats are opened by their own readers: `Image.open` compares every picture with a limit of the process, and warns.
Files are written fast rather than small, and without metadata. Pillow compresses by libraries of its own, so the bytes
depend on its build, and not on the interpreter's zlib.
"""

import contextlib
import hashlib
import io
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any, Literal

from PIL import (
    GifImagePlugin,
    Image,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    WebPImagePlugin,
)

from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging.drawing import opaque

try:
    from pillow_avif import AvifImagePlugin
except ImportError:  # no wheel for this platform: Pillow's own reader serves
    from PIL import AvifImagePlugin

SourceFormat = Literal["jpeg", "png", "gif", "webp", "avif"]

MAX_EDGE = 65_500
"""Pixels of the longer edge, in every format: as many as JPEG's decoder takes (D57)."""

MAX_AVIF_EDGE = 32_768
"""Pixels; the limit of AVIF's decoder (D57)."""
_AVIF_HEAD_BYTES = 1 << 16

MAX_REMEMBERED = 6
"""Pictures that are kept of each kind; each takes some 4 MB at most."""

_WEBP_SIZE_MASK = 0x3FFF

PngImagePlugin.MAX_TEXT_CHUNK = (
    1 << 24
)  # a colour profile or XMP of some MB is sound; all together have a limit too
AvifImagePlugin.DEFAULT_MAX_THREADS = (
    2  # one for each of the machine's cores would take address space of its own
)
Image.MAX_IMAGE_PIXELS = None  # what is opened here has limits of its own, and GIF's reader would warn nevertheless


FORMATS: Mapping[
    SourceFormat, tuple[re.Pattern[bytes], Callable[[io.BytesIO], ImageFile.ImageFile]]
] = {
    "jpeg": (re.compile(rb"\xff\xd8\xff"), JpegImagePlugin.JpegImageFile),
    "png": (re.compile(rb"\x89PNG\r\n\x1a\n"), PngImagePlugin.PngImageFile),
    "gif": (re.compile(rb"GIF8[79]a"), GifImagePlugin.GifImageFile),
    "webp": (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), WebPImagePlugin.WebPImageFile),
    "avif": (
        re.compile(rb".{4}ftyp.{0,56}avi[fs]", re.DOTALL),
        AvifImagePlugin.AvifImageFile,
    ),
}
"""How the files of each format begin, and what opens them."""

_OPTIONS: Mapping[PictureFormat, Mapping[str, Any]] = {
    "png": {
        "compress_level": 1,
        "compress_type": 3,
    },  # runs alone: faster, and smaller for what is drawn
    "jpeg": {"quality": 90},
    "webp": {"quality": 85, "alpha_quality": 90, "method": 0},
}


def sniff(data: bytes) -> SourceFormat | None:
    """The image format that the first bytes indicate, if it is one of the accepted five."""
    return next(
        (source for source, (signature, _) in FORMATS.items() if signature.match(data)),
        None,
    )


def open_as(data: bytes, source: SourceFormat) -> ImageFile.ImageFile:
    """The picture with its header read and its pixels still to decode. Decoders raise nearly any exception."""
    _, reader = FORMATS[source]
    return reader(io.BytesIO(data))


def size_of(data: bytes, source: SourceFormat) -> tuple[int, int]:
    """Width and height in pixels, from the header alone. Raises nearly any exception for a broken one."""
    if source == "webp":  # its reader takes the memory of the whole picture at once
        return _webp_size(data)
    if (
        source == "avif"
    ):  # its decoder does not say of which size a picture is that it refuses
        announced = re.finditer(rb"ispe\0{4}(.{8})", data[:_AVIF_HEAD_BYTES], re.DOTALL)
        sizes = [struct.unpack(">II", match[1]) for match in announced]
        if sizes and max(max(sizes)) > MAX_AVIF_EDGE:
            return max(sizes)
    with open_as(data, source) as opened:
        return opened.size


def _webp_size(data: bytes) -> tuple[int, int]:
    def number(start: int, size_bytes: int) -> int:
        return int.from_bytes(data[start : start + size_bytes], "little")

    kind = data[12:16]
    if kind == b"VP8X":
        return number(24, 3) + 1, number(27, 3) + 1
    if kind == b"VP8L":
        return (number(21, 4) & _WEBP_SIZE_MASK) + 1, (
            number(21, 4) >> 14 & _WEBP_SIZE_MASK
        ) + 1
    return number(26, 2) & _WEBP_SIZE_MASK, number(28, 2) & _WEBP_SIZE_MASK


def header_of(data: bytes) -> tuple[SourceFormat, int, int] | None:
    """The format, width and height in pixels that the header of a file announces; None if it cannot be read."""
    source = sniff(data)
    try:
        return (source, *size_of(data, source)) if source else None
    except Exception:  # decoders raise nearly anything on hostile bytes
        return None


def remembered(prepare: Callable[..., Image.Image]) -> Callable[..., Image.Image]:
    """Keep what was made of the last few pictures, by their digests: the slots of a Generation have the same inputs."""
    kept: dict[tuple[object, ...], Image.Image] = {}

    def prepared(data: bytes, *options: object) -> Image.Image:
        key = hashlib.blake2b(data).digest(), options
        kept[key] = result = kept.pop(key, None) or prepare(data, *options)
        if len(kept) > MAX_REMEMBERED:
            kept.pop(next(iter(kept)))
        return result

    return prepared


def load(data: bytes, enough: int | None = None) -> Image.Image:
    """A stored picture in RGB or RGBA.

    With `enough`, a picture whose longest edge is twice as many pixels or more is reduced, quickly, to no less.
    A state file may bring bytes that no decoder takes: then a grey pixel stands where the picture would.
    """
    header = header_of(data)
    with contextlib.suppress(Exception):  # likewise
        if header and max(header[1:]) <= MAX_EDGE:
            return _decoded(open_as(data, header[0]), enough)
    return Image.new("RGB", (1, 1), "#808080")


def _decoded(image: Image.Image, enough: int | None) -> Image.Image:
    if enough is not None:
        width, height = (
            max(enough * edge // max(image.size), 1) for edge in image.size
        )
        image.draft("RGB", (width, height))
        factor = max(image.size) // enough
        image = image.reduce(factor) if factor > 1 else image
    mode = "RGBA" if image.has_transparency_data else "RGB"
    image.load()
    return image if image.mode == mode else image.convert(mode)


def encode(image: Image.Image, target: PictureFormat) -> bytes:
    """The file of an image in L, RGB or RGBA. JPEG has no transparency: flattened on white."""
    if target == "jpeg" and image.mode == "RGBA":
        image = opaque(image)
    image.info = {}  # Pillow would write a part of the metadata that it read
    buffer = io.BytesIO()
    image.save(buffer, target, **_OPTIONS[target])
    return buffer.getvalue()
