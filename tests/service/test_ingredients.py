"""The four kinds of reusable ingredients, beside what the model says of them (sections 2 to 4, D20 to D31)."""

import pytest

from tests.support.emulator_client import (
    INGREDIENT_PATHS,
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
