"""An Edit Images output: the input pictures with white borders, and the instructions."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import EditRecipe
from emulator.imaging.captions import Plaque, captioned
from emulator.imaging.composition import compose, framed
from emulator.imaging.decoding import load
from emulator.imaging.drawing import chance, pale_wall, trimmed
from emulator.imaging.layout import arrange

_INPUT_EDGE = 1280  # pixels; more makes no visible difference


def edit(recipe: EditRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture that an Edit Images asks for: every input whole, and the instructions on the plaque."""
    hue = chance("edit", recipe.instructions, *recipe.inputs)
    count = f"{len(inputs)} input{'s' * (len(inputs) > 1)}"
    plaque = Plaque("Edit images", f"{count} · {recipe.resolution}", words=recipe.instructions)
    room, words = captioned(recipe.width, recipe.height, plaque)
    longest = min(_INPUT_EDGE, round(max(room.width, room.height)))
    images = [trimmed(load(data, longest)) for data in inputs]
    short = min(recipe.width, recipe.height)
    boxes = arrange([image.width / image.height for image in images], room, short * 0.04)
    layers = [layer for image, box in zip(images, boxes, strict=True) for layer in framed(image, box, short * 0.01)]
    return compose(recipe.width, recipe.height, pale_wall(hue), (*layers, *words))
