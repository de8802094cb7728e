"""Generations and ingredients, beside what the model says of them (sections 1 to 4, D20 to D31)."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    INGREDIENT_PATHS,
    INVALID_INPUT,
    INVALID_REFERENCE,
    KINDS,
    SOURCES,
    Answer,
    EmulatorUnderTest,
    Json,
    MakeEmulator,
    ingredient_body,
    source_fields,
)
from tests.support.pictures import decode, picture

EDIT: Json = {
    "instructions": "On a table.",
    "aspect_ratio": "4:5",
    "resolution": "1k",
    "output_format": "png",
}


def edit(emulator: EmulatorUnderTest, asset_ids: list[str], **fields: Any) -> Answer:
    return emulator.post(
        "/generations/edit-images", EDIT | {"asset_ids": asset_ids} | fields
    )


def asset_of(emulator: EmulatorUnderTest, generation: Json, slot: int = 0) -> Json:
    return dict(
        emulator.get(f"/assets/{generation['outputs'][slot]['asset']['id']}").json
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"output_mode": "photoshoot", "image_count": 1},
        {"asset_ids": []},
        {"product_ids": [], "asset_ids": []},
    ],
)
def test_fields_that_contradict_each_other_are_refused(
    emulator: EmulatorUnderTest, fields: Json
) -> None:
    """D32 to D34; what a single field may be, Schemathesis asks of the contract."""
    body: Json = {"asset_ids": ["a"]} | fields
    assert emulator.photograph(**body).outcome == INVALID_INPUT


def test_an_empty_reference_is_one_to_nothing(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    assert (
        emulator.photograph(asset_ids=[asset_id], pose_id="").outcome
        == INVALID_REFERENCE
    )


@pytest.mark.parametrize("output_format", ["png", "webp"])
def test_a_transparent_background_is_really_transparent(
    emulator: EmulatorUnderTest, output_format: str
) -> None:
    generation = emulator.photograph(
        background={"type": "transparent"}, output_format=output_format
    ).json
    asset = asset_of(emulator, emulator.wait_for(generation))
    alpha = decode(emulator.fetch(asset["url"]).body).convert("RGBA").getchannel("A")
    assert alpha.getextrema() == (0, 255)


def test_a_picture_is_what_its_inputs_were_at_admission_whatever_becomes_of_them(
    make_emulator: MakeEmulator,
) -> None:
    files = []
    for changes in (False, True):
        emulator = make_emulator()
        background, asset = (
            emulator.author("background"),
            emulator.upload(picture(size=(64, 48)))["id"],
        )
        other = emulator.upload(picture(colour="#00ff00"))["id"]
        selection = {"type": "background", "background_id": background["id"]}
        works = [
            emulator.photograph(asset_ids=[asset], background=selection).json,
            edit(emulator, [asset]).json,
        ]
        if changes:
            emulator.patch(f"/backgrounds/{background['id']}", {"asset_id": other})
            assert emulator.delete(f"/assets/{asset}").status == 200
        done = [emulator.wait_for(work) for work in works]
        files.append(
            [emulator.fetch(asset_of(emulator, work)["url"]).body for work in done]
        )
    assert files[0] == files[1]


def pictures_of(ingredient: Json) -> list[str]:
    return list(ingredient.get("preview_image_urls") or [ingredient["card_image_url"]])


def path_of(ingredient: Json) -> str:
    return f"{INGREDIENT_PATHS[ingredient['object']]}/{ingredient['id']}"


@pytest.mark.parametrize("kind", KINDS)
def test_new_sources_give_new_pictures(emulator: EmulatorUnderTest, kind: str) -> None:
    """A Photography Style has three, the others one."""
    old = emulator.author(kind)
    emulator.wait_for(
        emulator.patch(
            path_of(old), source_fields(kind, emulator.assets(SOURCES[kind]))
        ).json
    )
    gone, new = pictures_of(old), pictures_of(emulator.get(path_of(old)).json)
    assert {emulator.fetch(url).status for url in gone} == {404}
    assert {emulator.fetch(url).status for url in new} == {200}
    assert len(set(gone)) == len(set(new)) == (3 if kind == "photography_style" else 1)


def test_a_list_has_what_meets_all_of_its_filters_now(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    done, _ = emulator.upscale(asset_id).json, edit(emulator, [asset_id])
    emulator.advance(60)
    queued = emulator.upscale().json
    found = [
        emulator.items(f"/generations?workflow=upscale&status={status}")
        for status in ("completed", "queued")
    ]
    assert [[done["id"]], [queued["id"]]] == [
        [one["id"] for one in works] for works in found
    ]
    assert emulator.delete(f"/assets/{asset_id}").status == 200
    assert asset_id not in [
        asset["id"] for asset in emulator.items("/assets?source=upload")
    ]


@pytest.mark.emulator(world="premade: false")
def test_a_world_can_be_without_premade_ingredients(
    emulator: EmulatorUnderTest,
) -> None:
    assert [emulator.items(path) for path in INGREDIENT_PATHS.values()] == [
        [],
        [],
        [],
        [],
    ]


def test_the_oldest_of_several_operations_is_named(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    body = ingredient_body("pose", [asset_id])
    first, second = (emulator.post("/poses", body).json["id"] for _ in range(2))
    assert (
        emulator.delete(f"/assets/{asset_id}").json["active_operation_id"]
        == first
        != second
    )
    emulator.advance(100)
    assert emulator.delete(f"/assets/{asset_id}").status == 200
