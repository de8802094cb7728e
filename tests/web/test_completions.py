"""From accepted bytes to an Asset: refusals, and what becomes of the five formats (D17, D18)."""

import struct
import zlib

import pytest

from emulator.imaging.helpers import Helpers, LostHelperError
from tests.support.emulator_client import OTHER, Answer, EmulatorUnderTest
from tests.support.pictures import SIZE, decode, picture

WINDOW = 15 * 60
FORMATS = {
    "image/jpeg": "jpeg",
    "image/png": "png",
    "image/gif": "png",
    "image/webp": "webp",
    "image/avif": "jpeg",
}


def exchange(emulator: EmulatorUnderTest, data: bytes, content_type: str = "image/png") -> Answer:
    session = emulator.open_upload(len(data), content_type)
    token = emulator.send_bytes(session, data).json["upload_token"]
    return emulator.complete(session, token)


def bomb(width: int, height: int) -> bytes:
    """Return a PNG of a few bytes that announces a picture of any size."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("content_type", FORMATS)
def test_each_format_becomes_an_asset_of_its_normalized_format(emulator: EmulatorUnderTest, content_type: str) -> None:
    answer = exchange(emulator, picture(content_type), content_type)
    asset = answer.json
    file = emulator.fetch(asset["url"])
    image = decode(file.body)
    assert (answer.status, asset["format"], asset["source"], asset["source_generation_id"]) == (
        201,
        FORMATS[content_type],
        "upload",
        None,
    )
    assert (asset["width"], asset["height"], asset["size_bytes"]) == (*SIZE, len(file.body))
    assert (image.format, image.size) == (FORMATS[content_type].upper(), SIZE)
    assert file.headers["content-type"] == f"image/{FORMATS[content_type]}"


def test_the_answer_says_where_the_asset_is(emulator: EmulatorUnderTest) -> None:
    answer = exchange(emulator, picture())
    assert emulator.get(answer.headers["location"]).json == answer.json


REFUSED = {
    "no picture": (b"no picture at all", "image/png"),
    "one byte": (b"\x89", "image/png"),
    "a JPEG called PNG": (picture("image/jpeg"), "image/png"),
    "a PNG called JPEG": (picture("image/png"), "image/jpeg"),
    "a GIF called WebP": (picture("image/gif"), "image/webp"),
    "a WebP called AVIF": (picture("image/webp"), "image/avif"),
    "a PNG called GIF": (picture("image/png"), "image/gif"),
    "a text called SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png"),
    "a BMP": (b"BM" + b"\0" * 60, "image/png"),
    "a PNG's first bytes": (picture("image/png")[:8], "image/png"),
    "100 megapixels and one row": (bomb(10_000, 10_001), "image/png"),
    "a picture beyond all bounds": (bomb(2**31 - 1, 2**31 - 1), "image/png"),
    "a picture without width": (bomb(0, 10), "image/png"),
    **{
        f"a truncated {content_type}": (picture(content_type, (200, 150))[:-60], content_type)
        for content_type in ("image/jpeg", "image/png", "image/webp", "image/avif")
    },
    **{
        f"half a {content_type}": (
            picture(content_type, (200, 150))[: -len(picture(content_type, (200, 150))) // 2],
            content_type,
        )
        for content_type in FORMATS
    },
    **{
        f"a hollow {content_type}": (
            picture(content_type)[:16] + b"\xff" * (len(picture(content_type)) - 16),
            content_type,
        )
        for content_type in FORMATS
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_bytes_that_are_no_whole_picture_of_their_type_are_refused(emulator: EmulatorUnderTest, case: str) -> None:
    """D17; and the session has failed: no Asset, no bytes, and a second try is not found."""
    data, content_type = REFUSED[case]
    before = emulator.sandbox.images.held_bytes
    session = emulator.open_upload(len(data), content_type)
    token = emulator.send_bytes(session, data).json["upload_token"]
    assert emulator.complete(session, token).outcome == (422, "invalid_input")
    assert emulator.complete(session, token).outcome == (404, "upload_not_found")
    assert emulator.items("/assets") == []
    assert emulator.sandbox.images.held_bytes == before


@pytest.mark.parametrize("token", ["", "x", "upt_" + "0" * 32, "string", "\ud7ff", "a" * 100_000])
def test_a_wrong_token_is_refused_and_the_right_one_still_serves(emulator: EmulatorUnderTest, token: str) -> None:
    """D17, D49."""
    session = emulator.open_upload(len(picture()))
    right = emulator.send_bytes(session, picture()).json["upload_token"]
    assert emulator.complete(session, token).outcome == (422, "invalid_input")
    assert emulator.complete(session, right).status == 201


def test_the_token_of_another_session_is_a_wrong_one(emulator: EmulatorUnderTest) -> None:
    sessions = [emulator.open_upload(len(picture())) for _ in range(2)]
    tokens = [emulator.send_bytes(session, picture()).json["upload_token"] for session in sessions]
    assert emulator.complete(sessions[0], tokens[1]).outcome == (422, "invalid_input")


def test_without_bytes_there_is_nothing_to_complete(emulator: EmulatorUnderTest) -> None:
    """D17."""
    session = emulator.open_upload(5)
    assert emulator.complete(session, "x").outcome == (422, "invalid_input")


def test_a_session_serves_once(emulator: EmulatorUnderTest) -> None:
    """D17."""
    session = emulator.open_upload(len(picture()))
    token = emulator.send_bytes(session, picture()).json["upload_token"]
    found = [emulator.complete(session, token).outcome for _ in range(2)]
    assert found == [(201, "asset"), (404, "upload_not_found")]


@pytest.mark.parametrize("with_bytes", [True, False])
def test_past_its_window_a_session_has_expired_to_the_millisecond(
    emulator: EmulatorUnderTest, with_bytes: bool
) -> None:
    """D17."""
    session = emulator.open_upload(len(picture()))
    token = emulator.send_bytes(session, picture()).json["upload_token"] if with_bytes else "x"
    emulator.advance(WINDOW)
    assert emulator.complete(session, token).outcome == (410, "upload_expired")


def test_a_session_can_be_completed_in_the_last_millisecond_of_its_window(emulator: EmulatorUnderTest) -> None:
    session = emulator.open_upload(len(picture()))
    token = emulator.send_bytes(session, picture()).json["upload_token"]
    emulator.advance(WINDOW - 0.001)
    assert emulator.complete(session, token).status == 201


@pytest.mark.parametrize("upload_id", ["x", "upl_" + "0" * 26, "%20", "ast_1"])
def test_an_unknown_session_is_not_found(emulator: EmulatorUnderTest, upload_id: str) -> None:
    answer = emulator.post(f"/uploads/{upload_id}/complete", {"upload_token": "x"})
    assert answer.outcome == (404, "upload_not_found")


def test_the_session_of_another_team_is_not_found(emulator: EmulatorUnderTest) -> None:
    session = emulator.open_upload(len(picture()))
    token = emulator.send_bytes(session, picture()).json["upload_token"]
    assert emulator.complete(session, token, OTHER).outcome == (404, "upload_not_found")


def test_uploads_cost_no_credits_and_no_place_in_the_budget(emulator: EmulatorUnderTest) -> None:
    emulator.assets(2)
    team = emulator.get("/team").json
    assert (team["credits"], team["capabilities"]["api_concurrency"]["used"]) == (100, 0)


def test_the_same_file_twice_makes_two_assets(emulator: EmulatorUnderTest) -> None:
    one, two = emulator.assets(2)
    assert one != two


def test_bytes_that_cost_their_helper_are_refused_like_what_is_no_image(
    emulator: EmulatorUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lose(*_: object) -> None:
        raise LostHelperError

    session = emulator.open_upload(len(picture()))
    token = {"upload_token": emulator.send_bytes(session, picture()).json["upload_token"]}
    monkeypatch.setattr(Helpers, "run", lose)
    refused = emulator.post(f"/uploads/{session['id']}/complete", token)
    assert (refused.outcome, "time or memory" in refused.json["detail"]) == ((422, "invalid_input"), True)
    assert emulator.post(f"/uploads/{session['id']}/complete", token).outcome == (404, "upload_not_found")
