"""What becomes of the colours and the transparency of an upload (D18)."""

import struct
import zlib
from typing import NamedTuple

import pytest
from PIL import Image, ImageCms

from image_workflow_emulator.imaging.normalize import normalize
from tests.imaging.pictures import (
    RED,
    alpha_at,
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


def normalized(file: bytes, kind: str) -> Image.Image:
    content_type = f"image/{kind.lower()}"
    normal = normalize(file, content_type)
    return decode(normal.data)


def normalized_png(file: bytes) -> Image.Image:
    return normalized(file, "PNG")


def alphas_of(image: Image.Image) -> list[int]:
    return list(image.getchannel("A").tobytes())


NO_FILTER = b"\0"


def row(line: bytes) -> bytes:
    """The data of a PNG of one line."""
    rows = zlib.compress(NO_FILTER + line)
    return png_chunk(b"IDAT", rows)


def icc_chunk(profile: bytes) -> bytes:
    compressed = zlib.compress(profile)
    return png_chunk(b"iCCP", b"a profile\0\0" + compressed)


def srgb_profile() -> bytes:
    profile = ImageCms.createProfile("sRGB")
    return ImageCms.ImageCmsProfile(profile).tobytes()


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
    left_quarter = (0, 0, 12, 32)
    second_quarter = (12, 0, 24, 32)
    image = four_corners(mode="RGBA")
    image.paste((0, 0, 0, 0), left_quarter)
    image.paste((0, 0, 0, 90), second_quarter)
    file = encoded(image, kind, icc_profile=profile)

    stored = normalized(file, kind)

    assert alpha_at(stored, 3, 3) == 0
    assert alpha_at(stored, 15, 3) == 90
    assert alpha_at(stored, 40, 3) == 255


def test_a_transparent_gif_keeps_its_transparency() -> None:
    image = Image.new("P", (20, 20), 1)
    image.putpalette([0, 0, 0, *RED])
    image.paste(0, (0, 0, 10, 20))
    file = encoded(image, "GIF", transparency=0)

    stored = normalized(file, "GIF")

    opaque_red = (*RED, 255)
    assert alpha_at(stored, 2, 2) == 0
    assert pixel(stored, 15, 15) == opaque_red


class Keyed(NamedTuple):
    """A line of four pixels, of which those of one level or colour are transparent."""

    depth: int
    color_type: int
    key: bytes
    line: bytes
    alphas: list[int]


ONE_BIT = Keyed(
    depth=1,
    color_type=GREY,
    key=struct.pack(">H", 1),
    line=b"\x50",
    alphas=[255, 0, 255, 0],
)
TWO_BITS = Keyed(
    depth=2,
    color_type=GREY,
    key=struct.pack(">H", 2),
    line=b"\x1b",
    alphas=[255, 255, 0, 255],
)
FOUR_BITS = Keyed(
    depth=4,
    color_type=GREY,
    key=struct.pack(">H", 9),
    line=b"\x09\xf9",
    alphas=[255, 0, 255, 0],
)
EIGHT_BITS = Keyed(
    depth=8,
    color_type=GREY,
    key=struct.pack(">H", 200),
    line=b"\x00\xc8\xc9\xff",
    alphas=[255, 0, 255, 255],
)
SIXTEEN_BITS = Keyed(
    depth=16,
    color_type=GREY,
    key=struct.pack(">H", 0x1234),
    line=b"\x12\x34\x12\x35\x34\x12\x00\x00",
    alphas=[0, 255, 255, 255],
)
COLORED = Keyed(
    depth=8,
    color_type=COLOR,
    key=struct.pack(">3H", 1, 2, 3),
    line=b"\x01\x02\x03\x01\x02\x04\x03\x02\x01\x00\x00\x00",
    alphas=[0, 255, 255, 255],
)
DEEPLY_COLORED = Keyed(
    depth=16,
    color_type=COLOR,
    key=struct.pack(">3H", 0x0102, 0x0304, 0x0506),
    line=(
        b"\x01\x02\x03\x04\x05\x06"
        b"\x01\x02\x03\x04\x05\x07"
        b"\x02\x01\x04\x03\x06\x05"
        b"\x01\x00\x03\x00\x05\x00"
    ),
    alphas=[0, 255, 255, 255],
)


@pytest.mark.parametrize(
    "keyed",
    [
        pytest.param(ONE_BIT, id="1 bit of grey"),
        pytest.param(TWO_BITS, id="2 bits of grey"),
        pytest.param(FOUR_BITS, id="4 bits of grey"),
        pytest.param(EIGHT_BITS, id="8 bits of grey"),
        pytest.param(SIXTEEN_BITS, id="16 bits of grey"),
        pytest.param(COLORED, id="8 bits of colour"),
        pytest.param(DEEPLY_COLORED, id="16 bits of colour"),
    ],
)
def test_a_colour_key_is_transparent_at_any_depth(keyed: Keyed) -> None:
    file = png_of(
        4,
        1,
        png_chunk(b"tRNS", keyed.key),
        row(keyed.line),
        depth=keyed.depth,
        color_type=keyed.color_type,
    )

    stored = normalized_png(file)

    assert stored.mode == "RGBA"
    assert alphas_of(stored) == keyed.alphas


def test_bits_of_a_key_above_those_of_the_picture_count_for_nothing() -> None:
    key = png_chunk(b"tRNS", struct.pack(">H", 0xFFF2))
    file = png_of(
        4,
        1,
        key,
        row(b"\x1b"),
        depth=2,
    )

    stored = normalized_png(file)

    assert alphas_of(stored) == [255, 255, 0, 255]


def test_sixteen_bits_become_eight() -> None:
    levels = struct.pack("<4H", 0, 0x4000, 0x8000, 0xFFFF)
    line = Image.frombytes("I;16", (4, 1), levels)
    file = encoded(line, "PNG")

    stored = normalized_png(file)

    stored_levels = list(stored.tobytes())
    assert stored.mode == "L"
    assert stored_levels == [0, 0x40, 0x80, 0xFF]


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
    red_image = Image.new("RGB", (16, 16), (220, 30, 30))
    source = red_image.convert(mode)
    file = encoded(source, kind, icc_profile=swapped_profile())

    stored = normalized(file, kind)

    opaque = stored.convert("RGB")
    red, green, _ = pixel(opaque, 8, 8)
    assert green > red


def test_a_profile_of_srgb_changes_no_colour() -> None:
    downwards = Image.linear_gradient("L")
    channels = [downwards.rotate(90 * turn) for turn in range(3)]
    source = Image.merge("RGB", channels)
    file = encoded(source, "PNG", icc_profile=srgb_profile())

    stored = normalized_png(file)

    assert stored.tobytes() == source.tobytes()


def grey_file(depth: int) -> bytes:
    """Two pixels of grey, half of the light and none."""
    return png_of(
        2,
        1,
        icc_chunk(linear_grey_profile()),
        grey_row(depth),
        depth=depth,
    )


def grey_file_with_alpha(depth: int) -> bytes:
    """Two pixels of the same grey, one half transparent and one wholly."""
    sample_bytes = depth // 8
    half = b"\x80" * sample_bytes
    none = b"\x00" * sample_bytes
    return png_of(
        2,
        1,
        icc_chunk(linear_grey_profile()),
        row(half + half + half + none),
        depth=depth,
        color_type=GREY_ALPHA,
    )


def grey_file_with_key(depth: int) -> bytes:
    """Two pixels of grey, of which the black one is transparent."""
    black_key = png_chunk(b"tRNS", b"\0\0")
    return png_of(
        2,
        1,
        icc_chunk(linear_grey_profile()),
        black_key,
        grey_row(depth),
        depth=depth,
    )


def grey_row(depth: int) -> bytes:
    sample_bytes = depth // 8
    half = b"\x80" * sample_bytes
    none = b"\x00" * sample_bytes
    return row(half + none)


def assert_half_of_the_light(image: Image.Image) -> None:
    level = pixel(image.convert("RGB"), 0, 0)
    assert is_near((LINEAR_HALF, LINEAR_HALF, LINEAR_HALF), level, 2)


@pytest.mark.parametrize("depth", [8, 16])
def test_a_grey_profile_is_applied(depth: int) -> None:
    stored = normalized_png(grey_file(depth))

    assert stored.mode == "RGB"
    assert_half_of_the_light(stored)


@pytest.mark.parametrize("depth", [8, 16])
def test_a_grey_profile_leaves_the_alpha(depth: int) -> None:
    stored = normalized_png(grey_file_with_alpha(depth))

    assert_half_of_the_light(stored)
    assert alphas_of(stored) == [128, 0]


@pytest.mark.parametrize("depth", [8, 16])
def test_a_grey_profile_leaves_the_transparency_of_a_key(depth: int) -> None:
    stored = normalized_png(grey_file_with_key(depth))

    assert_half_of_the_light(stored)
    assert alphas_of(stored) == [255, 0]


def test_a_grey_profile_of_a_coloured_picture_is_ignored() -> None:
    source = four_corners()
    file = encoded(source, "PNG", icc_profile=linear_grey_profile())

    stored = normalized_png(file)

    assert stored.tobytes() == source.tobytes()


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"no profile", id="text"),
        pytest.param(b"\0" * 400, id="zeros"),
        pytest.param(swapped_profile()[:200], id="cut off"),
    ],
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_broken_profile_is_ignored(kind: str, profile: bytes) -> None:
    file = encoded(four_corners(), kind, icc_profile=profile)

    stored = normalized(file, kind)

    upper_left, *_ = corner_colors(stored)
    assert is_near(RED, upper_left, 12)
