"""Generations and ingredients, beside what the model says of them (sections 1 to 4, D20
to D31).
"""

from typing import Any

import pytest

from tests.support.emulator_client import (
    INGREDIENT_PATHS,
    INVALID_INPUT,
    INVALID_REFERENCE,
    KINDS,
    SOURCES,
    Answer,
    Json,
    ingredient_body,
    source_fields,
)
from tests.support.emulator_under_test import EmulatorUnderTest, MakeEmulator
from tests.support.pictures import decode, picture

EDIT: Json = {
    "instructions": "On a table.",
    "aspect_ratio": "4:5",
    "resolution": "1k",
    "output_format": "png",
}


def edit(
    emulator: EmulatorUnderTest,
    asset_ids: list[str],
    **fields: Any,
) -> Answer:
    return emulator.post(
        "/generations/edit-images",
        EDIT | {"asset_ids": asset_ids} | fields,
    )


def asset_of(
    emulator: EmulatorUnderTest,
    generation: Json,
    slot: int = 0,
) -> Json:
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
    emulator: EmulatorUnderTest,
    fields: Json,
) -> None:
    """D32 to D34; what a single field may be, Schemathesis asks of the contract."""
    body: Json = {"asset_ids": ["a"]} | fields

    answer = emulator.photograph(**body)

    assert answer.outcome == INVALID_INPUT


def test_an_empty_reference_is_one_to_nothing(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    answer = emulator.photograph(asset_ids=[asset_id], pose_id="")

    assert answer.outcome == INVALID_REFERENCE


@pytest.mark.parametrize("output_format", ["png", "webp"])
def test_a_transparent_background_is_really_transparent(
    emulator: EmulatorUnderTest,
    output_format: str,
) -> None:
    order = emulator.photograph(
        background={"type": "transparent"},
        output_format=output_format,
    )

    asset = asset_of(emulator, emulator.wait_for(order.json))
    file = emulator.fetch(asset["url"]).body

    alpha = decode(file).convert("RGBA").getchannel("A")
    assert set(alpha.getextrema()) == {0, 255}


def files_of_two_works(
    emulator: EmulatorUnderTest,
    *,
    changes_inputs: bool,
) -> list[bytes]:
    """Order a photograph and an edit, and return their pictures; their inputs may be
    changed in between.
    """
    background = emulator.author("background")
    asset_id = emulator.upload(picture(size=(64, 48)))["id"]
    other_id = emulator.upload(picture(colour="#00ff00"))["id"]
    selection = {"type": "background", "background_id": background["id"]}
    works = [
        emulator.photograph(asset_ids=[asset_id], background=selection).json,
        edit(emulator, [asset_id]).json,
    ]
    if changes_inputs:
        emulator.patch(f"/backgrounds/{background['id']}", {"asset_id": other_id})
        deletion = emulator.delete(f"/assets/{asset_id}")
        assert deletion.status == 200
    assets = [asset_of(emulator, emulator.wait_for(work)) for work in works]
    return [emulator.fetch(asset["url"]).body for asset in assets]


def test_a_picture_is_what_its_inputs_were_at_admission_whatever_becomes_of_them(
    make_emulator: MakeEmulator,
) -> None:
    expected = files_of_two_works(make_emulator(), changes_inputs=False)

    files = files_of_two_works(make_emulator(), changes_inputs=True)

    assert files == expected


def pictures_of(ingredient: Json) -> list[str]:
    return list(ingredient.get("preview_image_urls") or [ingredient["card_image_url"]])


def path_of(ingredient: Json) -> str:
    return f"{INGREDIENT_PATHS[ingredient['object']]}/{ingredient['id']}"


@pytest.mark.parametrize("kind", KINDS)
def test_new_sources_give_new_pictures(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    path = path_of(ingredient)
    sources = source_fields(kind, emulator.assets(SOURCES[kind]))

    emulator.wait_for(emulator.patch(path, sources).json)

    old_urls = pictures_of(ingredient)
    new_urls = pictures_of(emulator.get(path).json)
    assert {emulator.fetch(url).status for url in old_urls} == {404}
    assert {emulator.fetch(url).status for url in new_urls} == {200}


@pytest.mark.parametrize("kind", KINDS)
def test_a_photography_style_has_three_pictures_and_the_other_kinds_one(
    emulator: EmulatorUnderTest,
    kind: str,
) -> None:
    count = 1
    if kind == "photography_style":
        count = 3

    ingredient = emulator.author(kind)

    assert len(set(pictures_of(ingredient))) == count


def test_a_list_has_what_meets_all_of_its_filters_now(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    completed = emulator.upscale(asset_id).json
    edit(emulator, [asset_id])
    emulator.advance(60)
    queued = emulator.upscale().json

    upscales = "/generations?workflow=upscale"
    listed_completed = emulator.items(f"{upscales}&status=completed")
    listed_queued = emulator.items(f"{upscales}&status=queued")

    assert [work["id"] for work in listed_completed] == [completed["id"]]
    assert [work["id"] for work in listed_queued] == [queued["id"]]


def test_a_list_by_a_filter_has_no_asset_that_was_deleted(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    kept_id = emulator.assets(1)[0]

    emulator.delete(f"/assets/{asset_id}")

    listed = emulator.items("/assets?source=upload")
    assert [asset["id"] for asset in listed] == [kept_id]


@pytest.mark.emulator(world="premade: false")
def test_a_world_can_be_without_premade_ingredients(
    emulator: EmulatorUnderTest,
) -> None:
    for path in INGREDIENT_PATHS.values():
        assert emulator.items(path) == []


def test_the_oldest_of_several_operations_is_named(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    body = ingredient_body("pose", [asset_id])
    oldest = emulator.post("/poses", body).json
    emulator.post("/poses", body)

    refused = emulator.delete(f"/assets/{asset_id}")

    assert refused.json["active_operation_id"] == oldest["id"]


def test_an_asset_can_be_deleted_once_the_work_that_uses_it_has_finished(
    emulator: EmulatorUnderTest,
    asset_id: str,
) -> None:
    emulator.post("/poses", ingredient_body("pose", [asset_id]))

    emulator.advance(100)
    deletion = emulator.delete(f"/assets/{asset_id}")

    assert deletion.status == 200
