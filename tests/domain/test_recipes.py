import json

import pytest

from emulator.domain.recipes import (
    CardRecipe,
    EditRecipe,
    PhotographRecipe,
    PremadeRecipe,
    Recipe,
    UpscaleRecipe,
    recipe_from_dict,
    recipe_to_dict,
)

RECIPES: list[Recipe] = [
    PhotographRecipe(
        width=1024,
        height=576,
        format="webp",
        inputs=("one", "two", "wall", "model", "style", "pose"),
        subject_count=2,
        background_kind="picture",
        photography_style="Golden hour",
        pose="Walking",
        colorway="Grey",
        colorway_hex="#aabbcc",
        model_input_count=1,
        people=1,
        slot=2,
        slot_count=4,
        resolution="1k",
        camera_distance="far",
        directions="From above",
    ),
    EditRecipe(width=64, height=64, format="png", inputs=("one",), instructions="Make it blue"),
    UpscaleRecipe(width=2048, height=1024, format="jpeg", inputs=("one",)),
    PremadeRecipe(width=64, height=80, format="png", kind="pose", name="Walking", attributes=("far",), index=3),
    CardRecipe(width=64, height=80, format="png", inputs=("one", "two"), kind="background", name="Mine"),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_a_recipe_survives_the_way_to_a_helper_process(recipe: Recipe) -> None:
    assert recipe == recipe_from_dict(json.loads(json.dumps(recipe_to_dict(recipe))))


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe": "painting"}, {"width": 0}, {"height": 20_000}, {"width": "wide"}, {"format": "gif"},
        {"inputs": []}, {"inputs": ["one", "two"]}, {"color": "red"},
    ],
    ids=str,
)  # fmt: skip
def test_a_recipe_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    plain = recipe_to_dict(UpscaleRecipe(width=20, height=10, format="png", inputs=("one",)))
    with pytest.raises(ValueError, match=r"."):
        recipe_from_dict(plain | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"subject_count": 0}, {"subject_count": 2}, {"model_input_count": -1}, {"model_input_count": 1_000},
        {"model_input_count": 1}, {"background_kind": "picture"}, {"photography_style": "Golden hour"},
        {"pose": "Walking"}, {"people": 1_000}, {"background_kind": "color"}, {"background_kind": "transparent", "format": "jpeg"},
    ],
    ids=str,
)  # fmt: skip
def test_a_photograph_whose_inputs_do_not_add_up_is_refused(changes: dict[str, object]) -> None:
    plain = recipe_to_dict(PhotographRecipe(width=20, height=10, format="png", inputs=("one",), subject_count=1))
    with pytest.raises(ValueError, match=r"expected|needs"):
        recipe_from_dict(plain | changes)
