"""Small pictures of every format that can be uploaded, made on the spot."""

import io
import struct
import zlib
from functools import cache
from random import Random
from typing import Any

import pillow_avif  # noqa: F401 (writes AVIF with every build of Pillow)
from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES

SIZE = (24, 16)


@cache
def picture(
    content_type: str = "image/png",
    size: tuple[int, int] = SIZE,
    colour: str = "#c04020",
    mode: str = "RGB",
) -> bytes:
    """Return a picture of one colour."""
    return encode(Image.new(mode, size, colour), content_type)


@cache
def noise(edge: int = 320) -> bytes:
    """Return a PNG that cannot be compressed."""
    pixels = Random(0).randbytes(3 * edge * edge)
    return encode(Image.frombytes("RGB", (edge, edge), pixels), "image/png")


@cache
def photo(
    content_type: str = "image/png",
    size: tuple[int, int] = (640, 480),
    subject: str = "#c8283c",
) -> bytes:
    """Return a picture as a photographer would upload it.

    A subject of some colour stands out from a ground.
    """
    image = Image.new("RGB", size, "#ecece8")
    width, height = size
    outline = (width // 4, height // 6, width * 3 // 4, height * 5 // 6)
    ImageDraw.Draw(image).ellipse(outline, fill=subject)
    return encode(image, content_type, quality=90)


def encode(
    image: Image.Image,
    content_type: str,
    **options: Any,
) -> bytes:
    """Return the file of an image."""
    buffer = io.BytesIO()
    image.save(buffer, CONTENT_TYPES[content_type].upper(), **options)
    return buffer.getvalue()


@cache
def slow_jpeg(edge: int) -> bytes:
    """Return a small file that takes long to decode.

    Its one scan comes as often as is allowed.
    """
    image = Image.new("L", (edge, edge), 90)
    source = encode(image, "image/jpeg", progressive=True)
    last = source.rindex(b"\xff\xda")
    repetitions = 100 - source.count(b"\xff\xda")
    return source[:last] + source[last:-2] * repetitions + source[-2:]


def decode(data: bytes) -> Image.Image:
    """Return the image in a file."""
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def png_chunk(kind: bytes, body: bytes) -> bytes:
    """Return a chunk of a PNG, with its length and checksum."""
    length = struct.pack(">I", len(body))
    checksum = struct.pack(">I", zlib.crc32(kind + body))
    return length + kind + body + checksum


def png_of(
    width: int,
    height: int,
    *chunks: bytes,
    depth: int = 8,
    color_type: int = 0,
) -> bytes:
    """Return a PNG that announces a picture of any size and has some chunks.

    It is grey unless `color_type`, as PNG counts them, says otherwise.
    """
    header = struct.pack(
        ">IIBBBBB",
        width,
        height,
        depth,
        color_type,
        0,
        0,
        0,
    )
    start = b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header)
    return start + b"".join(chunks) + png_chunk(b"IEND", b"")
