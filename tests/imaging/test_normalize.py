import struct
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageCms, PngImagePlugin, features

from image_workflow_emulator.imaging.normalize import normalize
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    corner_colors,
    encoded,
    four_corners,
    is_near,
    pixel,
)
from tests.support.pictures import decode
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
def test_every_format_becomes_one_of_three(written: str, mode: str, declared: str, kept: str, kept_mode: str) -> None:
    source = four_corners(mode="RGB").quantize(8) if mode == "P" else four_corners(mode=mode)
    expected = corner_colors(decode(encoded(source, written)))
    normal = normalize(encoded(source, written), f"image/{declared}")
    image = decode(normal.data)
    assert (kept, 48, 32) == (normal.format, normal.width, normal.height)
    assert (kept.upper(), (48, 32), kept_mode) == (image.format, image.size, image.mode)
    assert all(is_near(a, b) for a, b in zip(expected, corner_colors(image), strict=True))


@pytest.mark.parametrize(("alpha", "kept"), [(0, "png"), (254, "png"), (255, "jpeg")])
def test_avif_with_transparency_becomes_png(alpha: int, kept: str) -> None:
    image = four_corners(mode="RGBA")
    image.putalpha(alpha)
    assert kept == normalize(encoded(image, "AVIF", quality=100), "image/avif").format


@pytest.mark.parametrize("profile", [None, b"no profile"])
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_transparency_is_kept_though_the_profile_is_broken(kind: str, profile: bytes | None) -> None:
    image = four_corners(mode="RGBA")
    for left, alpha in enumerate((0, 90)):
        image.paste((0, 0, 0, alpha), (left * 12, 0, left * 12 + 12, 32))
    found = decode(normalize(encoded(image, kind, icc_profile=profile), f"image/{kind.lower()}").data)
    assert [0, 90, 255] == [pixel(found, x, 3)[3] for x in (3, 15, 40)]


WITHOUT_PLUGIN = """
import sys

sys.modules["pillow_avif"] = None
from image_workflow_emulator.imaging.normalize import normalize

normal = normalize(open(sys.argv[1], "rb").read(), "image/avif")
print(normal.format, normal.width, normal.height)
"""


@pytest.mark.skipif(not features.check("avif"), reason="this Pillow cannot read AVIF by itself")
def test_without_the_plugin_avif_is_read_by_pillow(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(encoded(four_corners(), "AVIF"))
    outcome = run_program(sys.executable, "-c", WITHOUT_PLUGIN, str(tmp_path / "picture"))
    assert outcome.output == "jpeg 48 32\n"


TURNS = [None, *map(Image.Transpose, (0, 3, 1, 5, 2, 6, 4))]
"""By what a picture is turned that has an orientation from 1 to 8."""


@pytest.mark.parametrize(("orientation", "turn"), [*enumerate(TURNS, 1)])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_orientation_is_applied_and_forgotten(kind: str, orientation: int, turn: Image.Transpose | None) -> None:
    stored = four_corners() if turn is None else four_corners().transpose(turn)
    normal = normalize(encoded(stored, kind, exif=exif_with_orientation(orientation)), f"image/{kind.lower()}")
    image = decode(normal.data)
    assert (48, 32) == (normal.width, normal.height) == image.size
    assert all(is_near(a, b, 24) for a, b in zip((RED, GREEN, BLUE, WHITE), corner_colors(image), strict=True))
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
    assert all(is_near(a, b) for a, b in zip(corner_colors(decode(source)), corner_colors(image), strict=True))


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "AVIF"])
def test_of_an_animation_the_first_frame_stays(kind: str) -> None:
    first, *rest = (Image.new("RGB", (20, 20), color) for color in (RED, GREEN, BLUE))
    source = encoded(first, kind, save_all=True, append_images=rest, duration=50, loop=0)
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
    line = Image.frombytes("I;16", (4, 1), struct.pack("<4H", 0, 0x4000, 0x8000, 0xFFFF))
    found = decode(normalize(encoded(line, "PNG"), "image/png").data)
    assert ("L", [0, 0x40, 0x80, 0xFF]) == (found.mode, list(found.tobytes()))


@pytest.mark.parametrize(
    ("kind", "mode"), [("JPEG", "RGB"), ("PNG", "RGB"), ("PNG", "RGBA"), ("WEBP", "RGB"), ("WEBP", "RGBA")]
)
def test_colours_are_converted_to_srgb(kind: str, mode: str) -> None:
    source = Image.new("RGB", (16, 16), (220, 30, 30)).convert(mode)
    normal = normalize(encoded(source, kind, icc_profile=swapped_profile()), f"image/{kind.lower()}")
    red, green, _ = pixel(decode(normal.data).convert("RGB"), 8, 8)
    assert green > red


def test_a_profile_of_srgb_changes_no_colour() -> None:
    source = Image.merge("RGB", [Image.linear_gradient("L").rotate(90 * turn) for turn in range(3)])
    found = decode(normalize(encoded(source, "PNG", icc_profile=srgb_profile()), "image/png").data)
    assert source.tobytes() == found.tobytes()


def test_a_grey_profile_is_applied_to_a_grey_picture() -> None:
    profile = bytearray(srgb_profile())
    profile[16:20] = b"GRAY"
    grey = bytes(profile).replace(b"rTRC", b"kTRC", 1)
    found = decode(normalize(encoded(Image.new("L", (16, 16), 90), "PNG", icc_profile=grey), "image/png").data)
    assert ("RGB", True) == (found.mode, is_near((90, 90, 90), pixel(found, 8, 8), 2))


@pytest.mark.parametrize("profile", [b"", b"no profile", b"\0" * 400, swapped_profile()[:200]], ids=len)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_broken_profile_is_ignored(kind: str, profile: bytes) -> None:
    normal = normalize(encoded(four_corners(), kind, icc_profile=profile), f"image/{kind.lower()}")
    assert is_near(RED, corner_colors(decode(normal.data))[0], 12)
