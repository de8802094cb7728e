import contextlib
import struct
import time
import zlib
from collections.abc import Iterator
from itertools import permutations

import pytest
from PIL import Image

from emulator.imaging.normalize import HeavyImageError, UnusableImage, normalize
from tests.imaging.pictures import checkered, encoded, four_corners
from tests.support.pictures import decode, png_chunk, png_of

KINDS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF")


@contextlib.contextmanager
def within(seconds: float = 5.0) -> Iterator[None]:
    """Processor time that the block may take: by itself far more than a refusal takes, and far less than a bomb would."""
    began = time.process_time()
    yield
    assert time.process_time() - began < seconds


def refusal(data: bytes, content_type: str) -> str:
    with pytest.raises(UnusableImage) as caught:
        normalize(data, content_type)
    return caught.value.reason


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
    cut = [source[: max(16, int(len(source) * share))] for share in (0.02, 0.3, 0.6, 0.9, 0.99)]
    for data in (source[:8], *cut, source[:16] + b"\xff" * (len(source) - 16)):
        assert refusal(data, f"image/{kind.lower()}").endswith(".")


def test_a_png_without_its_last_bytes_is_refused() -> None:
    assert "it ends within a chunk" in refusal(encoded(four_corners(), "PNG")[:-2], "image/png")


@pytest.mark.parametrize("filler", [b"", b"picture" * 200_000], ids=["at once", "much later"])
def test_a_jpeg_that_ends_within_its_picture_or_after_a_segment_is_refused(filler: bytes) -> None:
    source = encoded(four_corners(), "JPEG")
    for data in (source[:-2] + filler, source[: source.index(b"\xff\xdb")]):
        assert "it ends before its end marker" in refusal(data, "image/jpeg")


def test_a_long_scan_is_read_to_its_end() -> None:
    source = encoded(Image.effect_noise((1500, 1500), 200), "JPEG", quality=100)
    assert len(source) > 2 << 20
    assert 1500 == normalize(source, "image/jpeg").width


@pytest.mark.parametrize(
    ("filling", "before"),
    [(b"\xff", b"\xff\xdb"), (b"\xff", b"\xff\xd9"), (b"\xff\x00", b"\xff\xd9"), (b"\xff\xd0", b"\xff\xd9")],
)
def test_filling_of_any_length_is_read_in_linear_time(filling: bytes, before: bytes) -> None:
    source = encoded(four_corners(), "JPEG")
    place = source.rindex(before)
    with within(10):
        filled = normalize(source[:place] + filling * (40_000_000 // len(filling)) + source[place:], "image/jpeg")
    assert decode(source).tobytes() == decode(filled.data).tobytes()


def test_a_broken_profile_is_ignored() -> None:
    source = png_of(4, 4, png_chunk(b"iCCP", b"name\0\0no zlib"), png_chunk(b"IDAT", zlib.compress(bytes(20))))
    assert 4 == normalize(source, "image/png").width


def test_a_wrong_check_sum_of_metadata_is_ignored() -> None:
    source = bytearray(encoded(four_corners(), "PNG", dpi=(72, 72)))
    source[source.index(b"pHYs") + 5] ^= 1
    assert 48 == normalize(bytes(source), "image/png").width


def test_a_wrong_check_sum_is_refused() -> None:
    source = bytearray(encoded(four_corners(), "PNG"))
    source[-20] ^= 1
    assert "check sum" in refusal(bytes(source), "image/png")


def files_whose_parts_make_no_sense() -> dict[str, tuple[bytes, str]]:
    """By the reason that is told: a file, and its content type."""
    png, gif = encoded(four_corners(), "PNG"), encoded(four_corners().quantize(8), "GIF")
    after_colours = 13 + (3 << (gif[10] & 7) + 1)
    frame = gif.index(b",", after_colours)
    webp = b"RIFF" + struct.pack("<I", 16) + b"WEBP%b1234"
    return {
        "it does not begin with its header": (png[:12] + b"IDAT" + png[16:], "image/png"),
        "it has no picture": (gif[:after_colours] + b";", "image/gif"),
        "its first frame lies outside of its canvas": (gif[: frame + 1] + b"\xff\xff" + gif[frame + 3 :], "image/gif"),
        "it ends within a chunk": (webp % (b"VP8 " + struct.pack("<I", 100)), "image/webp"),
        "WEBP: it has no picture": (webp % (b"NONE" + struct.pack("<I", 4)), "image/webp"),
    }


@pytest.mark.parametrize("reason", files_whose_parts_make_no_sense())
def test_a_file_whose_parts_make_no_sense_is_refused(reason: str) -> None:
    assert f"{reason}." in refusal(*files_whose_parts_make_no_sense()[reason])


def test_a_marker_that_stands_alone_is_skipped() -> None:
    source = encoded(four_corners(), "JPEG")
    assert 48 == normalize(source[:2] + b"\xff\x01" + source[2:], "image/jpeg").width


# ---------------------------------------------------------------------------------------------------------------- bombs


def announcing(kind: str, place: int, numbers: bytes, mark: bytes = b"", **options: object) -> tuple[bytes, str]:
    """A file with other numbers at a place, counted from a mark in it or from its start, and its content type."""
    source = encoded(four_corners().quantize(8) if kind == "GIF" else four_corners(), kind, **options)
    start = source.index(mark) + place
    return source[:start] + numbers + source[start + len(numbers) :], f"image/{kind.lower()}"


def huge_headers() -> dict[str, tuple[bytes, str]]:
    """Files that announce more than 100 megapixels and hold next to nothing."""
    exif, rows = Image.Exif(), png_chunk(b"IDAT", zlib.compress(bytes(100)))
    exif[0x0112] = 6
    return {
        "jpeg": announcing("JPEG", 5, struct.pack(">HH", 20_000, 20_000), b"\xff\xc0"),
        "png": (png_of(100_000, 100_000, rows), "image/png"),
        "endless png": (png_of(2**31 - 1, 2**31 - 1, rows), "image/png"),
        "gif": announcing("GIF", 6, struct.pack("<HH", 65_000, 65_000)),
        "gif frame": announcing("GIF", 1, struct.pack("<HH", 65_000, 65_000), b"\x2c"),
        "webp": announcing("WEBP", 26, struct.pack("<HH", 16_383, 16_383)),
        "lossless webp": announcing("WEBP", 21, struct.pack("<I", 16_382 | 16_382 << 14), lossless=True),
        "extended webp": announcing("WEBP", 24, b"\xff\xff\xff\x00\x10\x00", exif=exif.tobytes()),
        "avif": announcing("AVIF", 8, struct.pack(">II", 15_000, 15_000), b"ispe"),
    }


@pytest.mark.parametrize("name", huge_headers())
def test_too_many_pixels_are_refused_from_the_header(name: str) -> None:
    with within():
        assert refusal(*huge_headers()[name]).endswith("expected at most 100 megapixels.")


def test_the_limit_is_exact() -> None:
    rows = zlib.compress(bytes(1251 * 10_000))
    exact = png_of(10_000, 10_000, png_chunk(b"IDAT", rows), depth=1)
    assert 10_000 == normalize(exact, "image/png").width
    above = png_of(10_001, 10_000, png_chunk(b"IDAT", rows), depth=1)
    assert "The image has 10001 x 10000 pixels; expected at most 100 megapixels." == refusal(above, "image/png")


def test_an_edge_that_the_decoder_cannot_take_is_told_in_pixels() -> None:
    jpeg = announcing("JPEG", 5, struct.pack(">HH", 16, 65_501), b"\xff\xc0")
    avif = announcing("AVIF", 8, struct.pack(">II", 32_769, 16), b"ispe")
    assert [refusal(*jpeg), refusal(*avif)] == [
        "The image has 65501 x 16 pixels; expected at most 65500 an edge of JPEG.",
        "The image has 32769 x 16 pixels; expected at most 32768 an edge of AVIF.",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_too_large_to_be_decoded_here_is_told_from_the_header(kind: str) -> None:
    source, content_type = encoded(four_corners(100, 100), kind), f"image/{kind.lower()}"
    with pytest.raises(HeavyImageError):
        normalize(source, content_type, 9_999)
    assert 100 == normalize(source, content_type, 10_000).width


@pytest.mark.parametrize("size", [(0, 10), (10, 0)])
def test_no_pixels_are_refused(size: tuple[int, int]) -> None:
    empty = png_of(*size, png_chunk(b"IDAT", zlib.compress(b"")))
    assert refusal(empty, "image/png").endswith("expected at least one.")


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt", b"iCCP"])
def test_compressed_metadata_does_no_harm(kind: bytes) -> None:
    bomb = zlib.compress(bytes(100_000_000), 9)
    start = b"name\0\1\0\0\0" if kind == b"iTXt" else b"name\0\0"
    rows = png_chunk(b"IDAT", zlib.compress(bytes(20)))
    with within():
        assert 4 == normalize(png_of(4, 4, png_chunk(kind, start + bomb), rows), "image/png").width


def test_picture_data_beyond_the_picture_is_not_inflated() -> None:
    bomb = png_chunk(b"IDAT", zlib.compress(bytes(50_000_000), 9))
    with within(), contextlib.suppress(UnusableImage):  # keeping it and refusing it are both right
        normalize(png_of(4, 4, bomb), "image/png")


def test_a_picture_of_endless_scans_is_refused() -> None:
    source = encoded(checkered(64, 4), "JPEG", progressive=True)
    last = source.rindex(b"\xff\xda")
    assert "scans" in refusal(source[:last] + source[last:-2] * 150 + source[-2:], "image/jpeg")


@pytest.mark.parametrize(
    ("kind", "position", "part"),
    [
        ("JPEG", 2, b"\xff\xfe\x00\x02"), ("PNG", 33, png_chunk(b"abCd", b"")), ("GIF", None, b"\x21\xfe\x00"),
        ("WEBP", 12, b"abcd\0\0\0\0"),
    ],
)  # fmt: skip
def test_endless_parts_are_refused(kind: str, position: int | None, part: bytes) -> None:
    source = encoded(four_corners().quantize(8) if kind == "GIF" else four_corners(), kind)
    place = position if position is not None else 13 + (3 << (source[10] & 7) + 1)
    data = source[:place] + part * 30_000 + source[place:]
    if kind == "WEBP":
        data = data[:4] + struct.pack("<I", len(data) - 8) + data[8:]
    assert "has more than" in refusal(data, f"image/{kind.lower()}")


def test_a_comment_as_long_as_an_upload_does_no_harm() -> None:
    source = encoded(four_corners().quantize(8), "GIF")
    place = 13 + (3 << (source[10] & 7) + 1)
    comment = b"\x21\xfe" + (b"\xff" + bytes(255)) * 20_000 + b"\0"
    with within():
        assert 48 == normalize(source[:place] + comment + source[place:], "image/gif").width
