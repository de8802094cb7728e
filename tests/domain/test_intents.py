"""Intents: what two bodies have in common that mean the same (D14, D33, D39)."""

from typing import Any

import pytest

from emulator.domain.intents import colour, fingerprint, intent_of
from emulator.domain.problems import Problem

PHOTOGRAPHY: dict[str, Any] = {"asset_ids": ["ast_1"], "output_mode": "single_shots"}
DEFAULTS = {
    "product_ids": [],
    "asset_ids": ["ast_1"],
    "background": {"type": "automatic"},
    "fashion_model": {"type": "automatic"},
    "output_mode": "single_shots",
    "image_count": 1,
    "aspect_ratio": "1:1",
    "resolution": "1k",
    "output_format": "png",
}


def same(name: str, first: dict[str, Any], second: dict[str, Any]) -> bool:
    return fingerprint(name, intent_of(name, first)) == fingerprint(name, intent_of(name, second))


def photography(**changes: Any) -> dict[str, Any]:
    return PHOTOGRAPHY | changes


def test_the_defaults_of_product_photography_are_filled_in() -> None:
    assert intent_of("ProductPhotography", PHOTOGRAPHY) == DEFAULTS


def test_a_photoshoot_has_four_pictures() -> None:
    assert intent_of("ProductPhotography", photography(output_mode="photoshoot"))["image_count"] == 4


@pytest.mark.parametrize("count", [1, 2, 3, 5, 6])
def test_a_photoshoot_of_another_number_is_refused(count: int) -> None:
    with pytest.raises(Problem, match="/image_count: found"):
        intent_of("ProductPhotography", photography(output_mode="photoshoot", image_count=count))


@pytest.mark.parametrize("body", [{}, {"asset_ids": []}, {"asset_ids": [], "product_ids": []}])
def test_product_photography_of_nothing_is_refused(body: dict[str, Any]) -> None:
    """D32, D51."""
    with pytest.raises(Problem) as caught:
        intent_of("ProductPhotography", {"output_mode": "single_shots"} | body)
    assert caught.value.code == "invalid_input"


@pytest.mark.parametrize(("expected", "asked"), [("png", "jpeg"), ("png", "png"), ("webp", "webp")])
def test_a_transparent_background_turns_jpeg_into_png_and_leaves_the_others(expected: str, asked: str) -> None:
    intent = intent_of("ProductPhotography", photography(background={"type": "transparent"}, output_format=asked))
    assert expected == intent["output_format"]


@pytest.mark.parametrize("text", ["#A1b2C3", "A1B2C3", "a1b2c3", "#a1b2c3"])
def test_a_colour_has_one_form(text: str) -> None:
    assert colour(text) == "#a1b2c3"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(DEFAULTS, id="defaults spelt out"),
        pytest.param(dict(reversed(DEFAULTS.items())), id="keys in another order"),
        pytest.param(photography(image_count=1.0), id="1.0 for 1"),
        pytest.param(photography(product_ids=[]), id="an empty array for none"),
    ],
)
def test_bodies_that_mean_the_same_have_the_same_fingerprint(other: dict[str, Any]) -> None:
    assert same("ProductPhotography", PHOTOGRAPHY, other)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"background": {"type": "color", "color": "#FFFFFF"}}, {"background": {"color": "ffffff", "type": "color"}}),
        ({"colorway": {"name": "Red", "hex": "FF0000"}}, {"colorway": {"name": "Red", "hex": "#ff0000"}}),
        (
            {"background": {"type": "transparent"}, "output_format": "jpeg"},
            {"background": {"type": "transparent"}, "output_format": "png"},
        ),
        ({"output_mode": "photoshoot"}, {"output_mode": "photoshoot", "image_count": 4}),
    ],
)
def test_normalized_fields_have_the_same_fingerprint(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert same("ProductPhotography", photography(**first), photography(**second))


@pytest.mark.parametrize(
    "change",
    [
        {"image_count": 2},
        {"asset_ids": ["ast_2"]},
        {"product_ids": ["ast_1"], "asset_ids": []},
        {"custom_directions": ""},
        {"output_mode": "photoshoot"},
        {"background": {"type": "color", "color": "#fff000"}},
        {"colorway": {"name": "Red"}},
        {"fashion_model": {"type": "none"}},
    ],
)
def test_bodies_that_mean_something_else_have_another_fingerprint(change: dict[str, Any]) -> None:
    assert not same("ProductPhotography", PHOTOGRAPHY, photography(**change))


def test_the_order_of_assets_matters_in_every_array_but_a_products() -> None:
    photos = [photography(asset_ids=["ast_1", "ast_2"]), photography(asset_ids=["ast_2", "ast_1"])]
    product = {"name": "Shirt", "primary_asset_id": "a"}
    styles = [{"name": "Style", "asset_ids": order} for order in (["a", "b", "c"], ["c", "b", "a"])]
    assert (
        same("ProductPhotography", photos[0], photos[1]),
        same("ProductWrite", product | {"asset_ids": ["a", "b"]}, product | {"asset_ids": ["b", "a"]}),
        same("StyleWrite", styles[0], styles[1]),
    ) == (False, True, False)


def test_the_order_of_a_products_assets_is_kept_in_its_intent() -> None:
    body = {"name": "Shirt", "asset_ids": ["b", "a"], "primary_asset_id": "a"}
    assert intent_of("ProductWrite", body)["asset_ids"] == ["b", "a"]


def test_a_style_without_description_has_an_empty_one() -> None:
    """D22."""
    assert same("StyleWrite", {"name": "S", "asset_ids": ["a"]}, {"name": "S", "asset_ids": ["a"], "description": ""})


def test_a_pose_without_distances_supports_all_three() -> None:
    """D25."""
    intent = intent_of("PoseWrite", {"name": "P", "asset_id": "a"})
    assert intent["supported_camera_distances"] == ["close", "medium", "far"]


@pytest.mark.parametrize("name", ["StylePatch", "PosePatch", "BackgroundPatch", "FashionModelPatch", "ProductPatch"])
def test_a_patch_is_given_no_defaults(name: str) -> None:
    assert intent_of(name, {"name": "New"}) == {"name": "New"}


@pytest.mark.parametrize("name", ["ProductWrite", "ProductPatch"])
def test_a_primary_outside_the_assets_sent_with_it_is_refused(name: str) -> None:
    """D22."""
    with pytest.raises(Problem, match="/primary_asset_id"):
        intent_of(name, {"name": "Shirt", "asset_ids": ["a"], "primary_asset_id": "b"})


def test_whole_numbers_have_one_form() -> None:
    assert intent_of("CreateUpload", {"content_type": "image/png", "size_bytes": 20.0}) == {
        "content_type": "image/png",
        "size_bytes": 20,
    }
