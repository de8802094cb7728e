"""Sizes and prices, as the model works them out (section 4, D32 to D38)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain import orders
from tests.model import arithmetic

EDGES = st.integers(1, 5_000) | st.sampled_from((1, 1024, 2047, 2048, 4095, 4096))
SIZES = ("1k", "2k", "4k")


@given(EDGES, EDGES, st.sampled_from(SIZES))
def test_an_output_has_the_pixels_of_its_ratio_and_resolution(
    width: int, height: int, resolution: str
) -> None:
    expected = arithmetic.size_of(width, height, resolution)

    assert orders.size_of_ratio(width, height, resolution) == expected
    assert orders.output_size(f"{width}:{height}", resolution) == expected


@given(EDGES, EDGES, st.sampled_from(SIZES))
def test_a_picture_reaches_a_resolution_by_its_longest_edge(
    width: int, height: int, resolution: str
) -> None:
    longest_edge = max(arithmetic.size_of(width, height, resolution))

    reaches = orders.reaches(width, height, resolution)

    assert reaches is (max(width, height) >= longest_edge)


def works_of(size: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every kind of Generation at a size, with its intent."""
    works: list[tuple[str, dict[str, Any]]] = []
    for count in range(1, 7):
        shots = {"output_mode": "single_shots", "image_count": count}
        works.append(("product_photography", {**shots, "resolution": size}))
    photoshoot = {"output_mode": "photoshoot", "image_count": 4, "resolution": size}
    works.append(("product_photography", photoshoot))
    works.append(("edit_images", {"resolution": size}))
    works.append(("upscale", {"target_resolution": size}))
    return works


@pytest.mark.parametrize("size", SIZES)
def test_work_is_reserved_for_in_full(size: str) -> None:
    for workflow, intent in works_of(size):
        price = orders.generation_price(workflow, intent)

        assert price == arithmetic.generation_price(workflow, intent)


@pytest.mark.parametrize("size", SIZES)
def test_work_is_charged_by_its_completed_outputs(size: str) -> None:
    for workflow, intent in works_of(size):
        slots = intent.get("image_count", 1)
        price = orders.generation_price(workflow, intent)
        for completed in range(slots + 1):
            charge = orders.generation_charge(price, completed, slots)
            expected = arithmetic.generation_charge(workflow, intent, completed)

            assert charge == expected, (intent, completed)
