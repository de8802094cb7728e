"""What becomes of the colours and the transparency of an upload (D18)."""

import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image, ImageCms

from image_workflow_emulator.imaging.normalize import normalize
from tests.imaging.pictures import (
    RED,
    corner_colors,
    encoded,
    four_corners,
    is_near,
    pixel,
)
from tests.support.pictures import decode, png_chunk, png_of

GREY = 0
COLOR = 2
GREY_ALPHA = 4
"""The colour types of PNG."""


def normalized_png(file: bytes) -> Image.Image:
    return decode(normalize(file, "image/png").data)


def alphas_of(image: Image.Image) -> list[int]:
    return list(image.getchannel("A").tobytes())


def rows(*lines: bytes) -> bytes:
    """The data of a PNG with these lines, each without a filter."""
    return png_chunk(b"IDAT", zlib.compress(b"".join(b"\0" + line for line in lines)))


def icc_chunk(profile: bytes) -> bytes:
    return png_chunk(b"iCCP", b"a profile\0\0" + zlib.compress(profile))


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def swapped_profile() -> bytes:
    """A profile that calls itself sRGB, with the places of red and green exchanged."""
    profile = bytearray(srgb_profile())
    red = profile.index(b"rXYZ", 128)
    green = profile.index(b"gXYZ", 128)
    profile[red : red + 4] = b"gXYZ"
    profile[green : green + 4] = b"rXYZ"
    return bytes(profile)


def linear_grey_profile() -> bytes:
    """A profile of grey whose levels are proportional to the light."""
    profile = bytearray(srgb_profile())
    profile[16:20] = b"GRAY"
    curve = profile.index(b"rTRC", 128)
    profile[curve : curve + 4] = b"kTRC"
    place = int.from_bytes(profile[curve + 4 : curve + 8], "big")
    profile[place : place + 12] = b"curv" + bytes(8)  # no numbers: a straight line
    return bytes(profile)


LINEAR_HALF = 188
"""The level in sRGB of half of the light."""


# Transparency -------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [None, b"no profile"])
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_transparency_is_kept_also_where_the_profile_is_broken(
    kind: str,
    profile: bytes | None,
) -> None:
    image = four_corners(mode="RGBA")
    image.paste((0, 0, 0, 0), (0, 0, 12, 32))
    image.paste((0, 0, 0, 90), (12, 0, 24, 32))
    file = encoded(image, kind, icc_profile=profile)

    stored = decode(normalize(file, f"image/{kind.lower()}").data)

    assert pixel(stored, 3, 3)[3] == 0
    assert pixel(stored, 15, 3)[3] == 90
    assert pixel(stored, 40, 3)[3] == 255


def test_a_transparent_gif_keeps_its_transparency() -> None:
    image = Image.new("P", (20, 20), 1)
    image.putpalette([0, 0, 0, *RED])
    image.paste(0, (0, 0, 10, 20))

    stored = decode(normalize(encoded(image, "GIF", transparency=0), "image/gif").data)

    assert pixel(stored, 2, 2)[3] == 0
    assert pixel(stored, 15, 15)[:3] == RED
    assert pixel(stored, 15, 15)[3] == 255


KEYED = [
    # Bits, colour type, the key, a line of four pixels and their alphas.
    (1, GREY, ">H", (1,), b"\x50", [255, 0, 255, 0]),
    (2, GREY, ">H", (2,), b"\x1b", [255, 255, 0, 255]),
    (4, GREY, ">H", (9,), b"\x09\xf9", [255, 0, 255, 0]),
    (8, GREY, ">H", (200,), b"\x00\xc8\xc9\xff", [255, 0, 255, 255]),
    (
        16,
        GREY,
        ">H",
        (0x1234,),
        b"\x12\x34\x12\x35\x34\x12\x00\x00",
        [0, 255, 255, 255],
    ),
    (
        8,
        COLOR,
        ">3H",
        (1, 2, 3),
        bytes((1, 2, 3, 1, 2, 4, 3, 2, 1, 0, 0, 0)),
        [0, 255, 255, 255],
    ),
    (
        16,
        COLOR,
        ">3H",
        (0x0102, 0x0304, 0x0506),
        bytes((1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7, 2, 1, 4, 3, 6, 5, 1, 0, 3, 0, 5, 0)),
        [0, 255, 255, 255],
    ),
]


@pytest.mark.parametrize(
    ("depth", "color_type", "form", "key", "line", "alphas"),
    KEYED,
)
def test_a_colour_key_is_transparent_at_any_depth(
    depth: int,
    color_type: int,
    form: str,
    key: tuple[int, ...],
    line: bytes,
    alphas: list[int],
) -> None:
    chunk = png_chunk(b"tRNS", struct.pack(form, *key))
    file = png_of(4, 1, chunk, rows(line), depth=depth, color_type=color_type)

    stored = normalized_png(file)

    assert stored.mode == "RGBA"
    assert alphas_of(stored) == alphas


def test_bits_of_a_key_above_those_of_the_picture_count_for_nothing() -> None:
    chunk = png_chunk(b"tRNS", struct.pack(">H", 0xFFF2))

    stored = normalized_png(png_of(4, 1, chunk, rows(b"\x1b"), depth=2))

    assert alphas_of(stored) == [255, 255, 0, 255]


def test_sixteen_bits_become_eight() -> None:
    levels = struct.pack("<4H", 0, 0x4000, 0x8000, 0xFFFF)
    line = Image.frombytes("I;16", (4, 1), levels)

    stored = normalized_png(encoded(line, "PNG"))

    assert stored.mode == "L"
    assert list(stored.tobytes()) == [0, 0x40, 0x80, 0xFF]


# Profiles -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("JPEG", "RGB"),
        ("PNG", "RGB"),
        ("PNG", "RGBA"),
        ("WEBP", "RGB"),
        ("WEBP", "RGBA"),
    ],
)
def test_colours_are_converted_to_srgb(kind: str, mode: str) -> None:
    source = Image.new("RGB", (16, 16), (220, 30, 30)).convert(mode)
    file = encoded(source, kind, icc_profile=swapped_profile())

    stored = decode(normalize(file, f"image/{kind.lower()}").data)

    red, green, _ = pixel(stored.convert("RGB"), 8, 8)
    assert green > red


def test_a_profile_of_srgb_changes_no_colour() -> None:
    channels = [Image.linear_gradient("L").rotate(90 * turn) for turn in range(3)]
    source = Image.merge("RGB", channels)

    stored = normalized_png(encoded(source, "PNG", icc_profile=srgb_profile()))

    assert stored.tobytes() == source.tobytes()


def grey_file() -> bytes:
    return png_of(2, 1, icc_chunk(linear_grey_profile()), rows(b"\x80\x00"))


def grey_file_with_alpha(depth: int) -> bytes:
    sample = b"\x80" * (depth // 8)
    clear = b"\x00" * (depth // 8)
    return png_of(
        2,
        1,
        icc_chunk(linear_grey_profile()),
        rows(sample + sample + sample + clear),
        depth=depth,
        color_type=GREY_ALPHA,
    )


def grey_file_with_key() -> bytes:
    key = png_chunk(b"tRNS", b"\0\0")
    return png_of(2, 1, icc_chunk(linear_grey_profile()), key, rows(b"\x80\x00"))


def deep_grey_file() -> bytes:
    profile = icc_chunk(linear_grey_profile())
    return png_of(2, 1, profile, rows(b"\x80\x80\x00\x00"), depth=16)


def deep_grey_file_with_key() -> bytes:
    profile = icc_chunk(linear_grey_profile())
    key = png_chunk(b"tRNS", b"\0\0")
    return png_of(2, 1, profile, key, rows(b"\x80\x80\x00\x00"), depth=16)


@pytest.mark.parametrize(
    ("file", "alphas"),
    [
        (grey_file, None),
        (deep_grey_file, None),
        (lambda: grey_file_with_alpha(8), [128, 0]),
        (lambda: grey_file_with_alpha(16), [128, 0]),
        (grey_file_with_key, [255, 0]),
        (deep_grey_file_with_key, [255, 0]),
    ],
    ids=["grey", "deep", "alpha", "deep and alpha", "key", "deep and key"],
)
def test_a_grey_profile_is_applied_and_the_alpha_stays(
    file: Callable[[], bytes],
    alphas: list[int] | None,
) -> None:
    stored = normalized_png(file())

    level = pixel(stored.convert("RGB"), 0, 0)
    assert is_near((LINEAR_HALF, LINEAR_HALF, LINEAR_HALF), level, 2)
    if alphas is None:
        assert stored.mode == "RGB"
    else:
        assert alphas_of(stored) == alphas


def test_a_grey_profile_of_a_coloured_picture_is_ignored() -> None:
    source = four_corners()

    stored = normalized_png(encoded(source, "PNG", icc_profile=linear_grey_profile()))

    assert stored.tobytes() == source.tobytes()


@pytest.mark.parametrize(
    "profile",
    [b"", b"no profile", b"\0" * 400, swapped_profile()[:200]],
    ids=len,
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_broken_profile_is_ignored(kind: str, profile: bytes) -> None:
    file = encoded(four_corners(), kind, icc_profile=profile)

    stored = decode(normalize(file, f"image/{kind.lower()}").data)

    assert is_near(RED, corner_colors(stored)[0], 12)
