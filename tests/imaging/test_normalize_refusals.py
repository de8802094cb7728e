"""Which uploads are refused, and in which words (D17, D57)."""

import struct
import time
import zlib
from collections.abc import Callable
from itertools import permutations

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

    reason = refusal(encoded(four_corners(), kind), content_type)

    assert reason == (
        f"The bytes are {kind}; expected {declared}, as declared by {content_type}."
    )


@pytest.mark.parametrize(
    "file",
    [b"", b"\xff", b"BM" + bytes(60), b"<svg/>", b"%PDF-1.7", bytes(5000)],
    ids=repr,
)
def test_bytes_that_are_no_accepted_image_are_refused(file: bytes) -> None:
    assert refusal(file, "image/png") == (
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
    file = head + encoded(four_corners(), "PNG") + b"\r\n--a-boundary--\r\n"

    reason = refusal(file, "image/png")

    assert reason.startswith("The bytes are a multipart form; expected PNG")


# Damage -------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_off_is_refused(kind: str, share: float) -> None:
    source = encoded(checkered(120, 7), kind)
    length = max(16, int(len(source) * share))

    reason = refusal(source[:length], content_type_of(kind))

    assert reason.startswith(f"The bytes do not decode as {kind}; the file is damaged")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_whose_beginning_alone_is_right_is_refused(kind: str) -> None:
    source = encoded(checkered(120, 7), kind)
    file = source[:40] + b"\xff" * (len(source) - 40)

    reason = refusal(file, content_type_of(kind))

    assert reason.startswith(f"The bytes do not decode as {kind}; the file is damaged")


def test_the_reason_of_the_decoder_is_told() -> None:
    source = encoded(four_corners(), "PNG")
    place = source.index(b"IDAT")

    reason = refusal(source[:place] + b"ID\0T" + source[place + 4 :], "image/png")

    assert reason == (
        "The bytes do not decode as PNG; the file is damaged or cut off "
        "(broken PNG file (chunk b'ID\\x00T'))."
    )


def test_a_damaged_colour_key_is_named() -> None:
    key = png_chunk(b"tRNS", b"\0\0")[:-1] + b"\0"
    rows = png_chunk(b"IDAT", zlib.compress(bytes(20)))

    reason = refusal(png_of(4, 4, key, rows), "image/png")

    assert "tRNS" in reason


def test_a_png_of_far_too_many_chunks_is_refused() -> None:
    file = png_of(4, 4, png_chunk(b"abCd", b"") * 50_001)

    reason = refusal(file, "image/png")

    assert reason.endswith("(more than 50000 chunks).")


# Size ---------------------------------------------------------------------------------


def with_numbers(
    kind: str,
    mark: bytes,
    place: int,
    numbers: bytes,
    **options: object,
) -> bytes:
    """A file with other numbers at a place that is counted from a mark in it."""
    image = four_corners()
    if kind == "GIF":
        image = image.quantize(8)
    source = encoded(image, kind, **options)
    start = source.index(mark) + place
    return source[:start] + numbers + source[start + len(numbers) :]


def jpeg_announcing(width: int, height: int) -> bytes:
    return with_numbers("JPEG", b"\xff\xc0", 5, struct.pack(">HH", height, width))


def png_announcing(width: int, height: int) -> bytes:
    return png_of(width, height, png_chunk(b"IDAT", zlib.compress(bytes(100))))


def gif_announcing(width: int, height: int) -> bytes:
    return with_numbers("GIF", b"GIF", 6, struct.pack("<HH", width, height))


def gif_with_frame(width: int, height: int) -> bytes:
    return with_numbers("GIF", b"\x2c\0\0\0\0", 5, struct.pack("<HH", width, height))


def webp_announcing(width: int, height: int) -> bytes:
    return with_numbers("WEBP", b"RIFF", 26, struct.pack("<HH", width, height))


def lossless_webp_announcing(width: int, height: int) -> bytes:
    size = struct.pack("<I", width - 1 | height - 1 << 14)
    return with_numbers("WEBP", b"RIFF", 21, size, lossless=True)


def extended_webp_announcing(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return with_numbers("WEBP", b"RIFF", 24, size, exif=b"none")


def avif_announcing(width: int, height: int) -> bytes:
    return with_numbers("AVIF", b"ispe", 8, struct.pack(">II", width, height))


TOO_MANY_PIXELS = [
    # The form of the file, its format, the edge of a square, the megapixels allowed.
    (jpeg_announcing, "JPEG", 20_000, 100),
    (png_announcing, "PNG", 60_000, 100),
    (gif_announcing, "GIF", 65_000, 100),
    (gif_with_frame, "GIF", 65_000, 100),
    (webp_announcing, "WEBP", 16_383, 40),
    (lossless_webp_announcing, "WEBP", 16_383, 40),
    (extended_webp_announcing, "WEBP", 50_000, 40),
    (avif_announcing, "AVIF", 15_000, 40),
    (avif_announcing, "AVIF", 17_000, 40),  # more than the decoder takes
]


@pytest.mark.parametrize(("make", "kind", "edge", "megapixels"), TOO_MANY_PIXELS)
def test_too_many_pixels_are_refused_from_the_header(
    make: Callable[[int, int], bytes],
    kind: str,
    edge: int,
    megapixels: int,
) -> None:
    file = make(edge, edge)
    began = time.process_time()

    reason = refusal(file, content_type_of(kind))

    assert reason == (
        f"The image has {edge} x {edge} pixels; "
        f"expected at most {megapixels} megapixels in {kind}."
    )
    assert time.process_time() - began < 5, "a refusal takes far less, a bomb far more"


TOO_LONG = [
    (jpeg_announcing, "JPEG", 65_500),
    (png_announcing, "PNG", 65_500),
    (gif_announcing, "GIF", 65_500),
    (extended_webp_announcing, "WEBP", 65_500),
    (avif_announcing, "AVIF", 32_768),
]


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize(("make", "kind", "longest"), TOO_LONG)
def test_an_edge_that_is_too_long_is_refused(
    make: Callable[[int, int], bytes],
    kind: str,
    longest: int,
    is_wide: bool,
) -> None:
    width = 50
    height = longest + 1
    if is_wide:
        width, height = height, width

    reason = refusal(make(width, height), content_type_of(kind))

    assert reason == (
        f"The image has {width} x {height} pixels; "
        f"expected at most {longest} an edge in {kind}."
    )


def test_a_hundred_megapixels_are_accepted() -> None:
    rows = png_chunk(b"IDAT", zlib.compress(bytes(1251 * 10_000)))

    normal = normalize(png_of(10_000, 10_000, rows, depth=1), "image/png")

    assert normal.width == 10_000


def test_a_row_more_than_a_hundred_megapixels_is_refused() -> None:
    assert refusal(png_of(10_001, 10_000, depth=1), "image/png") == (
        "The image has 10001 x 10000 pixels; expected at most 100 megapixels in PNG."
    )


# JPEG ---------------------------------------------------------------------------------


def with_scans(source: bytes, repetitions: int) -> bytes:
    last = source.rindex(b"\xff\xda")
    return source[:last] + source[last:-2] * repetitions + source[-2:]


def test_a_small_jpeg_may_have_many_scans() -> None:
    source = encoded(checkered(64, 4), "JPEG", progressive=True)

    assert normalize(with_scans(source, 150), "image/jpeg").width == 64


def test_a_large_jpeg_with_many_scans_is_refused() -> None:
    source = encoded(checkered(64, 4), "JPEG", progressive=True)
    small = struct.pack(">HH", 64, 64)
    large = source.replace(small, struct.pack(">HH", 9_000, 9_000), 1)

    reason = refusal(with_scans(large, 150), "image/jpeg")

    assert reason.startswith("The image has 15")
    assert reason.endswith(" scans; expected about ten, as encoders make.")


@pytest.mark.parametrize("before", [b"\xff\xdb", b"\xff\xd9"])
def test_a_jpeg_with_some_filling_is_read(before: bytes) -> None:
    source = encoded(four_corners(), "JPEG")
    place = source.rindex(before)
    file = source[:place] + b"\xff" * 10_000 + source[place:]

    assert normalize(file, "image/jpeg").width == 48


def test_a_picture_of_one_pixel_is_accepted() -> None:
    assert normalize(encoded(Image.new("RGB", (1, 1)), "PNG"), "image/png").width == 1
