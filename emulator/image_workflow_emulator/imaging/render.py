"""From a recipe and its inputs to the bytes of a picture: the one function that draws all of them."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from PIL import Image

from image_workflow_emulator.domain.recipes import (
    CardRecipe,
    EditRecipe,
    PhotographRecipe,
    PremadeRecipe,
    Recipe,
    UpscaleRecipe,
)
from image_workflow_emulator.domain.stamps import NO_GENERATION
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
    draw, workflow = _DRAWINGS[type(recipe)]
    return encode(draw(recipe, inputs), recipe.format, _order(recipe, workflow) if workflow else None)


def _order(recipe: Recipe, workflow: str) -> Mapping[str, object]:
    """What the metadata of an output says, with a place for the id of its Generation."""
    facts = msgspec.to_builtins(recipe)
    del facts["recipe"], facts["inputs"]
    return {"generation": NO_GENERATION, "workflow": workflow, **facts}


_DRAWINGS: Mapping[type[Recipe], tuple[Callable[..., Image.Image], str | None]] = {
    PhotographRecipe: (photograph, "product_photography"),
    EditRecipe: (edit, "edit_images"),
    UpscaleRecipe: (upscale, "upscale"),
    PremadeRecipe: (ingredient, None),
    CardRecipe: (ingredient, None),
}
"""What draws a recipe, and of which workflow it is, if it is one of the outputs."""
