"""Generations, beside what the model says of them: what is refused, and what the pictures show (sections 1 to 4)."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    INVALID_INPUT,
    INVALID_REFERENCE,
    Answer,
    EmulatorUnderTest,
    Json,
    MakeEmulator,
)
from tests.support.pictures import decode, picture

EDIT: Json = {"instructions": "On a table.", "aspect_ratio": "4:5", "resolution": "1k", "output_format": "png"}


def edit(emulator: EmulatorUnderTest, asset_ids: list[str], **fields: Any) -> Answer:
    return emulator.post("/generations/edit-images", EDIT | {"asset_ids": asset_ids} | fields)


def asset_of(emulator: EmulatorUnderTest, generation: Json, slot: int = 0) -> Json:
    return dict(emulator.get(f"/assets/{generation['outputs'][slot]['asset']['id']}").json)


# Admission ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields", [{"output_mode": "photoshoot", "image_count": 1}, {"asset_ids": []}, {"product_ids": [], "asset_ids": []}]
)
def test_fields_that_contradict_each_other_are_refused(emulator: EmulatorUnderTest, fields: Json) -> None:
    """D32 to D34; what a single field may be, Schemathesis asks of the contract."""
    body: Json = {"asset_ids": ["a"]} | fields
    assert emulator.photograph(**body).outcome == INVALID_INPUT


def test_an_empty_reference_is_one_to_nothing(emulator: EmulatorUnderTest, asset_id: str) -> None:
    assert emulator.photograph(asset_ids=[asset_id], pose_id="").outcome == INVALID_REFERENCE


# Outputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output_format", ["png", "webp"])
def test_a_transparent_background_is_really_transparent(emulator: EmulatorUnderTest, output_format: str) -> None:
    generation = emulator.photograph(background={"type": "transparent"}, output_format=output_format).json
    asset = asset_of(emulator, emulator.wait_for(generation))
    alpha = decode(emulator.fetch(asset["url"]).body).convert("RGBA").getchannel("A")
    assert alpha.getextrema() == (0, 255)


def test_a_picture_is_what_its_inputs_were_at_admission_whatever_becomes_of_them(make_emulator: MakeEmulator) -> None:
    files = []
    for changes in (False, True):
        emulator = make_emulator()
        background, asset = emulator.author("background"), emulator.upload(picture(size=(64, 48)))["id"]
        other = emulator.upload(picture(colour="#00ff00"))["id"]
        selection = {"type": "background", "background_id": background["id"]}
        works = [emulator.photograph(asset_ids=[asset], background=selection).json, edit(emulator, [asset]).json]
        if changes:
            emulator.patch(f"/backgrounds/{background['id']}", {"asset_id": other})
            assert emulator.delete(f"/assets/{asset}").status == 200
        done = [emulator.wait_for(work) for work in works]
        files.append([emulator.fetch(asset_of(emulator, work)["url"]).body for work in done])
    assert files[0] == files[1]
