import json
from typing import get_args

import pytest
from msgspec import ValidationError, convert, to_builtins

from image_workflow_emulator.domain.recipes import Recipe
from tests.imaging.test_render import recipes


def test_a_recipe_of_every_kind_is_drawn_in_tests() -> None:
    assert set(get_args(Recipe)) == {type(recipe) for recipe, _ in recipes(64, 80, "png")}


@pytest.mark.parametrize("recipe", [recipe for recipe, _ in recipes(64, 80, "png")])
def test_a_recipe_survives_the_way_to_a_helper_process(recipe: Recipe) -> None:
    assert recipe == convert(json.loads(json.dumps(to_builtins(recipe))), Recipe)


PHOTOGRAPH = {"recipe": "PhotographRecipe", "width": 20, "height": 10, "format": "png", "subject_count": 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe": "painting"},
        {"width": 0},
        {"height": 20_000},
        {"width": "wide"},
        {"format": "gif"},
        {"subject_count": 0},
        {"slot_count": 7},
        {"model_input_count": -1},
        {"model_input_count": 1_000},
        {"people": 1_000},
        {"background_hex": "#12345"},
        {"background_hex": "orange"},
    ],
    ids=str,
)
def test_a_recipe_of_impossible_values_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"[Ee]xpected|Invalid"):
        convert(PHOTOGRAPH | changes, Recipe)
