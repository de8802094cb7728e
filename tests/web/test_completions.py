"""From accepted bytes to an Asset: refusals, and what becomes of the five formats (D17, D18)."""

import pytest

from emulator.imaging.helpers import Helpers, LostHelperError
from tests.support.emulator_client import INVALID_INPUT, EmulatorUnderTest
from tests.support.pictures import SIZE, decode

FORMATS = {"image/jpeg": "jpeg", "image/png": "png", "image/gif": "png", "image/webp": "webp", "image/avif": "jpeg"}


@pytest.mark.parametrize("content_type", FORMATS)
def test_each_format_becomes_an_asset_of_its_normalized_format(emulator: EmulatorUnderTest, content_type: str) -> None:
    answer = emulator.complete(*emulator.ready_upload(None, content_type))
    asset = answer.json
    file = emulator.fetch(asset["url"])
    image = decode(file.body)
    assert emulator.get(answer.headers["location"]).json == asset
    assert (asset["format"], asset["source"], asset["source_generation_id"]) == (FORMATS[content_type], "upload", None)
    assert (asset["width"], asset["height"], asset["size_bytes"]) == (*SIZE, len(file.body))
    assert (image.format, image.size) == (FORMATS[content_type].upper(), SIZE)
    assert file.headers["content-type"] == f"image/{FORMATS[content_type]}"


@pytest.mark.parametrize("token", ["", "x", "upt_" + "0" * 32, "string", "\ud7ff", "a" * 100_000, "another session's"])
def test_a_wrong_token_is_refused_and_the_right_one_serves_once(emulator: EmulatorUnderTest, token: str) -> None:
    """D17, D49."""
    (session, right), (_, another) = emulator.ready_upload(), emulator.ready_upload()
    wrong = another if token == "another session's" else token
    found = [emulator.complete(session, said).outcome for said in (wrong, right, right)]
    assert found == [INVALID_INPUT, (201, "asset"), (404, "upload_not_found")]


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
