"""From a recipe and its inputs to the bytes of a picture: the one function that draws all of them."""

from collections.abc import Mapping, Sequence

import msgspec
from PIL import Image

from emulator.domain.recipes import CardRecipe, EditRecipe, PhotographRecipe, PremadeRecipe, Recipe, UpscaleRecipe
from emulator.domain.stamps import NO_GENERATION
from emulator.imaging.cards import card
from emulator.imaging.decoding import load
from emulator.imaging.edit import edit
from emulator.imaging.encoding import encode
from emulator.imaging.photograph import photograph
from emulator.imaging.premade import premade
from emulator.imaging.upscale import upscale


def render(recipe: Recipe, inputs: Sequence[bytes]) -> bytes:
    """The encoded picture; the same recipe and inputs give the same bytes.

    `inputs` are the encoded pictures behind the recipe's `inputs`, in order. Raises ValueError if their number differs.
    """
    if len(inputs) != len(recipe.inputs):
        raise ValueError(f"{len(inputs)} input pictures: the recipe names {len(recipe.inputs)}")
    return encode(_draw(recipe, inputs), recipe.format, _order(recipe))


def _order(recipe: Recipe) -> Mapping[str, object] | None:
    """What the metadata of an output says, with a place for the id of its Generation; None for other pictures."""
    if isinstance(recipe, PremadeRecipe | CardRecipe):
        return None
    facts = msgspec.to_builtins(recipe)
    workflow = {"PhotographRecipe": "product_photography", "EditRecipe": "edit_images"}.get(facts["recipe"], "upscale")
    del facts["recipe"], facts["inputs"]
    return {"generation": NO_GENERATION, "workflow": workflow, **facts}


def _draw(recipe: Recipe, inputs: Sequence[bytes]) -> Image.Image:
    match recipe:
        case PhotographRecipe():
            return photograph(recipe, inputs)
        case EditRecipe():
            return edit(recipe, inputs)
        case UpscaleRecipe():
            return upscale(recipe, load(inputs[0]))
        case PremadeRecipe():
            return premade(recipe)
        case CardRecipe():  # pragma: no branch (there is no other recipe)
            return card(recipe, inputs)
