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
    return encode(Image.new(mode, size, colour), content_type)


@cache
def noise(edge: int = 320) -> bytes:
    size = (edge, edge)
    return encode(
        Image.frombytes("RGB", size, Random(0).randbytes(3 * edge * edge)), "image/png"
    )


@cache
def photo(
    content_type: str = "image/png",
    size: tuple[int, int] = (640, 480),
    subject: str = "#c8283c",
) -> bytes:
    """Return a picture as a photographer would upload it: a subject of some colour that stands out from a ground."""
    image = Image.new("RGB", size, "#ecece8")
    width, height = size
    ImageDraw.Draw(image).ellipse(
        (width // 4, height // 6, width * 3 // 4, height * 5 // 6), fill=subject
    )
    return encode(image, content_type, quality=90)


def encode(image: Image.Image, content_type: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, CONTENT_TYPES[content_type].upper(), **options)
    return buffer.getvalue()


@cache
def slow_jpeg(edge: int) -> bytes:
    """Return a small file that takes long to decode: its one scan comes as often as is allowed."""
    source = encode(Image.new("L", (edge, edge), 90), "image/jpeg", progressive=True)
    last = source.rindex(b"\xff\xda")
    return (
        source[:last]
        + source[last:-2] * (100 - source.count(b"\xff\xda"))
        + source[-2:]
    )


def decode(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return (
        struct.pack(">I", len(body))
        + kind
        + body
        + struct.pack(">I", zlib.crc32(kind + body))
    )


def png_of(width: int, height: int, *chunks: bytes, depth: int = 8) -> bytes:
    """Return a PNG that announces a grey picture of any size, and has some chunks."""
    header = png_chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    )
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + png_chunk(b"IEND", b"")
