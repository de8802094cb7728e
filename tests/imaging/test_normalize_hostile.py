import struct
import time
import zlib
from itertools import permutations

import pytest
from PIL import Image, ImageCms, PngImagePlugin

from image_workflow_emulator.imaging.normalize import UnusableImage, normalize
from tests.imaging.pictures import checkered, encoded, four_corners
from tests.support.pictures import png_chunk, png_of

KINDS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF")


def refusal(data: bytes, content_type: str) -> str:
    with pytest.raises(UnusableImage) as caught:
        normalize(data, content_type)
    return str(caught.value)


@pytest.mark.parametrize(("kind", "declared"), list(permutations(KINDS, 2)))
def test_bytes_of_another_format_than_declared_are_refused(kind: str, declared: str) -> None:
    reason = refusal(encoded(four_corners(), kind), f"image/{declared.lower()}")
    assert f"The bytes are {kind}; expected {declared}, as declared by image/{declared.lower()}." == reason


@pytest.mark.parametrize("data", [b"", b"\xff", b"BM" + bytes(60), b"<svg/>", b"%PDF-1.7", bytes(5000)], ids=repr)
def test_bytes_that_are_no_accepted_image_are_refused(data: bytes) -> None:
    reason = refusal(data, "image/png")
    assert "The bytes are no image of a known format; expected PNG, as declared by image/png." == reason


@pytest.mark.parametrize("content_type", ["image/tiff", "text/plain", "", "IMAGE/PNG"])
def test_an_unknown_content_type_is_refused(content_type: str) -> None:
    reason = refusal(encoded(four_corners(), "PNG"), content_type)
    assert reason.startswith(f"The content type is {content_type}; expected")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_which_only_the_beginning_is_there_or_right_is_refused(kind: str) -> None:
    source = encoded(checkered(120, 7), kind)
    cut = [source[: max(16, int(len(source) * share))] for share in (0.02, 0.3, 0.6, 0.9)]
    for data in (source[:8], *cut, source[:16] + b"\xff" * (len(source) - 16)):
        assert refusal(data, f"image/{kind.lower()}").endswith(".")


def announcing(kind: str, place: int, numbers: bytes, mark: bytes = b"", **options: object) -> tuple[bytes, str]:
    """A file with other numbers at a place, counted from a mark in it or from its start, and its content type."""
    source = encoded(four_corners().quantize(8) if kind == "GIF" else four_corners(), kind, **options)
    start = source.index(mark) + place
    return source[:start] + numbers + source[start + len(numbers) :], f"image/{kind.lower()}"


def huge_headers() -> dict[str, tuple[int, tuple[bytes, str]]]:
    """Files that announce more pixels than are decoded and hold next to nothing, and how many megapixels may be."""
    exif, rows = Image.Exif(), png_chunk(b"IDAT", zlib.compress(bytes(100)))
    exif[0x0112] = 6
    return {
        "jpeg": (100, announcing("JPEG", 5, struct.pack(">HH", 20_000, 20_000), b"\xff\xc0")),
        "png": (100, (png_of(60_000, 60_000, rows), "image/png")),
        "gif": (100, announcing("GIF", 6, struct.pack("<HH", 65_000, 65_000))),
        "gif frame": (100, announcing("GIF", 1, struct.pack("<HH", 65_000, 65_000), b"\x2c")),
        "webp": (40, announcing("WEBP", 26, struct.pack("<HH", 16_383, 16_383))),
        "lossless webp": (40, announcing("WEBP", 21, struct.pack("<I", 16_382 | 16_382 << 14), lossless=True)),
        "extended webp": (40, announcing("WEBP", 24, (49_999).to_bytes(3, "little") * 2, exif=exif.tobytes())),
        "avif": (40, announcing("AVIF", 8, struct.pack(">II", 15_000, 15_000), b"ispe")),
    }


@pytest.mark.parametrize(("megapixels", "file"), huge_headers().values(), ids=huge_headers())
def test_too_many_pixels_are_refused_from_the_header(megapixels: int, file: tuple[bytes, str]) -> None:
    began = time.process_time()
    assert f"expected at most {megapixels} megapixels" in refusal(*file)
    assert time.process_time() - began < 5, "far more than a refusal takes, and far less than a bomb"


def test_the_limit_is_exact() -> None:
    rows = zlib.compress(bytes(1251 * 10_000))
    exact = png_of(10_000, 10_000, png_chunk(b"IDAT", rows), depth=1)
    assert 10_000 == normalize(exact, "image/png").width
    above = png_of(10_001, 10_000, png_chunk(b"IDAT", rows), depth=1)
    assert "The image has 10001 x 10000 pixels; expected at most 100 megapixels in PNG." == refusal(above, "image/png")


@pytest.mark.parametrize("size", [(65_501, 50), (50, 65_501)])
def test_an_edge_that_is_too_long_is_refused_in_every_format(size: tuple[int, int]) -> None:
    width, height = size
    files = [
        announcing("JPEG", 5, struct.pack(">HH", height, width), b"\xff\xc0"),
        (png_of(width, height), "image/png"),
        announcing("GIF", 6, struct.pack("<HH", width, height)),
        announcing("WEBP", 24, (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"), exif=b"none"),
    ]
    for file, content_type in files:
        expected = f"expected at most 65500 an edge in {content_type.removeprefix('image/').upper()}."
        assert f"The image has {width} x {height} pixels; {expected}" == refusal(file, content_type)


def test_an_avif_has_the_edge_that_its_decoder_takes() -> None:
    wide = announcing("AVIF", 8, struct.pack(">II", 32_769, 40), b"ispe")
    assert refusal(*wide) == "The image has 32769 x 40 pixels; expected at most 32768 an edge in AVIF."


@pytest.mark.parametrize("key", ["icc_profile", "pnginfo"])
def test_a_png_with_some_megabytes_of_metadata_is_read(key: str) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", "<x/>" * 1_000_000, zip=True)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes() + bytes(3 << 20)
    source = encoded(four_corners(), "PNG", **{key: {"icc_profile": profile, "pnginfo": text}[key]})
    assert 48 == normalize(source, "image/png").width


def test_repeated_scans_are_refused_where_they_take_long_and_read_where_they_do_not() -> None:
    source = encoded(checkered(64, 4), "JPEG", progressive=True)
    last = source.rindex(b"\xff\xda")
    many = source[:last] + source[last:-2] * 150 + source[-2:]
    assert 64 == normalize(many, "image/jpeg").width
    large = source.replace(struct.pack(">HH", 64, 64), struct.pack(">HH", 9_000, 9_000), 1)
    last = large.rindex(b"\xff\xda")
    with pytest.raises(UnusableImage, match=r"The image has 15\d scans"):
        normalize(large[:last] + large[last:-2] * 150 + large[-2:], "image/jpeg")


@pytest.mark.parametrize("before", [b"\xff\xdb", b"\xff\xd9"])
def test_a_jpeg_with_some_filling_is_read(before: bytes) -> None:
    source = encoded(four_corners(), "JPEG")
    place = source.rindex(before)
    assert 48 == normalize(source[:place] + b"\xff" * 10_000 + source[place:], "image/jpeg").width
