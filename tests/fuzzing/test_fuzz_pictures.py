"""Spoiled pictures become an Asset that is what it says, or are refused and leave nothing (D17, D18).

The check sums of a spoiled PNG hold, for otherwise its decoder never comes to see what is wrong.
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
from tests.support.emulator_client import EmulatorUnderTest, Json
from tests.support.pictures import decode, encode, png_chunk

STORED_AS = {
    "jpeg": ["jpeg"],
    "png": ["png"],
    "gif": ["png"],
    "webp": ["webp"],
    "avif": ["jpeg", "png"],
}
"""Formats in which an upload of each format may be kept."""


@pytest.mark.parametrize("amount", amounts(25, 2_000))
@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_spoiled_picture_is_an_asset_or_nothing(
    control: EmulatorUnderTest, content_type: str, amount: int
) -> None:
    accepted = 0
    for case in cases(content_type, amount):
        if case.begins_an_episode:
            control.ask("POST", "/reset")
        data = spoiled(content_type, case.chance)
        with case.told(data=data.hex()):
            asset = bring_in(control, data, content_type)
            if asset is not None:
                accepted += 1
                check(control, asset, content_type)
                assert control.delete(f"/assets/{asset['id']}").status == 200
            assert control.sandbox.images.held_bytes == 0
    assert 0.05 * amount < accepted < 0.95 * amount, "the fuzzer has lost its way"


def bring_in(control: EmulatorUnderTest, data: bytes, content_type: str) -> Json | None:
    """Upload a file: the Asset, or None if it is refused as it must be."""
    session = control.open_upload(len(data), content_type)
    sent = control.send_bytes(session, data)
    assert sent.status == 200
    before = [*control.sandbox.store.assets.items]
    answer = control.complete(session, sent.json["upload_token"])
    if answer.status == 201:
        return dict(answer.json)
    assert answer.outcome == (422, "invalid_input")
    assert control.complete(session, sent.json["upload_token"]).outcome == (
        404,
        "upload_not_found",
    )
    assert before == [*control.sandbox.store.assets.items]
    return None


def check(control: EmulatorUnderTest, asset: Json, content_type: str) -> None:
    answer = control.fetch(asset["url"])
    image = decode(answer.body)
    assert (len(answer.body), answer.headers["content-type"]) == (
        asset["size_bytes"],
        f"image/{asset['format']}",
    )
    assert asset["format"] in STORED_AS[content_type.removeprefix("image/")]
    assert (asset["format"].upper(), asset["width"], asset["height"]) == (
        image.format,
        image.width,
        image.height,
    )
    assert getattr(image, "n_frames", 1) == 1
    assert not {"exif", "icc_profile", "comment", "xmp"} & image.info.keys()


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
_PNG_START = b"\x89PNG\r\n\x1a\n"


@cache
def sources(content_type: str) -> tuple[bytes, ...]:
    """Small files of a format, of as many structures as it has."""
    base = Image.linear_gradient("L").resize((48, 40)).convert("RGB")
    ImageDraw.Draw(base).ellipse((10, 8, 36, 32), fill="#703010")
    clear = base.convert("RGBA")
    clear.putalpha(Image.linear_gradient("L").resize((48, 40)))
    exif = Image.Exif()
    exif[0x0112] = 6
    frames: dict[str, Any] = {
        "save_all": True,
        "append_images": [base.rotate(90)],
        "duration": 40,
    }
    kinds: list[tuple[Image.Image, dict[str, Any]]]
    match content_type:
        case "image/jpeg":
            kinds = [
                (base, {"exif": exif, "comment": b"words"}),
                (base, {"progressive": True}),
                (base.convert("L"), {}),
            ]
            kinds += [
                (base.convert("CMYK"), {"restart_marker_rows": 1}),
                (base, {"subsampling": 2, "quality": 5}),
            ]
        case "image/png":
            kinds = [
                (base, {"exif": exif, "dpi": (72, 72)}),
                (clear, {}),
                (base.quantize(8), {"transparency": 1}),
            ]
            kinds += [
                (base.convert("1"), {}),
                (Image.new("I;16", (9, 7), 700), {}),
                (clear, frames),
            ]
        case "image/gif":
            kinds = [
                (base.quantize(8), {"comment": b"words"}),
                (base, frames),
                (base.quantize(2), {"transparency": 0}),
            ]
            kinds += [(base.quantize(200), {"interlace": 0})]
        case "image/webp":
            kinds = [
                (base, {}),
                (clear, {"exif": exif}),
                (clear, {"lossless": True}),
                (clear, frames),
            ]
        case _:
            kinds = [
                (base, {"speed": 10}),
                (clear, {"speed": 10, "exif": exif}),
                (base, {"speed": 10, **frames}),
            ]
    return tuple(encode(image, content_type, **options) for image, options in kinds)


def spoiled(content_type: str, chance: Random) -> bytes:
    """Return a file of a format with something wrong."""
    data = chance.choice(sources(content_type))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = chance.choice(
            (changed_bytes, with_another_number, with_a_piece_elsewhere)
        )(data, chance)
    return (with_check_sums(data, chance) if content_type == "image/png" else data)[
        :LONGEST
    ] or b"\0"


def with_another_number(data: bytes, chance: Random) -> bytes:
    """Return a file in which one number is another: one at the edge of what it can be, or one that is near."""
    form = chance.choice((">B", ">H", "<H", ">I", "<I"))
    size = struct.calcsize(form)
    place = chance.randrange(min(max(len(data) - size, 1), HEAD_BYTES))
    if len(data) < place + size:
        return data + b"\0"
    (old,) = struct.unpack_from(form, data, place)
    new = chance.choice((*EDGES, old + 1, old - 1, old * 2)) % (1 << 8 * size)
    return data[:place] + struct.pack(form, new) + data[place + size :]


def with_a_piece_elsewhere(data: bytes, chance: Random) -> bytes:
    """Return a file with a piece of it put somewhere else, once or many times."""
    start, place = chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)
    piece = data[start : start + chance.choice((4, 12, 40, 400))]
    return data[:place] + piece * chance.choice((1, 1, 2, 400)) + data[place:]


def with_check_sums(data: bytes, chance: Random) -> bytes:
    """Return a PNG whose chunks have the check sums that belong to them; some of its rows are compressed anew."""
    position, chunks = len(_PNG_START), [_PNG_START]
    while position + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        body = data[position + 8 : position + 8 + length]
        chunks.append(
            png_chunk(kind, with_other_rows(body, chance) if kind == b"IDAT" else body)
        )
        position += 12 + length
    return b"".join(chunks)


def with_other_rows(body: bytes, chance: Random) -> bytes:
    """Return picture data that inflates to something else, at times: too little, too much, other filters."""
    try:
        rows = zlib.decompressobj().decompress(body, 1 << 20)
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
    return zlib.compress(
        chance.choice((rows, rows, rows, rows, *others)), chance.choice((0, 1, 9))
    )
