"""Spoiled pictures become an Asset that is what it says, or are refused and leave nothing (D17, D18)."""

import pytest

from image_workflow_emulator.imaging.normalize import CONTENT_TYPES
from tests.fuzzing.cases import amounts, cases
from tests.fuzzing.spoiled_pictures import spoiled
from tests.support.emulator_client import EmulatorUnderTest, Json
from tests.support.pictures import decode

STORED_AS = {"jpeg": ["jpeg"], "png": ["png"], "gif": ["png"], "webp": ["webp"], "avif": ["jpeg", "png"]}
"""By the format of an upload, those in which it may be kept."""


@pytest.mark.parametrize("amount", amounts(25, 2_000))
@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_spoiled_picture_becomes_an_asset_or_leaves_nothing(
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
    assert control.complete(session, sent.json["upload_token"]).outcome == (404, "upload_not_found")
    assert before == [*control.sandbox.store.assets.items]
    return None


def check(control: EmulatorUnderTest, asset: Json, content_type: str) -> None:
    answer = control.fetch(asset["url"])
    image = decode(answer.body)
    assert (len(answer.body), answer.headers["content-type"]) == (asset["size_bytes"], f"image/{asset['format']}")
    assert asset["format"] in STORED_AS[content_type.removeprefix("image/")]
    assert (asset["format"].upper(), asset["width"], asset["height"]) == (image.format, image.width, image.height)
    assert getattr(image, "n_frames", 1) == 1
    assert not {"exif", "icc_profile", "comment", "xmp"} & image.info.keys()
