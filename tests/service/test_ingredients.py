"""The four kinds of reusable ingredients, and the Operations that author them (sections 2 to 4, D20 to D31)."""

from typing import Any

import pytest

from tests.support.emulator_client import (
    GHOST,
    INGREDIENT_PATHS,
    INVALID_INPUT,
    INVALID_REFERENCE,
    KINDS,
    OTHER,
    SOURCES,
    Answer,
    EmulatorUnderTest,
    Json,
    ingredient_body,
    source_fields,
)
from tests.support.pictures import picture, picture_with_subject

QUEUE = 1
SECONDS = {"photography_style": 3, "background": 4, "pose": 4, "fashion_model": 6}
PRICES = {"photography_style": 0, "background": 1, "pose": 1, "fashion_model": 1}
CHARGES = {"photography_style": 0, "background": 0, "pose": 1, "fashion_model": 1}
"""What is taken when the source of a Background is clean, as a plain picture is."""
DEFAULTS: dict[str, dict[str, Any]] = {
    "photography_style": {"description": ""},
    "pose": {"supported_camera_distances": ["close", "medium", "far"]},
}
METADATA: dict[str, dict[str, Any]] = {
    "photography_style": {"name": "Renamed", "description": "Brighter"},
    "background": {"name": "Renamed", "kind": "location"},
    "pose": {"name": "Renamed", "supported_camera_distances": ["far"]},
    "fashion_model": {"name": "Renamed", "age_range": "55+", "gender": "male"},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def create(emulator: EmulatorUnderTest, kind: str, /, **fields: Any) -> Answer:
    body = ingredient_body(kind, emulator.assets(SOURCES[kind])) | fields
    return emulator.post(INGREDIENT_PATHS[kind], body)


def pictures_of(ingredient: Json) -> list[str]:
    return list(ingredient.get("preview_image_urls") or [ingredient["card_image_url"]])


def path_of(ingredient: Json) -> str:
    return f"{INGREDIENT_PATHS[ingredient['object']]}/{ingredient['id']}"


def replace_sources(emulator: EmulatorUnderTest, ingredient: Json, **fields: Any) -> Answer:
    kind = ingredient["object"]
    return emulator.patch(path_of(ingredient), source_fields(kind, emulator.assets(SOURCES[kind])) | fields)


# Making one ---------------------------------------------------------------------------------------------------------


@each_kind
def test_a_create_is_admitted_as_an_operation(emulator: EmulatorUnderTest, kind: str) -> None:
    """D27 to D29."""
    assets = emulator.assets(SOURCES[kind])
    answer = emulator.post(INGREDIENT_PATHS[kind], ingredient_body(kind, assets))
    operation = answer.json
    assert answer.headers["location"] == f"http://emulator.test/v1/operations/{operation['id']}"
    assert emulator.get(answer.headers["location"]).json == operation
    assert emulator.credits() == 100 - PRICES[kind]
    del operation["id"]
    assert operation == {
        "object": "operation",
        "type": f"{kind}.create",
        "status": "queued",
        "request": ingredient_body(kind, assets) | DEFAULTS.get(kind, {}),
        "target": None,
        "result": None,
        "error": None,
        "credits": {"reserved": PRICES[kind], "charged": None},
        "created_at": "2026-01-01T00:00:00.000Z",
        "updated_at": "2026-01-01T00:00:00.000Z",
        "started_at": None,
        "finished_at": None,
    }


@each_kind
def test_an_operation_is_queued_then_processed_then_completed_at_its_instants(
    emulator: EmulatorUnderTest, kind: str
) -> None:
    operation = create(emulator, kind).json
    path, last = f"/operations/{operation['id']}", QUEUE + SECONDS[kind]
    seen = []
    for moment in (0, QUEUE - 0.001, QUEUE, last - 0.001, last, last + 1000):
        emulator.advance(moment - (emulator.now() / 1000 - 1_767_225_600))
        answer = emulator.get(path)
        made = emulator.count(INGREDIENT_PATHS[kind] + "?scope=team")
        seen.append((answer.json["status"], answer.retry_after, answer.json["result"] is not None, made))
    assert seen == [
        ("queued", QUEUE, False, 0),
        ("queued", 1, False, 0),
        ("processing", SECONDS[kind], False, 0),
        ("processing", 1, False, 0),
        *[("completed", None, True, 1)] * 2,
    ]
    times = {name: answer.json[name][17:23] for name in ("started_at", "finished_at", "updated_at")}
    ended = f"{last:02}.000"
    assert times == {"started_at": "01.000", "finished_at": ended, "updated_at": ended}


@each_kind
def test_a_completed_operation_leads_to_the_ingredient(emulator: EmulatorUnderTest, kind: str) -> None:
    assets = emulator.assets(SOURCES[kind])
    body = ingredient_body(kind, assets) | METADATA[kind]
    done = emulator.wait_for(emulator.post(INGREDIENT_PATHS[kind], body).json)
    assert done["result"]["object"] == kind
    assert done["credits"] == {"reserved": PRICES[kind], "charged": CHARGES[kind]}
    assert emulator.credits() == 100 - CHARGES[kind]
    ingredient = emulator.get(f"{INGREDIENT_PATHS[kind]}/{done['result']['id']}").json
    assert METADATA[kind].items() <= ingredient.items()
    assert (ingredient["scope"], ingredient["source_asset_ids"]) == ("team", assets)
    assert ingredient["created_at"] == ingredient["updated_at"] == done["finished_at"]


@each_kind
def test_a_style_has_three_previews_and_the_others_one_card(emulator: EmulatorUnderTest, kind: str) -> None:
    urls = pictures_of(emulator.author(kind))
    assert len(set(urls)) == (3 if kind == "photography_style" else 1)
    assert {emulator.fetch(url).status for url in urls} == {200}


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


@each_kind
def test_sources_must_be_live_assets_of_the_team(emulator: EmulatorUnderTest, kind: str) -> None:
    own = emulator.assets(3)
    deleted = emulator.assets(1)[0]
    emulator.delete(f"/assets/{deleted}")
    for foreign in (GHOST, "", deleted, emulator.assets(1, OTHER)[0], emulator.premade("pose")["id"]):
        body = ingredient_body(kind, [foreign, *own][: SOURCES[kind]])
        assert emulator.post(INGREDIENT_PATHS[kind], body).outcome == INVALID_REFERENCE
    assert emulator.items("/operations") == []


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
    assert create(emulator, kind, **fields).outcome == INVALID_INPUT


# Changing one -------------------------------------------------------------------------------------------------------


@each_kind
def test_a_change_of_metadata_is_done_at_once_and_free(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    before = emulator.credits(), len(emulator.items("/operations"))
    emulator.advance(10)
    answer = emulator.patch(path_of(ingredient), METADATA[kind])
    changed = answer.json
    assert (answer.status, "location" in answer.headers) == (200, False)
    assert changed.pop("updated_at") > ingredient.pop("updated_at")
    assert changed == ingredient | METADATA[kind]
    assert before == (emulator.credits(), len(emulator.items("/operations")))


@each_kind
def test_each_field_of_metadata_can_be_changed_alone(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    for name, value in METADATA[kind].items():
        changed = emulator.patch(path_of(ingredient), {name: value}).json
        expected = ingredient | {name: value, "updated_at": changed["updated_at"]}
        assert changed == expected
        ingredient = changed


@each_kind
def test_new_sources_are_an_operation_on_the_ingredient(emulator: EmulatorUnderTest, kind: str) -> None:
    """D27, D28: the request echoes what was sent, without defaults."""
    ingredient = emulator.author(kind)
    assets = emulator.assets(SOURCES[kind])
    answer = emulator.patch(path_of(ingredient), source_fields(kind, assets))
    operation = answer.json
    reference = {"object": kind, "id": ingredient["id"]}
    expected = (f"{kind}.update", reference, None)
    assert (operation["type"], operation["target"], operation["result"]) == expected
    assert answer.headers["location"].endswith(f"/operations/{operation['id']}")
    assert operation["request"] == source_fields(kind, assets)
    done = emulator.wait_for(operation)
    assert (done["result"], done["credits"]) == (reference, {"reserved": PRICES[kind], "charged": CHARGES[kind]})
    assert emulator.get(path_of(ingredient)).json["source_asset_ids"] == assets


@each_kind
def test_the_same_sources_again_are_a_replacement_all_the_same(emulator: EmulatorUnderTest, kind: str) -> None:
    """D25."""
    ingredient = emulator.author(kind)
    answer = emulator.patch(path_of(ingredient), source_fields(kind, ingredient["source_asset_ids"]))
    blocked = emulator.delete(f"/assets/{ingredient['source_asset_ids'][0]}")
    assert (answer.status, blocked.json["active_operation_id"]) == (202, answer.id)


@each_kind
def test_metadata_sent_along_with_sources_waits_for_the_operation(emulator: EmulatorUnderTest, kind: str) -> None:
    """D25."""
    ingredient = emulator.author(kind)
    operation = replace_sources(emulator, ingredient, **METADATA[kind]).json
    meanwhile = emulator.get(path_of(ingredient)).json
    emulator.wait_for(operation)
    after = emulator.get(path_of(ingredient)).json
    assert meanwhile == ingredient
    assert METADATA[kind].items() <= after.items()
    assert (after["created_at"], after["updated_at"] > ingredient["updated_at"]) == (ingredient["created_at"], True)


@each_kind
def test_new_sources_give_new_pictures(emulator: EmulatorUnderTest, kind: str) -> None:
    old = emulator.author(kind)
    emulator.wait_for(replace_sources(emulator, old).json)
    new = emulator.get(path_of(old)).json
    assert {emulator.fetch(url).status for url in pictures_of(old)} == {404}
    assert {emulator.fetch(url).status for url in pictures_of(new)} == {200}


@each_kind
def test_an_ingredient_cannot_be_changed_while_its_sources_are_replaced(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    operation = replace_sources(emulator, ingredient).json
    for advance in (0, QUEUE):
        emulator.advance(advance)
        for answer in (
            emulator.patch(path_of(ingredient), {"name": "New"}),
            replace_sources(emulator, ingredient),
            emulator.delete(path_of(ingredient)),
        ):
            assert answer.outcome == (409, "resource_operation_in_progress")
            assert answer.json["active_operation_id"] == operation["id"]
    assert emulator.get(path_of(ingredient)).json == ingredient
    emulator.wait_for(operation)
    assert emulator.patch(path_of(ingredient), {"name": "New"}).status == 200
    assert emulator.delete(path_of(ingredient)).status == 204


def test_work_on_one_ingredient_blocks_no_other(emulator: EmulatorUnderTest) -> None:
    one, two = emulator.author("pose"), emulator.author("pose")
    replace_sources(emulator, one)
    assert emulator.patch(path_of(two), {"name": "New"}).status == 200


@each_kind
def test_new_sources_are_limited_as_the_first_were(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    wrong: dict[str, Any] = {"asset_id": 7} if kind in ("background", "pose") else {"asset_ids": list("abcdef")}
    assert emulator.patch(path_of(ingredient), wrong).outcome == INVALID_INPUT
    ghosts = source_fields(kind, [GHOST, GHOST + "1", GHOST + "2"][: SOURCES[kind]])
    assert emulator.patch(path_of(ingredient), ghosts).outcome == INVALID_REFERENCE
    assert emulator.get(path_of(ingredient)).json == ingredient


@pytest.mark.parametrize("distances", [[], ["close", "close"]])
def test_a_change_outside_the_contract_is_refused(emulator: EmulatorUnderTest, distances: list[str]) -> None:
    change = {"supported_camera_distances": distances}
    assert emulator.patch(path_of(emulator.author("pose")), change).outcome == INVALID_INPUT


# Deleting one, premade ones -----------------------------------------------------------------------------------------


@each_kind
def test_a_deleted_ingredient_is_gone(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    assert emulator.delete(path_of(ingredient)).status == 204
    found = [
        emulator.get(path_of(ingredient)).outcome,
        emulator.patch(path_of(ingredient), {"name": "New"}).outcome,
        emulator.delete(path_of(ingredient)).outcome,
    ]
    assert found == [(404, "not_found")] * 3
    assert emulator.fetch(pictures_of(ingredient)[0]).outcome == (404, "not_found")
    assert emulator.items(INGREDIENT_PATHS[kind] + "?scope=team") == []


@each_kind
def test_premade_ingredients_are_there_for_every_team_and_read_only(emulator: EmulatorUnderTest, kind: str) -> None:
    """D21."""
    shared = emulator.items(INGREDIENT_PATHS[kind] + "?scope=global")
    assert shared == emulator.items(INGREDIENT_PATHS[kind], OTHER)
    assert len(shared) >= 4
    denied = (403, "permission_denied")
    for ingredient in shared:
        assert (ingredient["scope"], ingredient["source_asset_ids"]) == ("global", [])
        assert emulator.get(path_of(ingredient)).json == ingredient
        assert emulator.patch(path_of(ingredient), {"name": "Mine"}).outcome == denied
        assert replace_sources(emulator, ingredient).outcome == denied
        assert emulator.delete(path_of(ingredient)).outcome == denied


@pytest.mark.emulator(world="premade: false")
def test_a_world_can_be_without_premade_ingredients(emulator: EmulatorUnderTest) -> None:
    assert [emulator.items(path) for path in INGREDIENT_PATHS.values()] == [[], [], [], []]


@each_kind
def test_an_id_of_another_kind_is_an_absent_one(emulator: EmulatorUnderTest, kind: str) -> None:
    ingredient = emulator.author(kind)
    for path in INGREDIENT_PATHS.values():
        if path != INGREDIENT_PATHS[kind]:
            assert emulator.get(f"{path}/{ingredient['id']}").outcome == (404, "not_found")


# Sources ------------------------------------------------------------------------------------------------------------


@each_kind
def test_an_asset_in_use_by_an_unfinished_operation_cannot_be_deleted(emulator: EmulatorUnderTest, kind: str) -> None:
    """D23."""
    assets = emulator.assets(SOURCES[kind])
    operation = emulator.post(INGREDIENT_PATHS[kind], ingredient_body(kind, assets)).json
    for asset in assets:
        answer = emulator.delete(f"/assets/{asset}")
        assert answer.outcome == (409, "resource_operation_in_progress")
        assert answer.json["active_operation_id"] == operation["id"]
    emulator.wait_for(operation)
    assert [emulator.delete(f"/assets/{asset}").status for asset in assets] == [200] * len(assets)


@each_kind
def test_an_ingredient_keeps_naming_sources_that_were_deleted_since(emulator: EmulatorUnderTest, kind: str) -> None:
    """D24; and its pictures stay."""
    ingredient = emulator.author(kind)
    for asset in ingredient["source_asset_ids"]:
        emulator.delete(f"/assets/{asset}")
    assert emulator.get(path_of(ingredient)).json == ingredient
    assert emulator.fetch(pictures_of(ingredient)[0]).status == 200


def test_the_oldest_of_several_operations_is_named(emulator: EmulatorUnderTest, asset_id: str) -> None:
    body = ingredient_body("pose", [asset_id])
    first, second = (emulator.post("/poses", body).json["id"] for _ in range(2))
    assert emulator.delete(f"/assets/{asset_id}").json["active_operation_id"] == first != second
    emulator.advance(100)
    assert emulator.delete(f"/assets/{asset_id}").status == 200


# Backgrounds (D30) --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("charged", "data"), [(0, picture(size=(96, 96))), (1, picture_with_subject())])
def test_a_background_is_charged_only_if_a_foreground_had_to_be_removed(
    emulator: EmulatorUnderTest, charged: int, data: bytes
) -> None:
    """From its first source, and from the one that replaces it."""
    body = ingredient_body("background", [emulator.upload(data)["id"]])
    created = emulator.wait_for(emulator.post("/backgrounds", body).json)
    replaced = emulator.wait_for(emulator.patch(f"/backgrounds/{created['result']['id']}", body).json)
    assert [done["credits"] for done in (created, replaced)] == [{"reserved": 1, "charged": charged}] * 2
    assert emulator.credits() == 100 - 2 * charged


def test_a_generated_asset_can_be_the_source_of_a_background(emulator: EmulatorUnderTest) -> None:
    """Its picture is made and looked at while the request is admitted."""
    output = emulator.wait_for(emulator.photograph().json)["outputs"][0]["asset"]["id"]
    answer = emulator.post("/backgrounds", ingredient_body("background", [output]))
    assert emulator.wait_for(answer.json)["status"] == "completed"
