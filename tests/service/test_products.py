"""Products and the deletion of their photos, beside what the model says of them (sections 2 to 4, D22)."""

from tests.support.emulator_client import EmulatorUnderTest


def test_texts_that_were_never_given_are_left_out_and_empty_ones_are_not(
    emulator: EmulatorUnderTest, asset_id: str
) -> None:
    """D22."""
    assert not {"description", "dimensions"} & emulator.product(asset_id).keys()
    assert emulator.product(asset_id, description="")["description"] == ""
