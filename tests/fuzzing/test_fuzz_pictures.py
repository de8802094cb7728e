"""Spoiled pictures become an Asset that is what it says, or are refused and leave
nothing (D17, D18).

The check sums of a spoiled PNG hold, for otherwise its decoder never comes to see what
is wrong.
"""

import struct
import zlib
from functools import cache
from random import Random
from typing import Any

import pytest
from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.fuzzing.cases import amounts, cases, changed_bytes
from tests.support.emulator_client import Json
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import decode, encode, png_chunk

STORED_AS = {
    "image/jpeg": ["jpeg"],
    "image/png": ["png"],
    "image/gif": ["png"],
    "image/webp": ["webp"],
    "image/avif": ["jpeg", "png"],
}
"""Formats in which an upload of each format may be kept."""
METADATA = {"exif", "icc_profile", "comment", "xmp"}


@pytest.mark.parametrize("amount", amounts(25, 2_000))
@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_spoiled_picture_is_an_asset_or_nothing(
    control: EmulatorUnderTest,
    content_type: str,
    amount: int,
) -> None:
    accepted = 0
    for case in cases(content_type, amount):
        if case.begins_an_episode:
            control.ask("POST", "/reset")
        file = spoiled(content_type, case.chance)
        with case.told(data=file.hex()):
            asset = upload(control, file, content_type)
            if asset is not None:
                accepted += 1
                check(control, asset, content_type)
                deletion = control.delete(f"/assets/{asset['id']}")
                assert deletion.status == 200
            assert control.sandbox.images.held_bytes == 0

    assert accepted > 0.05 * amount, "the fuzzer spoils too much"
    assert accepted < 0.95 * amount, "the fuzzer spoils too little"


def upload(
    control: EmulatorUnderTest,
    file: bytes,
    content_type: str,
) -> Json | None:
    """Upload a file: the Asset, or None if it is refused as it must be."""
    session = control.open_upload(len(file), content_type)
    sent = control.send_bytes(session, file)
    assert sent.status == 200
    assets_before = [*control.sandbox.store.assets.items]

    answer = control.complete(session, sent.json["upload_token"])

    if answer.status == 201:
        return dict(answer.json)
    assert answer.status == 422
    assert answer.code == "invalid_input"
    again = control.complete(session, sent.json["upload_token"])
    assert again.status == 404
    assert again.code == "upload_not_found"
    assets = [*control.sandbox.store.assets.items]
    assert assets == assets_before
    return None


def check(
    control: EmulatorUnderTest,
    asset: Json,
    content_type: str,
) -> None:
    """Check that the file of an Asset is what the Asset says."""
    answer = control.fetch(asset["url"])
    image = decode(answer.body)
    assert len(answer.body) == asset["size_bytes"]
    assert answer.headers["content-type"] == f"image/{asset['format']}"
    assert asset["format"] in STORED_AS[content_type]
    assert image.format == asset["format"].upper()
    assert image.width == asset["width"]
    assert image.height == asset["height"]
    assert getattr(image, "n_frames", 1) == 1
    assert METADATA & image.info.keys() == set()


# Sound files --------------------------------------------------------------------------

SIZE = (48, 40)


def gradient() -> Image.Image:
    return Image.linear_gradient("L").resize(SIZE)


def opaque() -> Image.Image:
    thing = (10, 8, 36, 32)
    image = gradient().convert("RGB")
    draw = ImageDraw.Draw(image)
    draw.ellipse(thing, fill="#703010")
    return image


def see_through() -> Image.Image:
    image = opaque().convert("RGBA")
    image.putalpha(gradient())
    return image


def turned() -> Image.Exif:
    """Metadata by which a picture is shown on its side."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def animated() -> dict[str, Any]:
    """Options by which a picture is written with a second frame."""
    second = opaque().rotate(90)
    return {
        "save_all": True,
        "append_images": [second],
        "duration": 40,
    }


def jpeg_files() -> list[bytes]:
    picture = opaque()
    grey = picture.convert("L")
    cmyk = picture.convert("CMYK")
    return [
        encode(picture, "image/jpeg", exif=turned(), comment=b"words"),
        encode(picture, "image/jpeg", progressive=True),
        encode(grey, "image/jpeg"),
        encode(cmyk, "image/jpeg", restart_marker_rows=1),
        encode(picture, "image/jpeg", subsampling=2, quality=5),
    ]


def png_files() -> list[bytes]:
    picture = opaque()
    grey = picture.convert("L")
    black_and_white = picture.convert("1")
    deep = Image.new("I;16", (9, 7), 700)
    glass = see_through()
    grey_glass = glass.convert("LA")
    return [
        encode(picture, "image/png", exif=turned(), dpi=(72, 72)),
        encode(picture, "image/png", transparency=(112, 48, 16)),
        encode(grey, "image/png", transparency=90),
        encode(glass, "image/png"),
        encode(grey_glass, "image/png"),
        encode(picture.quantize(8), "image/png", transparency=1),
        encode(black_and_white, "image/png"),
        encode(deep, "image/png"),
        encode(glass, "image/png", **animated()),
    ]


def gif_files() -> list[bytes]:
    picture = opaque()
    return [
        encode(picture.quantize(8), "image/gif", comment=b"words"),
        encode(picture, "image/gif", **animated()),
        encode(picture.quantize(2), "image/gif", transparency=0),
        encode(picture.quantize(200), "image/gif", interlace=0),
    ]


def webp_files() -> list[bytes]:
    glass = see_through()
    return [
        encode(opaque(), "image/webp"),
        encode(glass, "image/webp", exif=turned()),
        encode(glass, "image/webp", lossless=True),
        encode(glass, "image/webp", **animated()),
    ]


def avif_files() -> list[bytes]:
    picture = opaque()
    glass = see_through()
    return [
        encode(picture, "image/avif", speed=10),
        encode(glass, "image/avif", speed=10, exif=turned()),
        encode(picture, "image/avif", speed=10, **animated()),
    ]


FILES = {
    "image/jpeg": jpeg_files,
    "image/png": png_files,
    "image/gif": gif_files,
    "image/webp": webp_files,
    "image/avif": avif_files,
}


@cache
def sources(content_type: str) -> list[bytes]:
    """Small files of a format, of as many structures as it has."""
    make_files = FILES[content_type]
    return make_files()


# Damage -------------------------------------------------------------------------------

LONGEST = 300_000
"""Bytes of a file; more is cut off."""
EDGES = (
    0,
    1,
    2,
    7,
    0x7F,
    0xFF,
    256,
    4_000,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
)
HEAD_BYTES = 400
"""Length of the part in which most numbers of a small file are."""
PNG_START = b"\x89PNG\r\n\x1a\n"


def spoiled(content_type: str, chance: Random) -> bytes:
    """Return a file of a format with something wrong."""
    file = chance.choice(sources(content_type))
    times = chance.choice((1, 1, 1, 2, 4))
    for _ in range(times):
        damage = chance.choice(DAMAGES)
        file = damage(file, chance)
    if content_type == "image/png":
        file = with_check_sums(file, chance)
    return file[:LONGEST] or b"\0"


def with_another_number(file: bytes, chance: Random) -> bytes:
    """Return a file in which one number is another: an extreme one, or one that is
    near.
    """
    form = chance.choice((">B", ">H", "<H", ">I", "<I"))
    size = struct.calcsize(form)
    places = max(len(file) - size, 1)
    place = chance.randrange(min(places, HEAD_BYTES))
    end = place + size
    if len(file) < end:
        return file + b"\0"
    (old,) = struct.unpack_from(form, file, place)
    number = chance.choice((*EDGES, old + 1, old - 1, old * 2))
    number %= 1 << 8 * size
    before = file[:place]
    after = file[end:]
    return before + struct.pack(form, number) + after


def with_a_piece_elsewhere(file: bytes, chance: Random) -> bytes:
    """Return a file with a piece of it put somewhere else, once or many times."""
    start = chance.randrange(len(file) + 1)
    place = chance.randrange(len(file) + 1)
    length = chance.choice((4, 12, 40, 400))
    times = chance.choice((1, 1, 2, 400))
    piece = file[start : start + length]
    before = file[:place]
    after = file[place:]
    return before + piece * times + after


DAMAGES = (changed_bytes, with_another_number, with_a_piece_elsewhere)


def with_check_sums(file: bytes, chance: Random) -> bytes:
    """Return a PNG whose chunks have the check sums that belong to them.

    Some of its rows are compressed anew.
    """
    position = len(PNG_START)
    chunks = [PNG_START]
    while position + 12 <= len(file):
        length, kind = struct.unpack_from(">I4s", file, position)
        start = position + 8
        body = file[start : start + length]
        if kind == b"IDAT":
            body = with_other_rows(body, chance)
        chunks.append(png_chunk(kind, body))
        position += 12 + length
    return b"".join(chunks)


def with_other_rows(body: bytes, chance: Random) -> bytes:
    """Return picture data that at times inflates to too little, too much, or other
    filters.
    """
    decompressor = zlib.decompressobj()
    try:
        rows = decompressor.decompress(body, 1 << 20)
    except zlib.error:
        return body
    others = (
        rows[:-1],
        rows[: len(rows) // 2],
        rows * 3,
        b"",
        changed_bytes(rows, chance),
        b"\x05" + rows[1:],
    )
    chosen = chance.choice((rows, rows, rows, rows, *others))
    level = chance.choice((0, 1, 9))
    return zlib.compress(chosen, level)
