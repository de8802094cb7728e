"""What the pictures of an order are made from: the recipe of each output."""

from typing import Any

from image_workflow_emulator.domain.recipes import (
    EditRecipe,
    PhotographRecipe,
    Recipe,
)
from tests.support.emulator_client import Json
from tests.support.emulator_under_test import EmulatorUnderTest


def recipes_of(emulator: EmulatorUnderTest, admitted: Any) -> list[Recipe | None]:
    """Return the recipes of the outputs of an order, once it has completed."""
    generation = emulator.wait_for(emulator.created(admitted, 202))
    pictures = emulator.sandbox.images.pictures
    asset_ids = [output["asset"]["id"] for output in generation["outputs"]]
    return [pictures[asset_id].recipe for asset_id in asset_ids]


def test_a_photoshoot_is_made_from_all_that_its_order_names(
    emulator: EmulatorUnderTest,
) -> None:
    main_photo, alone = emulator.assets(2)
    product = emulator.product(main_photo, name="Linen shirt")
    style = emulator.premade("photography_style")
    background = emulator.premade("background")
    pose = emulator.premade("pose")
    first, second = emulator.get("/fashion-models?limit=2").json["data"]
    distance = pose["supported_camera_distances"][0]
    pictures = emulator.sandbox.images.pictures
    order: Json = {
        "output_mode": "photoshoot",
        "image_count": 4,
        "product_ids": [product["id"]],
        "asset_ids": [alone],
        "photography_style_id": style["id"],
        "background": {"type": "background", "background_id": background["id"]},
        "pose_id": pose["id"],
        "camera_distance": distance,
        "fashion_model": {
            "type": "group",
            "fashion_model_ids": [first["id"], second["id"]],
        },
        "colorway": {"name": "Rust", "hex": "#aa4411"},
        "custom_directions": "Evening light.",
        "aspect_ratio": "4:5",
        "resolution": "1k",
        "output_format": "webp",
    }

    recipes = recipes_of(emulator, emulator.photograph(**order))

    assert len(recipes) == 4
    for slot, recipe in enumerate(recipes, start=1):
        assert isinstance(recipe, PhotographRecipe)
        assert recipe.slot == slot
        assert recipe.slot_count == 4
        assert recipe.is_photoshoot
        assert recipe.format == "webp"
        assert recipe.resolution == "1k"
        assert recipe.aspect_ratio == "4:5"
        assert list(recipe.product_names) == ["Linen shirt"]
        assert recipe.subject_count == 2
        assert list(recipe.inputs[:2]) == [main_photo, alone]
        assert recipe.background_kind == "picture"
        assert recipe.background_name == background["name"]
        assert recipe.photography_style == style["name"]
        assert recipe.pose == pose["name"]
        assert list(recipe.model_names) == [first["name"], second["name"]]
        assert recipe.people == 2
        assert recipe.model_input_count == 2
        assert recipe.camera_distance == distance
        assert recipe.colorway == "Rust"
        assert recipe.colorway_hex == "#aa4411"
        assert recipe.directions == "Evening light."
        assert len(recipe.inputs) == 7
        assert set(recipe.inputs) <= pictures.keys()


def test_an_order_that_chooses_nothing_is_made_from_its_photos_alone(
    emulator: EmulatorUnderTest,
) -> None:
    (asset_id,) = emulator.assets(1)
    order: Json = {
        "asset_ids": [asset_id],
        "background": {"type": "color", "color": "#336699"},
        "fashion_model": {"type": "none"},
    }

    (recipe,) = recipes_of(emulator, emulator.photograph(**order))

    assert isinstance(recipe, PhotographRecipe)
    assert list(recipe.inputs) == [asset_id]
    assert recipe.background_kind == "color"
    assert recipe.background_hex == "#336699"
    assert recipe.background_name is None
    assert recipe.people == 0
    assert recipe.model_input_count == 0
    assert not recipe.model_names
    assert recipe.photography_style is None
    assert recipe.pose is None
    assert not recipe.product_names
    assert not recipe.is_photoshoot
    assert recipe.directions == ""


def test_an_automatic_model_is_one_person_without_a_picture(
    emulator: EmulatorUnderTest,
) -> None:
    order: Json = {"fashion_model": {"type": "automatic"}}

    (recipe,) = recipes_of(emulator, emulator.photograph(**order))

    assert isinstance(recipe, PhotographRecipe)
    assert recipe.people == 1
    assert recipe.model_input_count == 0


def test_an_edit_is_made_from_its_photos_and_its_instructions(
    emulator: EmulatorUnderTest,
) -> None:
    asset_ids = emulator.assets(2)
    order: Json = {
        "asset_ids": asset_ids,
        "instructions": "On a table.",
        "aspect_ratio": "4:5",
        "resolution": "1k",
        "output_format": "png",
    }

    admitted = emulator.post("/generations/edit-images", order)
    (recipe,) = recipes_of(emulator, admitted)

    assert isinstance(recipe, EditRecipe)
    assert list(recipe.inputs) == asset_ids
    assert recipe.instructions == "On a table."
    assert recipe.aspect_ratio == "4:5"
    assert recipe.resolution == "1k"
    assert recipe.format == "png"
