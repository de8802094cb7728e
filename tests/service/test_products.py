"""Products and the deletion of their photos (sections 2 to 4, D22)."""

from typing import Any

import pytest

from tests.support.emulator_client import GHOST, INVALID_INPUT, INVALID_REFERENCE, OTHER, EmulatorUnderTest


@pytest.fixture
def photos(emulator: EmulatorUnderTest) -> list[str]:
    return emulator.assets(3)


def test_a_product_is_there_at_once_as_it_was_given_in_its_order(
    emulator: EmulatorUnderTest, photos: list[str]
) -> None:
    texts = {"name": "Shirt", "description": "Of linen", "dimensions": "40 x 60 cm"}
    body = {**texts, "asset_ids": photos[::-1], "primary_asset_id": photos[1]}
    answer = emulator.post("/products", body)
    assert answer.status == 201
    assert {**body, "object": "product"}.items() <= answer.json.items()
    assert answer.json["created_at"] == answer.json["updated_at"] == "2026-01-01T00:00:00.000Z"
    assert emulator.get(f"/products/{answer.id}").json == answer.json == emulator.get(answer.headers["location"]).json


def test_texts_that_were_never_given_are_left_out_and_empty_ones_are_not(
    emulator: EmulatorUnderTest, photos: list[str]
) -> None:
    """D22."""
    assert not {"description", "dimensions"} & emulator.product(photos[0]).keys()
    assert emulator.product(photos[0], description="")["description"] == ""


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        (INVALID_INPUT, {"asset_ids": []}), (INVALID_INPUT, {"asset_ids": ["A", "A"]}),
        (INVALID_INPUT, {"primary_asset_id": GHOST}), (INVALID_INPUT, {"primary_asset_id": "B", "asset_ids": ["A"]}),
        (INVALID_INPUT, {"name": 7}), (INVALID_INPUT, {"description": None}), (INVALID_INPUT, {"id": "prd_1"}),
        (INVALID_REFERENCE, {"asset_ids": ["A", GHOST]}), (INVALID_REFERENCE, {"asset_ids": ["A", "O"]}),
        (INVALID_REFERENCE, {"asset_ids": ["A", ""]}),
    ],
)  # fmt: skip
def test_a_product_that_cannot_be_is_refused(
    emulator: EmulatorUnderTest, expected: tuple[int, str], change: dict[str, Any]
) -> None:
    """`A` and `B` are Assets of the Team, `O` is another Team's."""
    one, two = emulator.assets(2)
    named = {"A": one, "B": two, "O": emulator.assets(1, OTHER)[0]}
    body = {"name": "Shirt", "asset_ids": ["A"], "primary_asset_id": "A"} | change
    for field, value in body.items():
        if isinstance(value, list):
            body[field] = [named.get(item, item) for item in value]
        elif isinstance(value, str):
            body[field] = named.get(value, value)
    assert emulator.post("/products", body).outcome == expected
    assert emulator.items("/products") == []


def test_a_patch_changes_what_it_names_and_nothing_else(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    product = emulator.product(*photos, description="Old")
    emulator.advance(10)
    texts = {"name": "New", "description": "", "dimensions": "small"}
    changed = emulator.patch(f"/products/{product['id']}", texts)
    assert changed.status == 200
    assert changed.json == product | texts | {"updated_at": "2026-01-01T00:00:10.000Z"}
    assert emulator.get(f"/products/{product['id']}").json == changed.json


@pytest.mark.parametrize(
    ("photo_order", "primary", "expected"),
    [("210", None, "0"), ("21", None, "2"), ("12", None, "1"), ("21", "1", "1"), (None, "2", "2"), ("0", None, "0")],
)
def test_new_photos_replace_the_set_and_a_primary_is_kept_or_chosen(
    emulator: EmulatorUnderTest, photos: list[str], photo_order: str | None, primary: str | None, expected: str
) -> None:
    """D22: photos by number; the Primary was the first."""
    product = emulator.product(*photos)
    body: dict[str, Any] = {}
    if photo_order is not None:
        body["asset_ids"] = [photos[int(number)] for number in photo_order]
    if primary is not None:
        body["primary_asset_id"] = photos[int(primary)]
    changed = emulator.patch(f"/products/{product['id']}", body).json
    assert changed["asset_ids"] == body.get("asset_ids", photos)
    assert changed["primary_asset_id"] == photos[int(expected)]


def test_a_primary_outside_the_resulting_set_is_refused(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    """D22; nor is a set of Assets that are not usable."""
    product = emulator.product(*photos[:2])
    path = f"/products/{product['id']}"
    assert emulator.patch(path, {"primary_asset_id": photos[2]}).outcome == INVALID_INPUT
    both = {"asset_ids": [photos[2]], "primary_asset_id": photos[0]}
    assert emulator.patch(path, both).outcome == INVALID_INPUT
    ghost = {"name": "New", "asset_ids": [photos[0], GHOST]}
    assert emulator.patch(path, ghost).outcome == INVALID_REFERENCE
    assert emulator.get(path).json == product


def test_deleting_a_product_leaves_its_photos(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    """Section 3, rule 6."""
    product = emulator.product(*photos)
    path = f"/products/{product['id']}"
    assert emulator.delete(path).status == 204
    assert emulator.get(path).outcome == (404, "product_not_found")
    assert emulator.delete(path).outcome == (404, "product_not_found")
    assert emulator.patch(path, {"name": "x"}).outcome == (404, "product_not_found")
    assert {item["id"] for item in emulator.items("/assets")} == set(photos)


def test_deleting_an_asset_tells_what_became_of_its_products(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    """Section 3, rule 5: one Product loses its Primary, one a photo, one its last photo, one nothing."""
    one, two, three = photos
    loses_primary = emulator.product(one, two, three)
    loses_photo = emulator.product(two, one)
    loses_all = emulator.product(one)
    loses_nothing = emulator.product(two, three)
    emulator.advance(5)
    answer = emulator.delete(f"/assets/{one}")
    assert answer.json == {
        "object": "asset_deletion",
        "id": one,
        "removed_product_memberships": 3,
        "reassigned_primary_product_ids": [loses_primary["id"]],
        "deleted_product_ids": [loses_all["id"]],
    }
    later = {"updated_at": "2026-01-01T00:00:05.000Z"}
    assert emulator.items("/products") == [
        loses_nothing,
        loses_photo | {"asset_ids": [two]} | later,
        loses_primary | {"asset_ids": [two, three], "primary_asset_id": two} | later,
    ]


def test_an_asset_without_products_is_deleted_alone(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    answer = emulator.delete(f"/assets/{photos[0]}")
    effects = {"removed_product_memberships": 0, "reassigned_primary_product_ids": [], "deleted_product_ids": []}
    assert answer.json == {"object": "asset_deletion", "id": photos[0], **effects}
    assert emulator.get(f"/assets/{photos[0]}").outcome == (404, "asset_not_found")
    assert emulator.delete(f"/assets/{photos[0]}").outcome == (404, "asset_not_found")
    assert photos[0] not in [item["id"] for item in emulator.items("/assets")]


def test_memberships_that_ended_before_are_not_counted(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    replaced, removed = emulator.product(*photos[:2]), emulator.product(*photos[:2])
    emulator.patch(f"/products/{replaced['id']}", {"asset_ids": [photos[2]]})
    emulator.delete(f"/products/{removed['id']}")
    assert emulator.delete(f"/assets/{photos[0]}").json["removed_product_memberships"] == 0


def test_a_deleted_asset_can_be_referred_to_no_more(emulator: EmulatorUnderTest, photos: list[str]) -> None:
    emulator.delete(f"/assets/{photos[0]}")
    body = {"name": "Shirt", "asset_ids": photos, "primary_asset_id": photos[1]}
    assert emulator.post("/products", body).outcome == INVALID_REFERENCE
    assert emulator.photograph(asset_ids=photos).outcome == INVALID_REFERENCE


def test_a_generated_asset_can_be_a_product_photo_and_be_deleted(emulator: EmulatorUnderTest) -> None:
    done = emulator.wait_for(emulator.photograph().json)
    asset_id = done["outputs"][0]["asset"]["id"]
    product = emulator.product(asset_id)
    assert emulator.delete(f"/assets/{asset_id}").json["deleted_product_ids"] == [product["id"]]
