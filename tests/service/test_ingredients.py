"""The four kinds of reusable ingredients, beside what the model says of them (sections 2 to 4, D20 to D31)."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    INGREDIENT_PATHS,
    INVALID_INPUT,
    KINDS,
    SOURCES,
    EmulatorUnderTest,
    Json,
    ingredient_body,
    source_fields,
)


def pictures_of(ingredient: Json) -> list[str]:
    return list(ingredient.get("preview_image_urls") or [ingredient["card_image_url"]])


def path_of(ingredient: Json) -> str:
    return f"{INGREDIENT_PATHS[ingredient['object']]}/{ingredient['id']}"


# Making one ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "fewest", "most"), [("photography_style", 3, 3), ("fashion_model", 1, 5)])
def test_the_number_of_sources_is_limited_and_none_is_named_twice(
    emulator: EmulatorUnderTest, kind: str, fewest: int, most: int
) -> None:
    """D22."""
    assets = emulator.assets(7)
    for named in (*(assets[:count] for count in range(8)), [assets[0], assets[1], assets[0]]):
        answer = emulator.post(INGREDIENT_PATHS[kind], ingredient_body(kind, assets[:1]) | {"asset_ids": named})
        is_fit = fewest <= len(named) == len(set(named)) <= most
        assert answer.outcome == ((202, "operation") if is_fit else INVALID_INPUT), named


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("background", {"kind": "beach"}), ("background", {"asset_ids": ["a"]}),
        ("pose", {"supported_camera_distances": ["near"]}), ("pose", {"supported_camera_distances": ["far", "far"]}),
        ("pose", {"supported_camera_distances": "far"}), ("pose", {"description": "x"}),
        ("fashion_model", {"age_range": "18"}), ("fashion_model", {"gender": "any"}),
        ("fashion_model", {"description": "x"}), ("photography_style", {"asset_id": "a"}),
        ("photography_style", {"description": 1}),
    ],
)  # fmt: skip
def test_fields_outside_the_contract_are_refused(
    emulator: EmulatorUnderTest, kind: str, fields: dict[str, Any]
) -> None:
    body = ingredient_body(kind, emulator.assets(SOURCES[kind])) | fields
    assert emulator.post(INGREDIENT_PATHS[kind], body).outcome == INVALID_INPUT


# Changing one -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_new_sources_give_new_pictures(emulator: EmulatorUnderTest, kind: str) -> None:
    """A Photography Style has three, the others one."""
    old = emulator.author(kind)
    emulator.wait_for(emulator.patch(path_of(old), source_fields(kind, emulator.assets(SOURCES[kind]))).json)
    gone, new = pictures_of(old), pictures_of(emulator.get(path_of(old)).json)
    assert {emulator.fetch(url).status for url in gone} == {404}
    assert {emulator.fetch(url).status for url in new} == {200}
    assert len(set(gone)) == len(set(new)) == (3 if kind == "photography_style" else 1)


@pytest.mark.emulator(world="premade: false")
def test_a_world_can_be_without_premade_ingredients(emulator: EmulatorUnderTest) -> None:
    assert [emulator.items(path) for path in INGREDIENT_PATHS.values()] == [[], [], [], []]


def test_the_oldest_of_several_operations_is_named(emulator: EmulatorUnderTest, asset_id: str) -> None:
    body = ingredient_body("pose", [asset_id])
    first, second = (emulator.post("/poses", body).json["id"] for _ in range(2))
    assert emulator.delete(f"/assets/{asset_id}").json["active_operation_id"] == first != second
    emulator.advance(100)
    assert emulator.delete(f"/assets/{asset_id}").status == 200
