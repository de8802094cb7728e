"""What the domain works out, against the model's arithmetic: pixels, prices, charges and subjects (section 4, D32 to
D37).
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_workflow_emulator.domain.orders import (
    generation_charge,
    generation_price,
    output_size,
    pack,
    reaches,
    size_of_ratio,
)
from tests.model import arithmetic

EDGES = st.integers(1, 5_000) | st.sampled_from((1, 1024, 2047, 2048, 4095, 4096))
SIZES = ("1k", "2k", "4k")
PHOTOS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5, unique=True)


@given(EDGES, EDGES, st.sampled_from(SIZES))
def test_a_picture_has_the_pixels_of_its_ratio_and_resolution(width: int, height: int, resolution: str) -> None:
    expected = arithmetic.size_of(width, height, resolution)
    assert size_of_ratio(width, height, resolution) == expected
    assert output_size(f"{width}:{height}", resolution) == expected
    assert reaches(width, height, resolution) is (max(width, height) >= max(expected))


@pytest.mark.parametrize("size", SIZES)
def test_work_is_reserved_for_in_full_and_charged_by_its_completed_outputs(size: str) -> None:
    shots = [{"output_mode": "single_shots", "image_count": count, "resolution": size} for count in range(1, 7)]
    photoshoot = {"output_mode": "photoshoot", "image_count": 4, "resolution": size}
    works: list[tuple[str, dict[str, Any]]] = [("product_photography", work) for work in (*shots, photoshoot)]
    for workflow, request in (*works, ("edit_images", {"resolution": size}), ("upscale", {"target_resolution": size})):
        slots = request.get("image_count", 1)
        price = generation_price(workflow, request)
        assert price == arithmetic.generation_price(workflow, request)
        for completed in range(slots + 1):
            charge = generation_charge(price, completed, slots)
            assert charge == arithmetic.generation_charge(workflow, request, completed), (request, completed)


@given(st.lists(PHOTOS.flatmap(lambda photos: st.tuples(st.sampled_from(photos), st.just(photos))), max_size=7), PHOTOS)
def test_subjects_are_packed_by_turns(products: list[tuple[str, list[str]]], loose: list[str]) -> None:
    known = [{"primary_asset_id": primary, "asset_ids": photos} for primary, photos in products]
    assert pack(products, loose) == tuple(arithmetic.subjects(known, loose))
