"""What becomes of an upload (D18): its format, its first picture, upright, without
metadata.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image, ImageCms, PngImagePlugin, features

from image_workflow_emulator.imaging.normalize import normalize
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    are_near,
    corner_colors,
    encoded,
    four_corners,
    is_near,
    pixel,
)
from tests.support.pictures import decode, png_chunk
from tests.support.served import run_program

METADATA = {"exif", "icc_profile", "xmp", "dpi", "comment", "photoshop", "Title"}
SIDEWAYS_XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/" tiff:Orientation="6"></x:xmpmeta>'


def exif_with_orientation(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "A camera maker"
    return exif.tobytes()


def srgb_profile() -> bytes:
    profile = ImageCms.createProfile("sRGB")
    return ImageCms.ImageCmsProfile(profile).tobytes()


def content_type_of(kind: str) -> str:
    return f"image/{kind.lower()}"


class Upload(NamedTuple):
    """What Pillow writes, and what is stored of it."""

    written: str
    mode: str
    stored: str
    stored_mode: str


UPLOADS = [
    Upload(
        written="JPEG",
        mode="RGB",
        stored="jpeg",
        stored_mode="RGB",
    ),
    Upload(
        written="JPEG",
        mode="L",
        stored="jpeg",
        stored_mode="L",
    ),
    Upload(
        written="JPEG",
        mode="CMYK",
        stored="jpeg",
        stored_mode="RGB",
    ),
    Upload(
        written="PNG",
        mode="RGB",
        stored="png",
        stored_mode="RGB",
    ),
    Upload(
        written="PNG",
        mode="RGBA",
        stored="png",
        stored_mode="RGBA",
    ),
    Upload(
        written="PNG",
        mode="L",
        stored="png",
        stored_mode="L",
    ),
    Upload(
        written="PNG",
        mode="LA",
        stored="png",
        stored_mode="RGBA",
    ),
    Upload(
        written="PNG",
        mode="P",
        stored="png",
        stored_mode="RGB",
    ),
    Upload(
        written="PNG",
        mode="1",
        stored="png",
        stored_mode="L",
    ),
    Upload(
        written="GIF",
        mode="P",
        stored="png",
        stored_mode="RGB",
    ),
    Upload(
        written="GIF",
        mode="L",
        stored="png",
        stored_mode="RGB",
    ),
    Upload(
        written="WEBP",
        mode="RGB",
        stored="webp",
        stored_mode="RGB",
    ),
    Upload(
        written="AVIF",
        mode="RGB",
        stored="jpeg",
        stored_mode="RGB",
    ),
    Upload(
        written="AVIF",
        mode="RGBA",
        stored="jpeg",
        stored_mode="RGB",
    ),
]


def name_of(upload: Upload) -> str:
    return f"{upload.written} {upload.mode}"


@pytest.mark.parametrize("upload", UPLOADS, ids=name_of)
def test_every_format_becomes_one_of_three(upload: Upload) -> None:
    source = four_corners(mode=upload.mode)
    if upload.mode == "P":
        source = four_corners().quantize(8)
    file = encoded(source, upload.written)

    normal = normalize(file, content_type_of(upload.written))

    image = decode(normal.data)
    uploaded_colors = corner_colors(decode(file))
    assert normal.format == upload.stored
    assert image.format == upload.stored.upper()
    assert image.mode == upload.stored_mode
    assert normal.width == 48
    assert normal.height == 32
    assert image.width == 48
    assert image.height == 32
    assert are_near(uploaded_colors, corner_colors(image))


@pytest.mark.parametrize(("alpha", "stored"), [(0, "png"), (254, "png"), (255, "jpeg")])
def test_avif_with_transparency_becomes_png(alpha: int, stored: str) -> None:
    image = four_corners(mode="RGBA")
    image.putalpha(alpha)
    file = encoded(image, "AVIF", quality=100)

    normal = normalize(file, "image/avif")

    assert normal.format == stored


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "AVIF"])
def test_of_an_animation_the_first_frame_is_kept(kind: str) -> None:
    first, second, third = (
        Image.new("RGB", (20, 20), color) for color in (RED, GREEN, BLUE)
    )
    source = encoded(
        first,
        kind,
        save_all=True,
        append_images=[second, third],
        duration=50,
        loop=0,
    )

    normal = normalize(source, content_type_of(kind))

    image = decode(normal.data)
    middle = pixel(image.convert("RGB"), 10, 10)
    assert getattr(image, "n_frames", 1) == 1
    assert is_near(RED, middle, 12)


# Orientation --------------------------------------------------------------------------

TURNED_FROM = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
"""By orientation, how the camera held the upright picture."""


@pytest.mark.parametrize("orientation", TURNED_FROM)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_the_exif_orientation_is_applied_and_forgotten(
    kind: str,
    orientation: int,
) -> None:
    source = four_corners()
    turn = TURNED_FROM[orientation]
    if turn is not None:
        source = source.transpose(turn)
    exif = exif_with_orientation(orientation)
    file = encoded(source, kind, exif=exif)

    normal = normalize(file, content_type_of(kind))

    image = decode(normal.data)
    colors = corner_colors(image)
    assert normal.width == 48
    assert normal.height == 32
    assert image.width == 48
    assert image.height == 32
    assert are_near([RED, GREEN, BLUE, WHITE], colors, 24)
    assert dict(image.getexif()) == {}


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_an_orientation_in_xmp_turns_nothing(kind: str) -> None:
    file = encoded(four_corners(), kind, xmp=SIDEWAYS_XMP)

    normal = normalize(file, content_type_of(kind))

    assert normal.width == 48
    assert normal.height == 32


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        pytest.param(
            "XML:com.adobe.xmp",
            SIDEWAYS_XMP.decode(),
            id="XMP",
        ),
        pytest.param(
            "Raw profile type exif",
            f"\nexif\n      36\n{exif_with_orientation(6).hex()}\n",
            id="EXIF",
        ),
    ],
)
def test_an_orientation_in_the_text_of_a_png_turns_nothing(
    keyword: str,
    text: str,
    is_compressed: bool,
) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_itxt(keyword, text, zip=is_compressed)
    file = encoded(four_corners(), "PNG", pnginfo=info)

    normal = normalize(file, "image/png")

    assert normal.width == 48
    assert normal.height == 32


def test_broken_exif_turns_nothing() -> None:
    exif = b"Exif\0\0no EXIF at all"
    file = encoded(four_corners(), "JPEG", exif=exif)

    normal = normalize(file, "image/jpeg")

    assert normal.width == 48


# Metadata -----------------------------------------------------------------------------


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
    file = encoded(four_corners(), kind, **options)

    normal = normalize(file, content_type_of(kind))

    image = decode(normal.data)
    metadata = METADATA & image.info.keys()
    uploaded_colors = corner_colors(decode(file))
    assert metadata == set()
    assert are_near(uploaded_colors, corner_colors(image))


@pytest.mark.parametrize("key", ["icc_profile", "pnginfo"])
def test_a_png_with_some_megabytes_of_metadata_is_read(key: str) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", "<x/>" * 1_000_000, zip=True)
    metadata = {
        "icc_profile": srgb_profile() + bytes(3 << 20),
        "pnginfo": text,
    }
    option = {key: metadata[key]}
    file = encoded(four_corners(), "PNG", **option)

    normal = normalize(file, "image/png")

    assert normal.width == 48


def with_wrong_checksum(kind: bytes, body: bytes) -> bytes:
    chunk = png_chunk(kind, body)
    return chunk[:-1] + b"\0"


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(
            png_chunk(b"zTXt", b"Title\0\x07words"),
            id="a text with an unknown compression",
        ),
        pytest.param(
            png_chunk(b"zTXt", b"Title\0\0words"),
            id="a text that does not inflate",
        ),
        pytest.param(
            png_chunk(b"iTXt", b"Title\0\x01\0\0\0words"),
            id="an international text that does not inflate",
        ),
        pytest.param(
            png_chunk(b"iCCP", b"sRGB\0\x07words"),
            id="a profile with an unknown compression",
        ),
        pytest.param(
            png_chunk(b"iCCP", b"sRGB\0\0words"),
            id="a profile that does not inflate",
        ),
        pytest.param(
            png_chunk(b"iCCP", b""),
            id="a profile without a name",
        ),
        pytest.param(
            png_chunk(b"gAMA", b"\0"),
            id="a gamma that is cut off",
        ),
        pytest.param(
            png_chunk(b"pHYs", b"\0"),
            id="a pixel size that is cut off",
        ),
        pytest.param(
            with_wrong_checksum(b"tEXt", b"Title\0words"),
            id="a text with a wrong checksum",
        ),
        pytest.param(
            with_wrong_checksum(b"iCCP", b"sRGB\0\0"),
            id="a profile with a wrong checksum",
        ),
        pytest.param(
            with_wrong_checksum(b"eXIf", b"MM\0*"),
            id="EXIF with a wrong checksum",
        ),
        pytest.param(
            with_wrong_checksum(b"abCd", b"x"),
            id="an unknown chunk with a wrong checksum",
        ),
    ],
)
@pytest.mark.parametrize("before", [b"IDAT", b"IEND"])
def test_a_damaged_chunk_of_a_png_that_no_pixel_needs_is_ignored(
    chunk: bytes,
    before: bytes,
) -> None:
    source = encoded(four_corners(), "PNG")
    place = source.index(before) - 4
    damaged = source[:place] + chunk + source[place:]

    of_damaged = normalize(damaged, "image/png")
    of_source = normalize(source, "image/png")

    assert of_damaged.data == of_source.data


# Readers ------------------------------------------------------------------------------

WITHOUT_PLUGIN = """
import sys
from pathlib import Path

sys.modules["pillow_avif"] = None
from image_workflow_emulator.imaging.normalize import normalize

file = Path(sys.argv[1]).read_bytes()
normal = normalize(file, "image/avif")
print(normal.format, normal.width, normal.height)
"""


@pytest.mark.skipif(not features.check("avif"), reason="Pillow has no AVIF here")
def test_without_the_plugin_avif_is_read_by_pillow(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(encoded(four_corners(), "AVIF"))

    outcome = run_program(sys.executable, "-c", WITHOUT_PLUGIN, str(path))

    assert outcome.output == "jpeg 48 32\n"
