"""The card of an ingredient: a picture above a plaque that has the same size and place
on every card.
"""

from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.imaging.canvas import Canvas, Ground
from image_workflow_emulator.imaging.colors import INK, WHITE
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.labels import QUIET, chip, text_line
from image_workflow_emulator.imaging.pictures import Picture, Size
from image_workflow_emulator.imaging.words import Face, plain_text, shorten

PICTURE_SHARE = 0.78
"""A share of the height: the part of a card that is a picture."""
_MARGIN_SHARE = 0.06
_TITLE_LETTERS = 0.32
_FACTS_LETTERS = 0.2
_SWATCH_SHARE = 0.34
_TITLE_MIDDLE = 0.33
_FACTS_MIDDLE = 0.74
"""Shares of the height of a plaque: sizes, and the middles of its two lines."""
_SMALLEST_LETTERS = 8
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
        self,
        name: str,
        facts: str,
        swatches: Sequence[Picture] = (),
    ) -> Picture:
        """The card with its plaque: a name, facts, and small pictures."""
        image = self.canvas.image
        top = round(image.height * PICTURE_SHARE)
        if image.width >= _SMALLEST_WITH_WORDS and top < image.height:
            size = (image.width, image.height - top)
            plaque = _plaque(size, name, facts, swatches)
            image.paste(plaque, (0, top))
        return image


def _plaque(size: Size, name: str, facts: str, swatches: Sequence[Picture]) -> Picture:
    width, height = size
    edge = height // 6
    free = width - 2 * edge
    plaque = Image.new("RGB", size, INK)
    title_face = _face(height * _TITLE_LETTERS)
    title = shorten(plain_text(name), title_face, free)
    middle = height * _TITLE_MIDDLE
    title_face.draw(plaque, x=edge, middle=middle, text=title, color=WHITE)
    face = _face(height * _FACTS_LETTERS)
    line = text_line(shorten(plain_text(facts), face, free), face, QUIET)
    _paste_fact(plaque, line, edge)
    left = edge + line.width + edge
    for swatch in swatches:
        edge_of_chip = round(height * _SWATCH_SHARE)
        small = chip("", face=face, height=edge_of_chip, swatch=swatch)
        _paste_fact(plaque, small, left)
        left += small.width + edge // 2
    return plaque


def _face(letters: float) -> Face:
    return Face(max(_SMALLEST_LETTERS, round(letters)))


def _paste_fact(plaque: Picture, cell: Picture, left: int) -> None:
    """Paste text or a swatch into the second line."""
    top = round(plaque.height * _FACTS_MIDDLE - cell.height / 2)
    plaque.paste(cell, (left, top))
