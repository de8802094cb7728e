"""From a recipe and its inputs to the bytes of a picture: the one function that draws
all of them.
"""

from collections.abc import Sequence

from image_workflow_emulator.domain.recipes import (
    CardRecipe,
    EditRecipe,
    PhotographRecipe,
    PremadeRecipe,
    Recipe,
    UpscaleRecipe,
)
from image_workflow_emulator.imaging.codecs import encode
from image_workflow_emulator.imaging.edit import edit
from image_workflow_emulator.imaging.ingredients import (
    own_ingredient,
    premade_ingredient,
)
from image_workflow_emulator.imaging.photograph import photograph
from image_workflow_emulator.imaging.pictures import Picture
from image_workflow_emulator.imaging.upscale import upscale


def render(recipe: Recipe, inputs: Sequence[bytes]) -> bytes:
    """The encoded picture; the same recipe and inputs give the same bytes.

    `inputs` are the encoded pictures behind the recipe's `inputs`, in order. Raises
    ValueError if their number differs.
    """
    if len(inputs) != len(recipe.inputs):
        raise ValueError(
            f"{len(inputs)} input pictures: the recipe names {len(recipe.inputs)}"
        )
    return encode(_draw(recipe, inputs), recipe.format)


def _draw(recipe: Recipe, inputs: Sequence[bytes]) -> Picture:
    match recipe:
        case PhotographRecipe():
            return photograph(recipe, inputs)
        case EditRecipe():
            return edit(recipe, inputs)
        case UpscaleRecipe():
            return upscale(recipe, inputs)
        case CardRecipe():
            return own_ingredient(recipe, inputs)
        case PremadeRecipe():
            return premade_ingredient(recipe, inputs)
