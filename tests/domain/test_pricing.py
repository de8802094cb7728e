"""What work costs (section 4)."""

import pytest

from emulator.domain.pricing import AUTHORING_PRICES, generation_charge, generation_price

SINGLE_SHOTS = {
    (count, resolution): count * price
    for count in range(1, 7)
    for resolution, price in (("1k", 1), ("2k", 1), ("4k", 2))
}


def shots(count: int, resolution: str = "1k") -> dict[str, object]:
    return {"output_mode": "single_shots", "image_count": count, "resolution": resolution}


@pytest.mark.parametrize(("order", "expected"), SINGLE_SHOTS.items())
def test_single_shots_cost_one_credit_each_and_two_at_4k(order: tuple[int, str], expected: int) -> None:
    assert expected == generation_price("product_photography", shots(*order))


@pytest.mark.parametrize("resolution", ["1k", "2k", "4k"])
def test_a_photoshoot_costs_two_credits_at_every_resolution(resolution: str) -> None:
    order = {"output_mode": "photoshoot", "image_count": 4, "resolution": resolution}
    assert generation_price("product_photography", order) == 2


@pytest.mark.parametrize(("expected", "resolution"), [(1, "1k"), (1, "2k"), (2, "4k")])
def test_an_edit_costs_one_credit_and_two_at_4k(expected: int, resolution: str) -> None:
    assert expected == generation_price("edit_images", {"resolution": resolution})


@pytest.mark.parametrize(("expected", "target"), [(1, "2k"), (2, "4k")])
def test_an_upscale_costs_one_credit_to_2k_and_two_to_4k(expected: int, target: str) -> None:
    assert expected == generation_price("upscale", {"target_resolution": target})


@pytest.mark.parametrize(("expected", "completed"), [(0, 0), (1, 1), (1, 2), (2, 3), (2, 4)])
def test_a_photoshoot_is_charged_by_halves_rounded_up(expected: int, completed: int) -> None:
    """D37."""
    assert expected == generation_charge(2, completed, 4)


@pytest.mark.parametrize("resolution", ["1k", "4k"])
def test_single_shots_are_charged_for_each_that_completed(resolution: str) -> None:
    each = 2 if resolution == "4k" else 1
    for count in range(1, 7):
        for completed in range(count + 1):
            price = generation_price("product_photography", shots(count, resolution))
            assert completed * each == generation_charge(price, completed, count)


def test_only_styles_are_free_to_author() -> None:
    assert AUTHORING_PRICES == {"photography_style": 0, "background": 1, "pose": 1, "fashion_model": 1}
