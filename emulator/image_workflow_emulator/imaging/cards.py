"""The card of an ingredient: a picture above a plaque that has the same size and place
on every card.
"""

from collections.abc import Sequence

from image_workflow_emulator.imaging.canvas import Canvas
from image_workflow_emulator.imaging.colors import WHITE
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.grounds import Ground
from image_workflow_emulator.imaging.labels import QUIET, blank, chip, text_line
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
        self.room = Box.of_size(width, picture_height).inset(margin)

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
            plaque = _CardPlaque(image.width, image.height - top)
            plaque.write_title(name)
            plaque.write_facts(facts)
            for swatch in swatches:
                plaque.append_swatch(swatch)
            image.paste(plaque.image, (0, top))
        return image


class _CardPlaque:
    """A title, and below it facts and swatches, one after another from the left."""

    def __init__(self, width: int, height: int) -> None:
        self.image = blank(width, height)
        self._height = height
        self._edge = height // 6
        self._text_width = width - 2 * self._edge
        self._facts_face = _face(height * _FACTS_LETTERS)
        self._next_left = self._edge

    def write_title(self, name: str) -> None:
        face = _face(self._height * _TITLE_LETTERS)
        face.draw(
            self.image,
            x=self._edge,
            middle=self._height * _TITLE_MIDDLE,
            text=self._fitting(name, face),
            color=WHITE,
        )

    def write_facts(self, facts: str) -> None:
        text = self._fitting(facts, self._facts_face)
        line = text_line(text, self._facts_face, QUIET)
        self._append(line, gap=self._edge)

    def append_swatch(self, swatch: Picture) -> None:
        height = round(self._height * _SWATCH_SHARE)
        cell = chip(
            name="",
            face=self._facts_face,
            height=height,
            swatch=swatch,
        )
        self._append(cell, gap=self._edge // 2)

    def _fitting(self, text: str, face: Face) -> str:
        return shorten(plain_text(text), face, self._text_width)

    def _append(self, cell: Picture, gap: int) -> None:
        """Paste a cell into the second line; the next one follows after a gap."""
        top = round(self._height * _FACTS_MIDDLE - cell.height / 2)
        self.image.paste(cell, (self._next_left, top))
        self._next_left += cell.width + gap


def _face(letters: float) -> Face:
    return Face(max(_SMALLEST_LETTERS, round(letters)))
