import json
from typing import get_args

import pytest
from msgspec import ValidationError, convert, to_builtins

from image_workflow_emulator.domain.recipes import PhotographRecipe, Recipe, UpscaleRecipe
from tests.imaging.test_render import recipes


def test_a_recipe_of_every_kind_is_drawn_in_tests() -> None:
    assert set(get_args(Recipe)) == {type(recipe) for recipe, _ in recipes(64, 80, "png")}


@pytest.mark.parametrize("recipe", [recipe for recipe, _ in recipes(64, 80, "png")])
def test_a_recipe_survives_the_way_to_a_helper_process(recipe: Recipe) -> None:
    assert recipe == convert(json.loads(json.dumps(to_builtins(recipe))), Recipe)


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe": "painting"},
        {"width": 0},
        {"height": 20_000},
        {"width": "wide"},
        {"format": "gif"},
        {"inputs": []},
        {"inputs": ["one", "two"]},
    ],
    ids=str,
)
def test_a_recipe_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    plain = to_builtins(UpscaleRecipe(width=20, height=10, format="png", inputs=("one",)))
    with pytest.raises(ValidationError, match=r"."):
        convert(plain | changes, Recipe)


@pytest.mark.parametrize(
    "changes",
    [
        {"subject_count": 0},
        {"subject_count": 2},
        {"model_input_count": -1},
        {"model_input_count": 1_000},
        {"model_input_count": 1},
        {"background_kind": "picture"},
        {"photography_style": "Golden hour"},
        {"pose": "Walking"},
        {"people": 1_000},
        {"background_hex": "#12345"},
        {"background_hex": "orange"},
        {"background_kind": "color"},
        {"background_kind": "transparent", "format": "jpeg"},
    ],
    ids=str,
)
def test_a_photograph_whose_inputs_do_not_add_up_is_refused(changes: dict[str, object]) -> None:
    plain = to_builtins(PhotographRecipe(width=20, height=10, format="png", inputs=("one",), subject_count=1))
    with pytest.raises(ValidationError, match=r"[Ee]xpected|needs"):
        convert(plain | changes, Recipe)
