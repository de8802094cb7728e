"""From accepted bytes to an Asset: refusals, and what becomes of the five formats (D17, D18)."""

import pytest

from emulator.imaging.helpers import Helpers, LostHelperError
from tests.support.emulator_client import INVALID_INPUT, OTHER, Answer, EmulatorUnderTest
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
    return emulator.complete(*emulator.ready_upload(data, content_type))


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


@pytest.mark.parametrize(
    ("data", "content_type"),
    [(b"no picture at all", "image/png"), (picture()[:-20], "image/png"), (picture(), "image/jpeg")],
    ids=["no picture", "half a picture", "another format"],
)
def test_bytes_that_are_no_whole_picture_of_their_type_are_refused(
    emulator: EmulatorUnderTest, data: bytes, content_type: str
) -> None:
    """D17; and the session has failed: no Asset, no bytes, and a second try is not found."""
    before = emulator.sandbox.images.held_bytes
    session, token = emulator.ready_upload(data, content_type)
    assert emulator.complete(session, token).outcome == INVALID_INPUT
    assert emulator.complete(session, token).outcome == (404, "upload_not_found")
    assert emulator.items("/assets") == []
    assert emulator.sandbox.images.held_bytes == before


@pytest.mark.parametrize("token", ["", "x", "upt_" + "0" * 32, "string", "\ud7ff", "a" * 100_000])
def test_a_wrong_token_is_refused_and_the_right_one_still_serves(emulator: EmulatorUnderTest, token: str) -> None:
    """D17, D49."""
    session, right = emulator.ready_upload()
    assert emulator.complete(session, token).outcome == INVALID_INPUT
    assert emulator.complete(session, right).status == 201


def test_the_token_of_another_session_is_a_wrong_one(emulator: EmulatorUnderTest) -> None:
    (session, _), (_, token) = emulator.ready_upload(), emulator.ready_upload()
    assert emulator.complete(session, token).outcome == INVALID_INPUT


def test_without_bytes_there_is_nothing_to_complete(emulator: EmulatorUnderTest) -> None:
    """D17."""
    session = emulator.open_upload(5)
    assert emulator.complete(session, "x").outcome == INVALID_INPUT


def test_a_session_serves_once(emulator: EmulatorUnderTest) -> None:
    """D17."""
    ready = emulator.ready_upload()
    found = [emulator.complete(*ready).outcome for _ in range(2)]
    assert found == [(201, "asset"), (404, "upload_not_found")]


@pytest.mark.parametrize("with_bytes", [True, False])
def test_past_its_window_a_session_has_expired_to_the_millisecond(
    emulator: EmulatorUnderTest, with_bytes: bool
) -> None:
    """D17."""
    session, token = emulator.ready_upload() if with_bytes else (emulator.open_upload(5), "x")
    emulator.advance(WINDOW)
    assert emulator.complete(session, token).outcome == (410, "upload_expired")


def test_a_session_can_be_completed_in_the_last_millisecond_of_its_window(emulator: EmulatorUnderTest) -> None:
    ready = emulator.ready_upload()
    emulator.advance(WINDOW - 0.001)
    assert emulator.complete(*ready).status == 201


@pytest.mark.parametrize("upload_id", ["x", "upl_" + "0" * 26, "%20", "ast_1"])
def test_an_unknown_session_is_not_found(emulator: EmulatorUnderTest, upload_id: str) -> None:
    answer = emulator.post(f"/uploads/{upload_id}/complete", {"upload_token": "x"})
    assert answer.outcome == (404, "upload_not_found")


def test_the_session_of_another_team_is_not_found(emulator: EmulatorUnderTest) -> None:
    assert emulator.complete(*emulator.ready_upload(), OTHER).outcome == (404, "upload_not_found")


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

    ready = emulator.ready_upload()
    monkeypatch.setattr(Helpers, "run", lose)
    refused = emulator.complete(*ready)
    assert (refused.outcome, "time or memory" in refused.json["detail"]) == (INVALID_INPUT, True)
    assert emulator.complete(*ready).outcome == (404, "upload_not_found")
