"""From a recipe and its inputs to the bytes of a picture: the one function that draws all of them."""

from collections.abc import Callable, Mapping, Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import (
    CardRecipe,
    EditRecipe,
    PhotographRecipe,
    PremadeRecipe,
    Recipe,
    UpscaleRecipe,
)
from image_workflow_emulator.imaging.edit import edit
from image_workflow_emulator.imaging.encoding import encode
from image_workflow_emulator.imaging.ingredients import ingredient
from image_workflow_emulator.imaging.photograph import photograph
from image_workflow_emulator.imaging.upscale import upscale


def render(recipe: Recipe, inputs: Sequence[bytes]) -> bytes:
    """The encoded picture; the same recipe and inputs give the same bytes.

    `inputs` are the encoded pictures behind the recipe's `inputs`, in order. Raises ValueError if their number differs.
    """
    if len(inputs) != len(recipe.inputs):
        raise ValueError(f"{len(inputs)} input pictures: the recipe names {len(recipe.inputs)}")
    return encode(_DRAWINGS[type(recipe)](recipe, inputs), recipe.format)


_DRAWINGS: Mapping[type[Recipe], Callable[..., Image.Image]] = {
    PhotographRecipe: photograph,
    EditRecipe: edit,
    UpscaleRecipe: upscale,
    PremadeRecipe: ingredient,
    CardRecipe: ingredient,
}
