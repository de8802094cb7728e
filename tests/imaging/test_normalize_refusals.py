"""Which uploads are refused, and in which words (D17, D57)."""

import struct
import time
import zlib
from collections.abc import Callable
from itertools import permutations
from typing import NamedTuple

import pytest
from PIL import Image

from image_workflow_emulator.imaging.normalize import UnusableImage, normalize
from tests.imaging.pictures import checkered, encoded, four_corners
from tests.support.pictures import png_chunk, png_of

KINDS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF")


def refusal(file: bytes, content_type: str) -> str:
    with pytest.raises(UnusableImage) as caught:
        normalize(file, content_type)
    return str(caught.value)


def content_type_of(kind: str) -> str:
    return f"image/{kind.lower()}"


# What the bytes are -------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "declared"), list(permutations(KINDS, 2)))
def test_bytes_of_another_format_than_declared_are_refused(
    kind: str,
    declared: str,
) -> None:
    content_type = content_type_of(declared)
    file = encoded(four_corners(), kind)

    reason = refusal(file, content_type)

    expected = f"expected {declared}, as declared by {content_type}."
    assert reason == f"The bytes are {kind}; {expected}"


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(b"", id="no bytes"),
        pytest.param(b"\xff", id="one byte"),
        pytest.param(b"BM" + bytes(60), id="BMP"),
        pytest.param(b"<svg/>", id="SVG"),
        pytest.param(b"%PDF-1.7", id="PDF"),
        pytest.param(bytes(5000), id="zeros"),
    ],
)
def test_bytes_that_are_no_accepted_image_are_refused(file: bytes) -> None:
    reason = refusal(file, "image/png")

    assert reason == (
        "The bytes are no image of a known format; "
        "expected PNG, as declared by image/png."
    )


def test_a_content_type_that_is_not_accepted_is_named() -> None:
    reason = refusal(b"", "image/tiff")

    assert reason.startswith(
        "The content type is image/tiff; expected one of image/jpeg"
    )


@pytest.mark.parametrize("brand", [b"heic", b"heix", b"hevc"])
def test_a_photo_in_heic_is_named(brand: bytes) -> None:
    file = b"\0\0\0\x18ftyp" + brand + b"\0\0\0\0mif1heic" + bytes(100)

    reason = refusal(file, "image/jpeg")

    assert reason.startswith("The bytes are HEIC; expected JPEG")


def test_a_form_around_the_file_is_named() -> None:
    head = b'--a-boundary\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
    picture = encoded(four_corners(), "PNG")
    tail = b"\r\n--a-boundary--\r\n"
    file = head + picture + tail

    reason = refusal(file, "image/png")

    assert reason.startswith("The bytes are a multipart form; expected PNG")


# Damage -------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_off_is_refused(kind: str, share: float) -> None:
    source = encoded(checkered(120, 7), kind)
    length = int(len(source) * share)
    length = max(16, length)
    beginning = source[:length]

    reason = refusal(beginning, content_type_of(kind))

    assert reason.startswith(f"The bytes do not decode as {kind}; the file is damaged")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_whose_beginning_alone_is_right_is_refused(kind: str) -> None:
    source = encoded(checkered(120, 7), kind)
    beginning = source[:40]
    filling = b"\xff" * (len(source) - 40)
    file = beginning + filling

    reason = refusal(file, content_type_of(kind))

    assert reason.startswith(f"The bytes do not decode as {kind}; the file is damaged")


def test_the_reason_of_the_decoder_is_told() -> None:
    source = encoded(four_corners(), "PNG")
    file = source.replace(b"IDAT", b"ID\0T", 1)

    reason = refusal(file, "image/png")

    assert reason == (
        "The bytes do not decode as PNG; the file is damaged or cut off "
        "(broken PNG file (chunk b'ID\\x00T'))."
    )


def test_a_damaged_colour_key_is_named() -> None:
    key = png_chunk(b"tRNS", b"\0\0")
    damaged_key = key[:-1] + b"\0"
    rows = png_chunk(b"IDAT", zlib.compress(bytes(20)))
    file = png_of(4, 4, damaged_key, rows)

    reason = refusal(file, "image/png")

    assert "tRNS" in reason


def test_a_png_of_far_too_many_chunks_is_refused() -> None:
    chunk = png_chunk(b"abCd", b"")
    file = png_of(4, 4, chunk * 50_001)

    reason = refusal(file, "image/png")

    assert reason.endswith("(more than 50000 chunks).")


# Size ---------------------------------------------------------------------------------


def with_numbers(
    kind: str,
    mark: bytes,
    offset: int,
    numbers: bytes,
    **options: object,
) -> bytes:
    """A file with other numbers, `offset` bytes after the beginning of a mark in it."""
    image = four_corners()
    if kind == "GIF":
        image = image.quantize(8)
    source = encoded(image, kind, **options)
    start = source.index(mark) + offset
    end = start + len(numbers)
    before = source[:start]
    after = source[end:]
    return before + numbers + after


def jpeg_announcing(width: int, height: int) -> bytes:
    size = struct.pack(">HH", height, width)
    return with_numbers(
        kind="JPEG",
        mark=b"\xff\xc0",
        offset=5,
        numbers=size,
    )


def png_announcing(width: int, height: int) -> bytes:
    rows = png_chunk(b"IDAT", zlib.compress(bytes(100)))
    return png_of(width, height, rows)


def gif_announcing(width: int, height: int) -> bytes:
    size = struct.pack("<HH", width, height)
    return with_numbers(
        kind="GIF",
        mark=b"GIF",
        offset=6,
        numbers=size,
    )


def gif_with_frame(width: int, height: int) -> bytes:
    size = struct.pack("<HH", width, height)
    return with_numbers(
        kind="GIF",
        mark=b"\x2c\0\0\0\0",
        offset=5,
        numbers=size,
    )


def webp_announcing(width: int, height: int) -> bytes:
    size = struct.pack("<HH", width, height)
    return with_numbers(
        kind="WEBP",
        mark=b"RIFF",
        offset=26,
        numbers=size,
    )


def lossless_webp_announcing(width: int, height: int) -> bytes:
    packed = (width - 1) | ((height - 1) << 14)
    size = struct.pack("<I", packed)
    return with_numbers(
        kind="WEBP",
        mark=b"RIFF",
        offset=21,
        numbers=size,
        lossless=True,
    )


def extended_webp_announcing(width: int, height: int) -> bytes:
    last_column = (width - 1).to_bytes(3, "little")
    last_row = (height - 1).to_bytes(3, "little")
    return with_numbers(
        kind="WEBP",
        mark=b"RIFF",
        offset=24,
        numbers=last_column + last_row,
        exif=b"none",
    )


def avif_announcing(width: int, height: int) -> bytes:
    size = struct.pack(">II", width, height)
    return with_numbers(
        kind="AVIF",
        mark=b"ispe",
        offset=8,
        numbers=size,
    )


FileOfSize = Callable[[int, int], bytes]
"""Returns a file whose header has a width and a height."""


class Huge(NamedTuple):
    """A square picture with more pixels than its format may have."""

    make: FileOfSize
    kind: str
    edge: int
    megapixels_allowed: int


@pytest.mark.parametrize(
    "huge",
    [
        pytest.param(
            Huge(
                make=jpeg_announcing,
                kind="JPEG",
                edge=20_000,
                megapixels_allowed=100,
            ),
            id="JPEG",
        ),
        pytest.param(
            Huge(
                make=png_announcing,
                kind="PNG",
                edge=60_000,
                megapixels_allowed=100,
            ),
            id="PNG",
        ),
        pytest.param(
            Huge(
                make=gif_announcing,
                kind="GIF",
                edge=65_000,
                megapixels_allowed=100,
            ),
            id="GIF",
        ),
        pytest.param(
            Huge(
                make=gif_with_frame,
                kind="GIF",
                edge=65_000,
                megapixels_allowed=100,
            ),
            id="frame of a GIF",
        ),
        pytest.param(
            Huge(
                make=webp_announcing,
                kind="WEBP",
                edge=16_383,
                megapixels_allowed=40,
            ),
            id="lossy WEBP",
        ),
        pytest.param(
            Huge(
                make=lossless_webp_announcing,
                kind="WEBP",
                edge=16_383,
                megapixels_allowed=40,
            ),
            id="lossless WEBP",
        ),
        pytest.param(
            Huge(
                make=extended_webp_announcing,
                kind="WEBP",
                edge=50_000,
                megapixels_allowed=40,
            ),
            id="extended WEBP",
        ),
        pytest.param(
            Huge(
                make=avif_announcing,
                kind="AVIF",
                edge=15_000,
                megapixels_allowed=40,
            ),
            id="AVIF",
        ),
        pytest.param(
            Huge(
                make=avif_announcing,
                kind="AVIF",
                edge=17_000,
                megapixels_allowed=40,
            ),
            id="AVIF that its decoder does not take",
        ),
    ],
)
def test_too_many_pixels_are_refused_from_the_header(huge: Huge) -> None:
    file = huge.make(huge.edge, huge.edge)
    content_type = content_type_of(huge.kind)
    began = time.process_time()

    reason = refusal(file, content_type)

    seconds = time.process_time() - began
    assert reason == (
        f"The image has {huge.edge} x {huge.edge} pixels; "
        f"expected at most {huge.megapixels_allowed} megapixels in {huge.kind}."
    )
    assert seconds < 5, "a refusal takes far less, a bomb far more"


@pytest.mark.parametrize("is_wide", [False, True], ids=["high", "wide"])
@pytest.mark.parametrize(
    ("make", "kind", "longest"),
    [
        pytest.param(jpeg_announcing, "JPEG", 65_500, id="JPEG"),
        pytest.param(png_announcing, "PNG", 65_500, id="PNG"),
        pytest.param(gif_announcing, "GIF", 65_500, id="GIF"),
        pytest.param(extended_webp_announcing, "WEBP", 65_500, id="WEBP"),
        pytest.param(avif_announcing, "AVIF", 32_768, id="AVIF"),
    ],
)
def test_an_edge_that_is_too_long_is_refused(
    make: FileOfSize,
    kind: str,
    longest: int,
    is_wide: bool,
) -> None:
    width = 50
    height = longest + 1
    if is_wide:
        width, height = height, width
    file = make(width, height)

    reason = refusal(file, content_type_of(kind))

    assert reason == (
        f"The image has {width} x {height} pixels; "
        f"expected at most {longest} an edge in {kind}."
    )


def test_a_hundred_megapixels_are_accepted() -> None:
    rows = png_chunk(b"IDAT", zlib.compress(bytes(1251 * 10_000)))
    file = png_of(10_000, 10_000, rows, depth=1)

    normal = normalize(file, "image/png")

    assert normal.width == 10_000


def test_a_row_more_than_a_hundred_megapixels_is_refused() -> None:
    file = png_of(10_001, 10_000, depth=1)

    reason = refusal(file, "image/png")

    assert reason == (
        "The image has 10001 x 10000 pixels; expected at most 100 megapixels in PNG."
    )


# JPEG ---------------------------------------------------------------------------------


def with_scans(source: bytes, repetitions: int) -> bytes:
    """A JPEG with its last scan repeated."""
    start = source.rindex(b"\xff\xda")
    before = source[:start]
    scan = source[start:-2]
    end_mark = source[-2:]
    return before + scan * repetitions + end_mark


def test_a_small_jpeg_may_have_many_scans() -> None:
    source = encoded(checkered(64, 4), "JPEG", progressive=True)
    file = with_scans(source, 150)

    normal = normalize(file, "image/jpeg")

    assert normal.width == 64


def test_a_large_jpeg_with_many_scans_is_refused() -> None:
    source = encoded(checkered(64, 4), "JPEG", progressive=True)
    small_size = struct.pack(">HH", 64, 64)
    large_size = struct.pack(">HH", 9_000, 9_000)
    large = source.replace(small_size, large_size, 1)
    file = with_scans(large, 150)

    reason = refusal(file, "image/jpeg")

    assert reason.startswith("The image has 15")
    assert reason.endswith(" scans; expected about ten, as encoders make.")


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(b"\xff\xdb", id="before a quantization table"),
        pytest.param(b"\xff\xd9", id="before the end"),
    ],
)
def test_a_jpeg_with_some_filling_is_read(before: bytes) -> None:
    source = encoded(four_corners(), "JPEG")
    place = source.rindex(before)
    filling = b"\xff" * 10_000
    before_place = source[:place]
    after_place = source[place:]
    file = before_place + filling + after_place

    normal = normalize(file, "image/jpeg")

    assert normal.width == 48


def test_a_picture_of_one_pixel_is_accepted() -> None:
    image = Image.new("RGB", (1, 1))
    file = encoded(image, "PNG")

    normal = normalize(file, "image/png")

    assert normal.width == 1
