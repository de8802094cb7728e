"""An Upscale output: the input, larger, with a mark that says how much."""

from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import UpscaleRecipe
from image_workflow_emulator.imaging.captions import label
from image_workflow_emulator.imaging.decoding import load
from image_workflow_emulator.imaging.drawing import INK

_MARK_SHARE = 0.06  # of the longer edge: the height of the mark
_SMALLEST_EDGE = 160  # pixels of the shorter edge; smaller pictures have no mark


def upscale(recipe: UpscaleRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture of an Upscale."""
    source = load(inputs[0])
    image = source.resize((recipe.width, recipe.height), Image.Resampling.BICUBIC)
    if min(image.size) >= _SMALLEST_EDGE:
        mark = label(f"{max(source.size)} → {max(image.size)}", INK, round(max(image.size) * _MARK_SHARE))
        margin = mark.height // 2  # at the top: a picture of ours has its plaque at the bottom
        image.paste(mark, (image.width - mark.width - margin, margin))
    return image
