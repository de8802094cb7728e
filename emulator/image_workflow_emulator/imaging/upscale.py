"""An Upscale output: its input, larger, with a mark that says how much."""

from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import UpscaleRecipe
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import INK
from image_workflow_emulator.imaging.labels import sign
from image_workflow_emulator.imaging.pictures import Picture
from image_workflow_emulator.imaging.plaque import SMALLEST_WITH_WORDS
from image_workflow_emulator.imaging.words import Face

_MARK_SHARE = 0.06
"""The height of the mark, of the longer edge."""


def upscale(recipe: UpscaleRecipe, inputs: Sequence[bytes]) -> Picture:
    """The input at the size of the recipe."""
    source = load(inputs[0])
    size = (recipe.width, recipe.height)
    image = source.resize(size, Image.Resampling.BICUBIC)
    if min(image.size) < SMALLEST_WITH_WORDS:
        return image
    height = round(max(image.size) * _MARK_SHARE)
    text = f"{max(source.size)} → {max(image.size)}"
    mark = sign(text, face=Face(round(height * 0.7)), height=height, color=INK)
    margin = height // 2  # at the top: a picture of ours has its plaque at the bottom
    left = image.width - mark.width - margin
    image.paste(mark, (left, margin))
    return image
