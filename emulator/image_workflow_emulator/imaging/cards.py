"""The card of an ingredient: a picture above a plaque that has the same size and place
on every card.
"""

from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.imaging.canvas import Canvas, Ground, Size
from image_workflow_emulator.imaging.colors import INK, WHITE
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.labels import QUIET, chip, text_line
from image_workflow_emulator.imaging.words import Face, plain_text, shorten

PICTURE_SHARE = 0.78
"""A share of the height: the part of a card that is a picture."""
_MARGIN_SHARE = 0.06
_TITLE_LETTERS = 0.32
_FACTS_LETTERS = 0.2
"""A share of the height of a plaque."""
_SMALLEST_WITH_WORDS = 100
"""Pixels of the width; no word can be read on a smaller card."""


class Card:
    """A card in the making; its picture is painted on `canvas`, within `room`."""

    def __init__(self, size: Size, ground: Ground) -> None:
        width, height = size
        self.canvas = Canvas.of(size, ground)
        picture_height = max(1.0, height * PICTURE_SHARE)
        margin = min(width, picture_height) * _MARGIN_SHARE
        self.room = Box(left=0, top=0, width=width, height=picture_height).inset(margin)

    def finished(
        self, name: str, facts: str, swatches: Sequence[Image.Image] = ()
    ) -> Image.Image:
        """The card with its plaque: a name, facts, and small pictures."""
        image = self.canvas.image
        top = round(image.height * PICTURE_SHARE)
        if image.width >= _SMALLEST_WITH_WORDS and top < image.height:
            size = (image.width, image.height - top)
            image.paste(_plaque(size, name, facts, swatches), (0, top))
        return image


def _plaque(
    size: Size, name: str, facts: str, swatches: Sequence[Image.Image]
) -> Image.Image:
    width, height = size
    plaque = Image.new("RGB", size, INK)
    edge = height // 6
    free = width - 2 * edge
    title_face = Face(max(8, round(height * _TITLE_LETTERS)))
    title = shorten(plain_text(name), title_face, free)
    title_face.draw(plaque, x=edge, middle=height * 0.33, text=title, color=WHITE)
    facts_face = Face(max(8, round(height * _FACTS_LETTERS)))
    line = text_line(shorten(plain_text(facts), facts_face, free), facts_face, QUIET)
    plaque.paste(line, (edge, round(height * 0.74 - line.height / 2)))
    left = edge + line.width + edge
    for swatch in swatches:
        small = chip("", face=facts_face, height=round(height * 0.34), swatch=swatch)
        plaque.paste(small, (left, round(height * 0.74 - small.height / 2)))
        left += small.width + edge // 2
    return plaque
