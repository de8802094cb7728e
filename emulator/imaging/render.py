"""From a recipe and its inputs to the bytes of a picture: the one function that draws all of them."""

from collections.abc import Sequence

from emulator.domain.recipes import CardRecipe, EditRecipe, PhotographRecipe, PremadeRecipe, Recipe, UpscaleRecipe
from emulator.imaging.cards import card
from emulator.imaging.edit import edit
from emulator.imaging.encoding import Picture, encode
from emulator.imaging.photograph import photograph
from emulator.imaging.premade import premade
from emulator.imaging.upscale import upscale


def render(recipe: Recipe, inputs: Sequence[bytes]) -> bytes:
    """The encoded picture; the same recipe and inputs give the same bytes.

    `inputs` are the encoded pictures behind the recipe's `inputs`, in order. Raises ValueError if their number is
    another or they are not pictures.
    """
    if len(inputs) != len(recipe.inputs):
        raise ValueError(f"{len(inputs)} input pictures: the recipe names {len(recipe.inputs)}")
    return encode(_picture(recipe, inputs), recipe.format)


def _picture(recipe: Recipe, inputs: Sequence[bytes]) -> Picture:
    match recipe:
        case PhotographRecipe():
            return photograph(recipe, inputs).picture()
        case EditRecipe():
            return edit(recipe, inputs).picture()
        case UpscaleRecipe():
            return upscale(recipe, inputs[0])
        case PremadeRecipe():
            return premade(recipe).picture()
        case CardRecipe():  # pragma: no branch (there is no other recipe)
            return card(recipe, inputs).picture()
