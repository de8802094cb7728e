"""From a recipe and its inputs to the bytes of a picture: the one function that draws all of them."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import CardRecipe, EditRecipe, PhotographRecipe, PremadeRecipe, Recipe, UpscaleRecipe
from emulator.imaging.cards import card
from emulator.imaging.decoding import load
from emulator.imaging.edit import edit
from emulator.imaging.encoding import encode
from emulator.imaging.photograph import photograph
from emulator.imaging.premade import premade


def render(recipe: Recipe, inputs: Sequence[bytes]) -> bytes:
    """The encoded picture; the same recipe and inputs give the same bytes.

    `inputs` are the encoded pictures behind the recipe's `inputs`, in order. Raises ValueError if their number differs.
    """
    if len(inputs) != len(recipe.inputs):
        raise ValueError(f"{len(inputs)} input pictures: the recipe names {len(recipe.inputs)}")
    return encode(_draw(recipe, inputs), recipe.format)


def _draw(recipe: Recipe, inputs: Sequence[bytes]) -> Image.Image:
    match recipe:
        case PhotographRecipe():
            return photograph(recipe, inputs)
        case EditRecipe():
            return edit(recipe, inputs)
        case UpscaleRecipe():
            return load(inputs[0]).resize((recipe.width, recipe.height), Image.Resampling.BICUBIC)
        case PremadeRecipe():
            return premade(recipe)
        case CardRecipe():  # pragma: no branch (there is no other recipe)
            return card(recipe, inputs)
