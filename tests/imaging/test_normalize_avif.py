"""What the container of an AVIF says beside its decoder: the part that is seen, and the
size (D18).
"""

import struct

import pytest
from PIL import Image

from image_workflow_emulator.imaging.normalize import NormalizedImage, normalize
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    are_near,
    corner_colors,
    encoded,
    four_corners,
)
from tests.support.pictures import decode

WIDTH = 48
HEIGHT = 32


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def aperture(
    width: int,
    height: int,
    right: int = 0,
    down: int = 0,
) -> bytes:
    """The box of a part of the picture whose middle is moved from the picture's."""
    fractions = (width, 1, height, 1, right, 1, down, 1)
    body = struct.pack(">IIIIiIiI", *fractions)
    return box(b"clap", body)


def file_of(orientation: int = 1, alpha: int | None = None) -> bytes:
    """A file with a picture of four colours, which the container turns."""
    image = four_corners(WIDTH, HEIGHT)
    if alpha is not None:
        image.putalpha(alpha)
    exif = Image.Exif()
    if orientation != 1:
        exif[0x0112] = orientation
    return encoded(
        image,
        "AVIF",
        quality=100,
        subsampling="4:4:4",
        exif=exif,
    )


def with_property(file: bytes, property_box: bytes) -> bytes:
    """A file whose only picture has one more property, which is essential.

    The new properties are at the end of the file, so that no place in it moves.
    """
    meta_start = file.index(b"meta") - 4
    (meta_length,) = struct.unpack_from(">I", file, meta_start)
    meta = file[meta_start : meta_start + meta_length]
    lists_start = meta.index(b"iprp") - 4
    (lists_length,) = struct.unpack_from(">I", meta, lists_start)
    lists = meta[lists_start + 8 : lists_start + lists_length]
    (properties_length,) = struct.unpack_from(">I", lists)
    properties = box(b"ipco", lists[8:properties_length] + property_box)
    count = number_of_boxes(lists[8:properties_length])
    associations = bytearray(lists[properties_length + 8 :])
    associations[10] += 1
    associations += bytes([0x80 | (count + 1)])
    new_lists = box(b"iprp", properties + box(b"ipma", bytes(associations)))
    rest = meta[lists_start + lists_length :]
    new_meta = box(b"meta", meta[8:lists_start] + new_lists + rest)
    return file.replace(b"meta", b"free", 1) + new_meta


def number_of_boxes(data: bytes) -> int:
    count = 0
    start = 0
    while start < len(data):
        (length,) = struct.unpack_from(">I", data, start)
        start += length
        count += 1
    return count


def normalized(file: bytes) -> NormalizedImage:
    return normalize(file, "image/avif")


# The clean aperture -------------------------------------------------------------------


def test_only_the_clean_aperture_is_kept() -> None:
    file = with_property(file_of(), aperture(24, 16))

    normal = normalized(file)

    colors = corner_colors(decode(normal.data))
    assert normal.width == 24
    assert normal.height == 16
    assert are_near([RED, GREEN, BLUE, WHITE], colors, 12)


def test_the_middle_of_a_clean_aperture_can_be_moved() -> None:
    right_above = aperture(24, 16, right=12, down=-8)
    file = with_property(file_of(), right_above)

    normal = normalized(file)

    colors = corner_colors(decode(normal.data))
    assert normal.width == 24
    assert normal.height == 16
    assert are_near([GREEN, GREEN, GREEN, GREEN], colors, 12)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_clean_aperture_is_applied_before_the_picture_is_turned(
    orientation: int,
) -> None:
    source = file_of(orientation)
    whole = decode(normalized(source).data)
    file = with_property(source, aperture(24, 32))

    normal = normalized(file)

    image = decode(normal.data)
    if orientation < 5:
        assert image.width == 24
        assert image.height == 32
    else:
        assert image.width == 32
        assert image.height == 24
    assert are_near(corner_colors(whole), corner_colors(image), 24)


@pytest.mark.parametrize(
    "outside",
    [
        pytest.param(aperture(100, 16), id="too wide"),
        pytest.param(aperture(24, 16, right=40), id="outside"),
        pytest.param(aperture(0, 16), id="empty"),
        pytest.param(aperture(23, 16), id="between two pixels"),
        pytest.param(box(b"clap", bytes(32)), id="zeros"),
    ],
)
def test_a_clean_aperture_that_cannot_be_is_ignored(outside: bytes) -> None:
    file = with_property(file_of(), outside)

    normal = normalized(file)

    assert normal.width == WIDTH
    assert normal.height == HEIGHT


# The size -----------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [None, 90])
@pytest.mark.parametrize("orientation", [1, 6])
def test_the_size_is_read_from_the_bitstream_where_the_container_has_none(
    orientation: int,
    alpha: int | None,
) -> None:
    file = file_of(orientation, alpha)
    without_size = file.replace(b"ispe", b"none")
    assert without_size != file

    with_size = normalized(file)
    normal = normalized(without_size)

    assert normal.data == with_size.data


def test_an_animation_without_a_size_is_read() -> None:
    image = four_corners(WIDTH, HEIGHT)
    frames = [image.rotate(180)]
    file = encoded(image, "AVIF", save_all=True, append_images=frames)
    without_size = file.replace(b"ispe", b"none")

    with_size = normalized(file)
    normal = normalized(without_size)

    assert normal.data == with_size.data
