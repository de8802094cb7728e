"""An Upscale output: the input, larger, with a mark whose lines are one pixel wide, so that no smaller picture has them."""

from collections.abc import Sequence

from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import UpscaleRecipe
from image_workflow_emulator.imaging.captions import label
from image_workflow_emulator.imaging.decoding import load
from image_workflow_emulator.imaging.drawing import INK, WHITE

_MARK_SHARE = 0.06  # of the longer edge: the height of the mark
_SMALLEST_EDGE = 160  # pixels of the shorter edge; smaller pictures have no mark


def upscale(recipe: UpscaleRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture of an Upscale."""
    source = load(inputs[0])
    image = source.resize((recipe.width, recipe.height), Image.Resampling.BICUBIC)
    if min(image.size) >= _SMALLEST_EDGE:
        mark = _mark(f"{max(source.size)} → {max(image.size)}", round(max(image.size) * _MARK_SHARE))
        margin = mark.height // 2
        image.paste(mark, (image.width - mark.width - margin, image.height - mark.height - margin))
    return image


def _mark(text_of_edges: str, edge: int) -> Image.Image:
    """The longer edges of input and output, and a test chart."""
    text, rim = label(text_of_edges, INK, edge), edge // 8
    width = text.width + 2 * rim
    mark = Image.new("RGB", (width + 2 * edge, edge), INK)
    mark.paste(text, (rim, 0))
    draw = ImageDraw.Draw(mark)
    for x in range(width, width + edge, 2):
        draw.line((x, 0, x, edge), fill=WHITE)
    for y in range(0, edge, 2):
        draw.line((width + edge, y, mark.width, y), fill=WHITE)
    draw.rectangle((0, 0, mark.width - 1, edge - 1), outline=WHITE)
    return mark
