"""An Edit Images output: the inputs as they were, small, and what became of them, large; and the instructions."""

import re
from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe
from image_workflow_emulator.imaging.captions import Plaque, facts_of, with_plaque
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import chance, named_color, opaque
from image_workflow_emulator.imaging.cutouts import SUBJECT_EDGE, subject_in
from image_workflow_emulator.imaging.drawing import Box, Canvas, backdrop

_SEVERAL_EDGE = (
    480  # pixels of each of several inputs; more makes no visible difference
)
_GROUNDS = r"wall|background|backdrop|ground|floor|surface|table"
_ABOUT_GROUND = re.compile(rf"(?:\w+\s+){{0,2}}\b({_GROUNDS})\b(?:\s+\w+){{0,2}}")
"""A word for the ground, with the two words before and after it."""
_REMOVAL = re.compile(
    rf"(remove|delete|without|erase)\b.{{0,20}}\b({_GROUNDS})|transparent|cut ?out"
)


def edit(recipe: EditRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture that an Edit Images asks for: every input before, whole, and all of them together after.

    A colour beside a word for the ground is the ground's; another one is the subject's.
    """
    words = recipe.instructions[:600].casefold()
    about = _ABOUT_GROUND.search(words)
    ground = named_color(about[0].split()) if about else None
    rest = words.replace(about[0], "") if about and ground else words
    color = named_color(re.findall(r"\w+", rest))
    wall = (
        _checkered()
        if _REMOVAL.search(words)
        else ground or backdrop(chance(words, *recipe.inputs))
    )

    def draw(size: tuple[int, int], room: Box) -> Image.Image:
        is_wide = room.width > room.height
        gap, share = (
            min(room.width, room.height) * 0.05,
            0.26 * max(room.width, room.height),
        )
        before, after = room.split("left" if is_wide else "top", share, gap)
        canvas = Canvas.of(size, wall)
        photos = [
            load(data, _SEVERAL_EDGE if len(inputs) > 1 else SUBJECT_EDGE)
            for data in inputs
        ]
        canvas.paint_all([subject_in(photo, color) for photo in photos], after, 0.8)
        canvas.paint_all([opaque(photo) for photo in photos], before)
        return canvas.image

    title = f"{len(inputs)} input{'s' * (len(inputs) > 1)}"
    return with_plaque(
        recipe,
        Plaque(
            title, facts_of(recipe), (), recipe.instructions, "Edit", (150, 186, 255)
        ),
        draw,
    )


def _checkered() -> Image.Image:
    """The pattern that stands for transparency."""
    tiles = bytes(214 if (x + y) % 2 else 255 for y in range(32) for x in range(32))
    return (
        Image.frombytes("L", (32, 32), tiles)
        .convert("RGB")
        .resize((512, 512), Image.Resampling.NEAREST)
    )
