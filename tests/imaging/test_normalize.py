"""What becomes of an upload, and which are refused (D18, D57)."""

import struct
import sys
import time
import zlib
from itertools import permutations
from pathlib import Path

import pytest
from PIL import Image, ImageCms, PngImagePlugin, features

from image_workflow_emulator.imaging.normalize import UnusableImage, normalize
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    checkered,
    corner_colors,
    encoded,
    four_corners,
    is_near,
    pixel,
)
from tests.support.pictures import decode, png_chunk, png_of
from tests.support.served import run_program

METADATA = ("exif", "icc_profile", "xmp", "dpi", "comment", "photoshop", "Title")


def exif_with_orientation(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "A camera maker"
    return exif.tobytes()


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def swapped_profile() -> bytes:
    """A profile that calls itself sRGB, and has the places of red and green exchanged."""
    profile = bytearray(srgb_profile())
    red, green = profile.index(b"rXYZ", 128), profile.index(b"gXYZ", 128)
    profile[red : red + 4], profile[green : green + 4] = b"gXYZ", b"rXYZ"
    return bytes(profile)


FORMATS = [
    # What Pillow writes, of which mode, the content type, and what becomes of it.
    ("JPEG", "RGB", "jpeg", "jpeg", "RGB"),
    ("JPEG", "L", "jpeg", "jpeg", "L"),
    ("JPEG", "CMYK", "jpeg", "jpeg", "RGB"),
    ("PNG", "RGB", "png", "png", "RGB"),
    ("PNG", "RGBA", "png", "png", "RGBA"),
    ("PNG", "L", "png", "png", "L"),
    ("PNG", "LA", "png", "png", "RGBA"),
    ("PNG", "P", "png", "png", "RGB"),
    ("PNG", "1", "png", "png", "L"),
    ("GIF", "P", "gif", "png", "RGB"),
    ("GIF", "L", "gif", "png", "RGB"),
    ("WEBP", "RGB", "webp", "webp", "RGB"),
    ("AVIF", "RGB", "avif", "jpeg", "RGB"),
    ("AVIF", "RGBA", "avif", "jpeg", "RGB"),
]


@pytest.mark.parametrize(("written", "mode", "declared", "kept", "kept_mode"), FORMATS)
def test_every_format_becomes_one_of_three(
    written: str, mode: str, declared: str, kept: str, kept_mode: str
) -> None:
    source = (
        four_corners(mode="RGB").quantize(8) if mode == "P" else four_corners(mode=mode)
    )
    expected = corner_colors(decode(encoded(source, written)))
    normal = normalize(encoded(source, written), f"image/{declared}")
    image = decode(normal.data)
    assert (kept, 48, 32) == (normal.format, normal.width, normal.height)
    assert (kept.upper(), (48, 32), kept_mode) == (image.format, image.size, image.mode)
    assert all(
        is_near(a, b) for a, b in zip(expected, corner_colors(image), strict=True)
    )


@pytest.mark.parametrize(("alpha", "kept"), [(0, "png"), (254, "png"), (255, "jpeg")])
def test_avif_with_transparency_becomes_png(alpha: int, kept: str) -> None:
    image = four_corners(mode="RGBA")
    image.putalpha(alpha)
    assert kept == normalize(encoded(image, "AVIF", quality=100), "image/avif").format


@pytest.mark.parametrize("profile", [None, b"no profile"])
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_transparency_is_kept_though_the_profile_is_broken(
    kind: str, profile: bytes | None
) -> None:
    image = four_corners(mode="RGBA")
    for left, alpha in enumerate((0, 90)):
        image.paste((0, 0, 0, alpha), (left * 12, 0, left * 12 + 12, 32))
    found = decode(
        normalize(
            encoded(image, kind, icc_profile=profile), f"image/{kind.lower()}"
        ).data
    )
    assert [0, 90, 255] == [pixel(found, x, 3)[3] for x in (3, 15, 40)]


WITHOUT_PLUGIN = """
import sys

sys.modules["pillow_avif"] = None
from image_workflow_emulator.imaging.normalize import normalize

normal = normalize(open(sys.argv[1], "rb").read(), "image/avif")
print(normal.format, normal.width, normal.height)
"""


@pytest.mark.skipif(
    not features.check("avif"), reason="this Pillow cannot read AVIF by itself"
)
def test_without_the_plugin_avif_is_read_by_pillow(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(encoded(four_corners(), "AVIF"))
    outcome = run_program(
        sys.executable, "-c", WITHOUT_PLUGIN, str(tmp_path / "picture")
    )
    assert outcome.output == "jpeg 48 32\n"


TURNS = [None, *map(Image.Transpose, (0, 3, 1, 5, 2, 6, 4))]
"""By what a picture is turned that has an orientation from 1 to 8."""


@pytest.mark.parametrize(("orientation", "turn"), [*enumerate(TURNS, 1)])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_orientation_is_applied_and_forgotten(
    kind: str, orientation: int, turn: Image.Transpose | None
) -> None:
    stored = four_corners() if turn is None else four_corners().transpose(turn)
    normal = normalize(
        encoded(stored, kind, exif=exif_with_orientation(orientation)),
        f"image/{kind.lower()}",
    )
    image = decode(normal.data)
    assert (48, 32) == (normal.width, normal.height) == image.size
    assert all(
        is_near(a, b, 24)
        for a, b in zip((RED, GREEN, BLUE, WHITE), corner_colors(image), strict=True)
    )
    assert {} == dict(image.getexif())


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_metadata_is_dropped_and_the_picture_stays(kind: str) -> None:
    options: dict[str, object] = {
        "exif": exif_with_orientation(1),
        "icc_profile": srgb_profile(),
        "dpi": (300, 300),
        "xmp": b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
        "comment": b"a comment",
    }
    if kind == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Title", "a title", zip=True)
        options["pnginfo"] = text
    source = encoded(four_corners(), kind, **options)
    image = decode(normalize(source, f"image/{kind.lower()}").data)
    assert [] == [name for name in METADATA if name in image.info]
    assert all(
        is_near(a, b)
        for a, b in zip(
            corner_colors(decode(source)), corner_colors(image), strict=True
        )
    )


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "AVIF"])
def test_of_an_animation_the_first_frame_stays(kind: str) -> None:
    first, *rest = (Image.new("RGB", (20, 20), color) for color in (RED, GREEN, BLUE))
    source = encoded(
        first, kind, save_all=True, append_images=rest, duration=50, loop=0
    )
    normal = normalize(source, f"image/{kind.lower()}")
    image = decode(normal.data)
    assert 1 == getattr(image, "n_frames", 1)
    assert is_near(RED, pixel(image.convert("RGB"), 10, 10), 12)


def test_a_transparent_gif_keeps_its_transparency() -> None:
    image = Image.new("P", (20, 20), 1)
    image.putpalette([0, 0, 0, *RED])
    image.paste(0, (0, 0, 10, 20))
    found = decode(normalize(encoded(image, "GIF", transparency=0), "image/gif").data)
    assert (0, (*RED, 255)) == (pixel(found, 2, 2)[3], pixel(found, 15, 15))


def test_sixteen_bits_become_eight() -> None:
    line = Image.frombytes(
        "I;16", (4, 1), struct.pack("<4H", 0, 0x4000, 0x8000, 0xFFFF)
    )
    found = decode(normalize(encoded(line, "PNG"), "image/png").data)
    assert ("L", [0, 0x40, 0x80, 0xFF]) == (found.mode, list(found.tobytes()))


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
    normal = normalize(
        encoded(source, kind, icc_profile=swapped_profile()), f"image/{kind.lower()}"
    )
    red, green, _ = pixel(decode(normal.data).convert("RGB"), 8, 8)
    assert green > red


def test_a_profile_of_srgb_changes_no_colour() -> None:
    source = Image.merge(
        "RGB", [Image.linear_gradient("L").rotate(90 * turn) for turn in range(3)]
    )
    found = decode(
        normalize(encoded(source, "PNG", icc_profile=srgb_profile()), "image/png").data
    )
    assert source.tobytes() == found.tobytes()


def test_a_grey_profile_is_applied_to_a_grey_picture() -> None:
    profile = bytearray(srgb_profile())
    profile[16:20] = b"GRAY"
    grey = bytes(profile).replace(b"rTRC", b"kTRC", 1)
    found = decode(
        normalize(
            encoded(Image.new("L", (16, 16), 90), "PNG", icc_profile=grey), "image/png"
        ).data
    )
    assert ("RGB", True) == (found.mode, is_near((90, 90, 90), pixel(found, 8, 8), 2))


@pytest.mark.parametrize(
    "profile", [b"", b"no profile", b"\0" * 400, swapped_profile()[:200]], ids=len
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_broken_profile_is_ignored(kind: str, profile: bytes) -> None:
    normal = normalize(
        encoded(four_corners(), kind, icc_profile=profile), f"image/{kind.lower()}"
    )
    assert is_near(RED, corner_colors(decode(normal.data))[0], 12)


KINDS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF")


def refusal(data: bytes, content_type: str) -> str:
    with pytest.raises(UnusableImage) as caught:
        normalize(data, content_type)
    return str(caught.value)


@pytest.mark.parametrize(("kind", "declared"), list(permutations(KINDS, 2)))
def test_bytes_of_another_format_than_declared_are_refused(
    kind: str, declared: str
) -> None:
    reason = refusal(encoded(four_corners(), kind), f"image/{declared.lower()}")
    assert (
        f"The bytes are {kind}; expected {declared}, as declared by image/{declared.lower()}."
        == reason
    )


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"BM" + bytes(60), b"<svg/>", b"%PDF-1.7", bytes(5000)],
    ids=repr,
)
def test_bytes_that_are_no_accepted_image_are_refused(data: bytes) -> None:
    reason = refusal(data, "image/png")
    assert (
        "The bytes are no image of a known format; expected PNG, as declared by image/png."
        == reason
    )
    assert refusal(data, "image/tiff").startswith(
        "The content type is image/tiff; expected one of image/jpeg"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_which_only_the_beginning_is_there_or_right_is_refused(
    kind: str,
) -> None:
    source = encoded(checkered(120, 7), kind)
    cut = [
        source[: max(16, int(len(source) * share))] for share in (0.02, 0.3, 0.6, 0.9)
    ]
    for data in (source[:8], *cut, source[:16] + b"\xff" * (len(source) - 16)):
        assert refusal(data, f"image/{kind.lower()}").endswith(".")


def announcing(
    kind: str, place: int, numbers: bytes, mark: bytes = b"", **options: object
) -> tuple[bytes, str]:
    """A file with other numbers at a place, counted from a mark in it or from its start, and its content type."""
    source = encoded(
        four_corners().quantize(8) if kind == "GIF" else four_corners(), kind, **options
    )
    start = source.index(mark) + place
    return source[:start] + numbers + source[
        start + len(numbers) :
    ], f"image/{kind.lower()}"


def huge_headers() -> dict[str, tuple[int, tuple[bytes, str]]]:
    """Files that announce more pixels than are decoded and hold next to nothing, and how many megapixels may be."""
    exif, rows = Image.Exif(), png_chunk(b"IDAT", zlib.compress(bytes(100)))
    exif[0x0112] = 6
    return {
        "jpeg": (
            100,
            announcing("JPEG", 5, struct.pack(">HH", 20_000, 20_000), b"\xff\xc0"),
        ),
        "png": (100, (png_of(60_000, 60_000, rows), "image/png")),
        "gif": (100, announcing("GIF", 6, struct.pack("<HH", 65_000, 65_000))),
        "gif frame": (
            100,
            announcing("GIF", 1, struct.pack("<HH", 65_000, 65_000), b"\x2c"),
        ),
        "webp": (40, announcing("WEBP", 26, struct.pack("<HH", 16_383, 16_383))),
        "lossless webp": (
            40,
            announcing(
                "WEBP", 21, struct.pack("<I", 16_382 | 16_382 << 14), lossless=True
            ),
        ),
        "extended webp": (
            40,
            announcing(
                "WEBP", 24, (49_999).to_bytes(3, "little") * 2, exif=exif.tobytes()
            ),
        ),
        "avif": (
            40,
            announcing("AVIF", 8, struct.pack(">II", 15_000, 15_000), b"ispe"),
        ),
    }


@pytest.mark.parametrize(
    ("megapixels", "file"), huge_headers().values(), ids=huge_headers()
)
def test_too_many_pixels_are_refused_from_the_header(
    megapixels: int, file: tuple[bytes, str]
) -> None:
    began = time.process_time()
    assert f"expected at most {megapixels} megapixels" in refusal(*file)
    assert time.process_time() - began < 5, (
        "far more than a refusal takes, and far less than a bomb"
    )


def test_the_limit_is_exact() -> None:
    rows = zlib.compress(bytes(1251 * 10_000))
    exact = png_of(10_000, 10_000, png_chunk(b"IDAT", rows), depth=1)
    assert 10_000 == normalize(exact, "image/png").width
    above = png_of(10_001, 10_000, png_chunk(b"IDAT", rows), depth=1)
    assert (
        "The image has 10001 x 10000 pixels; expected at most 100 megapixels in PNG."
        == refusal(above, "image/png")
    )


@pytest.mark.parametrize("size", [(65_501, 50), (50, 65_501)])
def test_an_edge_that_is_too_long_is_refused_in_every_format(
    size: tuple[int, int],
) -> None:
    width, height = size
    files = [
        announcing("JPEG", 5, struct.pack(">HH", height, width), b"\xff\xc0"),
        (png_of(width, height), "image/png"),
        announcing("GIF", 6, struct.pack("<HH", width, height)),
        announcing(
            "WEBP",
            24,
            (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
            exif=b"none",
        ),
    ]
    for file, content_type in files:
        expected = f"expected at most 65500 an edge in {content_type.removeprefix('image/').upper()}."
        assert f"The image has {width} x {height} pixels; {expected}" == refusal(
            file, content_type
        )
    reason = refusal(*announcing("AVIF", 8, struct.pack(">II", 32_769, 40), b"ispe"))
    assert (
        "The image has 32769 x 40 pixels; expected at most 32768 an edge in AVIF."
        == reason
    )


@pytest.mark.parametrize("key", ["icc_profile", "pnginfo"])
def test_a_png_with_some_megabytes_of_metadata_is_read(key: str) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", "<x/>" * 1_000_000, zip=True)
    profile = ImageCms.ImageCmsProfile(
        ImageCms.createProfile("sRGB")
    ).tobytes() + bytes(3 << 20)
    source = encoded(
        four_corners(), "PNG", **{key: {"icc_profile": profile, "pnginfo": text}[key]}
    )
    assert 48 == normalize(source, "image/png").width


def test_repeated_scans_are_refused_where_they_take_long_and_read_where_they_do_not() -> (
    None
):
    source = encoded(checkered(64, 4), "JPEG", progressive=True)
    last = source.rindex(b"\xff\xda")
    many = source[:last] + source[last:-2] * 150 + source[-2:]
    assert 64 == normalize(many, "image/jpeg").width
    large = source.replace(
        struct.pack(">HH", 64, 64), struct.pack(">HH", 9_000, 9_000), 1
    )
    last = large.rindex(b"\xff\xda")
    with pytest.raises(UnusableImage, match=r"The image has 15\d scans"):
        normalize(large[:last] + large[last:-2] * 150 + large[-2:], "image/jpeg")


@pytest.mark.parametrize("before", [b"\xff\xdb", b"\xff\xd9"])
def test_a_jpeg_with_some_filling_is_read(before: bytes) -> None:
    source = encoded(four_corners(), "JPEG")
    place = source.rindex(before)
    assert (
        48
        == normalize(
            source[:place] + b"\xff" * 10_000 + source[place:], "image/jpeg"
        ).width
    )
