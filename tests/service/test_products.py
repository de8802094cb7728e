"""Products and the deletion of their photos, beside what the model says of them (sections 2 to 4, D22)."""

from tests.support.emulator_client import EmulatorUnderTest


def test_texts_that_were_never_given_are_left_out_and_empty_ones_are_not(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    """D22."""
    assert not {"description", "dimensions"} & emulator.product(asset_id).keys()
    assert emulator.product(asset_id, description="")["description"] == ""


def test_deleting_an_asset_tells_what_became_of_its_products(emulator: EmulatorUnderTest) -> None:
    """Section 3, rule 5: one Product loses its Primary, one a photo, one its last photo, one nothing."""
    one, two, three = emulator.assets(3)
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


def test_memberships_that_ended_before_are_not_counted(emulator: EmulatorUnderTest) -> None:
    photos = emulator.assets(3)
    replaced, removed = emulator.product(*photos[:2]), emulator.product(*photos[:2])
    emulator.patch(f"/products/{replaced['id']}", {"asset_ids": [photos[2]]})
    emulator.delete(f"/products/{removed['id']}")
    assert emulator.delete(f"/assets/{photos[0]}").json["removed_product_memberships"] == 0
