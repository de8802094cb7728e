"""Products and the deletion of their photos, beside what the model says of them (sections 2 to 4, D22)."""

from tests.support.emulator_client import EmulatorUnderTest


def test_texts_that_were_never_given_are_left_out_and_empty_ones_are_not(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    """D22."""
    assert not {"description", "dimensions"} & emulator.product(asset_id).keys()
    assert emulator.product(asset_id, description="")["description"] == ""


def test_memberships_that_ended_before_are_not_counted(emulator: EmulatorUnderTest) -> None:
    photos = emulator.assets(3)
    replaced, removed = emulator.product(*photos[:2]), emulator.product(*photos[:2])
    emulator.patch(f"/products/{replaced['id']}", {"asset_ids": [photos[2]]})
    emulator.delete(f"/products/{removed['id']}")
    assert emulator.delete(f"/assets/{photos[0]}").json["removed_product_memberships"] == 0
