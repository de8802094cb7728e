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
    width: int,
    height: int,
    resolution: str,
) -> None:
    expected = arithmetic.size_of(width, height, resolution)

    size = orders.size_of_ratio(width, height, resolution)
    size_by_text = orders.output_size(f"{width}:{height}", resolution)

    assert size == expected
    assert size_by_text == expected


@given(EDGES, EDGES, st.sampled_from(SIZES))
def test_a_picture_reaches_a_resolution_by_its_longest_edge(
    width: int,
    height: int,
    resolution: str,
) -> None:
    longest_edge = max(arithmetic.size_of(width, height, resolution))

    reaches = orders.reaches(width, height, resolution)

    is_long_enough = max(width, height) >= longest_edge
    assert reaches is is_long_enough


def works_of(size: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every kind of Generation at a size, with its intent."""
    photoshoot = {"output_mode": "photoshoot", "image_count": 4, "resolution": size}
    works: list[tuple[str, dict[str, Any]]] = [
        ("product_photography", photoshoot),
        ("edit_images", {"resolution": size}),
        ("upscale", {"target_resolution": size}),
    ]
    for count in range(1, 7):
        shots = {
            "output_mode": "single_shots",
            "image_count": count,
            "resolution": size,
        }
        works.append(("product_photography", shots))
    return works


@pytest.mark.parametrize("size", SIZES)
def test_work_is_reserved_for_in_full(size: str) -> None:
    for workflow, intent in works_of(size):
        price = orders.generation_price(workflow, intent)
        expected = arithmetic.generation_price(workflow, intent)

        assert price == expected, intent


@pytest.mark.parametrize("size", SIZES)
def test_work_is_charged_by_its_completed_outputs(size: str) -> None:
    for workflow, intent in works_of(size):
        slots = intent.get("image_count", 1)
        price = orders.generation_price(workflow, intent)
        for completed in range(slots + 1):
            charge = orders.generation_charge(price, completed, slots)
            expected = arithmetic.generation_charge(workflow, intent, completed)

            assert charge == expected, (intent, completed)


@pytest.mark.parametrize(
    ("reading", "charges"),
    [
        ("plain", [0, 1, 1, 2, 2]),
        ("down", [0, 0, 1, 1, 2]),
        ("whole", [0, 2, 2, 2, 2]),
    ],
)
def test_a_photoshoot_of_which_a_part_failed_is_charged_by_the_reading(
    reading: str,
    charges: list[int],
) -> None:
    price = orders.PHOTOSHOOT_CREDITS

    for completed, expected in enumerate(charges):
        charge = orders.generation_charge(price, completed, 4, reading)

        assert charge == expected, completed


@pytest.mark.parametrize(
    ("aspect_ratio", "resolution", "expected"),
    [
        ("1:1", "1k", (1024, 1024)),
        ("4:5", "1k", (896, 1152)),
        ("5:4", "1k", (1152, 896)),
        ("16:9", "2k", (2752, 1536)),
        ("9:16", "4k", (3072, 5440)),
        ("1:900", "1k", (64, 30720)),
        ("900:1", "1k", (30720, 64)),
    ],
)
def test_by_one_reading_the_area_follows_the_resolution(
    aspect_ratio: str,
    resolution: str,
    expected: tuple[int, int],
) -> None:
    size = orders.output_size(aspect_ratio, resolution, "megapixels")

    assert size == expected


@pytest.mark.parametrize(
    ("width", "height", "is_above"),
    [
        (5_000, 5_000, False),
        (5_000, 5_001, True),
        (8_192, 1, False),
        (8_193, 1, True),
        (1, 8_192, False),
        (1, 8_193, True),
    ],
)
def test_one_reading_refuses_large_uploads(
    width: int,
    height: int,
    is_above: bool,
) -> None:
    assert orders.is_above_small_limit(width, height) is is_above


@pytest.mark.parametrize(
    ("preferred", "primary"),
    [
        pytest.param("b", "b", id="one of the photos"),
        pytest.param("", "a", id="none"),
        pytest.param("x", "a", id="no photo of it"),
    ],
)
def test_the_primary_is_the_preferred_photo_or_the_first(
    preferred: str,
    primary: str,
) -> None:
    assert orders.primary_of(["a", "b"], preferred) == primary


PHOTOS = st.sampled_from("abcdefgh")
PRODUCTS = st.lists(
    PHOTOS,
    min_size=1,
    max_size=4,
    unique=True,
)


@given(st.lists(PRODUCTS, max_size=6), st.lists(PHOTOS, max_size=4))
def test_subjects_are_packed_as_the_model_packs_them(
    products: list[list[str]],
    loose: list[str],
) -> None:
    with_primary = [(photos[-1], photos) for photos in products]
    of_model = [
        {"primary_asset_id": primary, "asset_ids": photos}
        for primary, photos in with_primary
    ]

    packed = orders.pack(with_primary, loose)

    expected = arithmetic.subjects(of_model, loose)
    assert list(packed) == expected
