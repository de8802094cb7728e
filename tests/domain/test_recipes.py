import json

import pytest

from emulator.domain.recipes import (
    RECIPE_KINDS,
    PhotographRecipe,
    Recipe,
    UpscaleRecipe,
    recipe_from_dict,
    recipe_to_dict,
)
from tests.imaging.test_render import recipes


def test_a_recipe_of_every_kind_is_drawn_in_tests() -> None:
    assert set(RECIPE_KINDS.values()) == {type(recipe) for recipe, _ in recipes(64, 80, "png")}


@pytest.mark.parametrize("recipe", [recipe for recipe, _ in recipes(64, 80, "png")])
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
