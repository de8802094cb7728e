"""From a recipe and its inputs to the bytes of a picture: the one function that draws all of them."""

from collections.abc import Callable, Mapping, Sequence

from PIL import Image

from image_workflow_emulator.domain import recipes
from image_workflow_emulator.imaging.captions import label
from image_workflow_emulator.imaging.codecs import encode, load
from image_workflow_emulator.imaging.colors import INK
from image_workflow_emulator.imaging.edit import edit
from image_workflow_emulator.imaging.ingredients import ingredient
from image_workflow_emulator.imaging.photograph import photograph
from image_workflow_emulator.imaging.words import Face

_MARK_SHARE = 0.06  # of the longer edge: the height of the mark of an Upscale
_SMALLEST_EDGE = 160  # pixels of the shorter edge; smaller pictures have no mark


def render(recipe: recipes.Recipe, inputs: Sequence[bytes]) -> bytes:
    """The encoded picture; the same recipe and inputs give the same bytes.

    `inputs` are the encoded pictures behind the recipe's `inputs`, in order. Raises ValueError if their number differs.
    """
    if len(inputs) != len(recipe.inputs):
        raise ValueError(
            f"{len(inputs)} input pictures: the recipe names {len(recipe.inputs)}"
        )
    return encode(_DRAWINGS[type(recipe)](recipe, inputs), recipe.format)


def _upscale(recipe: recipes.UpscaleRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The input, larger, with a mark that says how much."""
    source = load(inputs[0])
    image = source.resize((recipe.width, recipe.height), Image.Resampling.BICUBIC)
    if min(image.size) >= _SMALLEST_EDGE:
        height = round(max(image.size) * _MARK_SHARE)
        mark = label(
            f"{max(source.size)} → {max(image.size)}",
            Face(round(height * 0.7)),
            height,
            INK,
        )
        margin = (
            height // 2
        )  # at the top: a picture of ours has its plaque at the bottom
        image.paste(mark, (image.width - mark.width - margin, margin))
    return image


_DRAWINGS: Mapping[type[recipes.Recipe], Callable[..., Image.Image]] = {
    recipes.PhotographRecipe: photograph,
    recipes.EditRecipe: edit,
    recipes.UpscaleRecipe: _upscale,
    recipes.PremadeRecipe: ingredient,
    recipes.CardRecipe: ingredient,
}
