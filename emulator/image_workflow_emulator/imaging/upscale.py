"""An Upscale output: its input, larger, with a mark that says how much."""

from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import UpscaleRecipe
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import INK
from image_workflow_emulator.imaging.labels import sign
from image_workflow_emulator.imaging.panels import SMALLEST_WITH_WORDS
from image_workflow_emulator.imaging.pictures import Picture
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
    _paste_mark(image, text=f"{max(source.size)} → {max(image.size)}")
    return image


def _paste_mark(image: Picture, text: str) -> None:
    """Paste it at the top: a picture of ours has its plaque at the bottom."""
    height = round(max(image.size) * _MARK_SHARE)
    face = Face(round(height * 0.7))
    mark = sign(
        text,
        face=face,
        height=height,
        color=INK,
    )
    margin = height // 2
    left = image.width - mark.width - margin
    image.paste(mark, (left, margin))
