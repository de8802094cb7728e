"""An Edit Images output: the inputs as they were, and the instructions, large and
whole.

Words are shown and never obeyed.
"""

from bisect import bisect_left
from collections.abc import Sequence

from image_workflow_emulator.domain.recipes import EditRecipe
from image_workflow_emulator.imaging.canvas import Canvas
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import WHITE, Color, chance, opaque
from image_workflow_emulator.imaging.geometry import Arrangement, Box, arrange
from image_workflow_emulator.imaging.grounds import backdrop
from image_workflow_emulator.imaging.labels import QUIET, blank, sign, text_line
from image_workflow_emulator.imaging.panels import (
    SMALLEST_WITH_WORDS,
    Cells,
    Layout,
    layout_of,
    paste_panel,
    stack,
)
from image_workflow_emulator.imaging.pictures import Picture, aspect_of, enlarged
from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap

_ACCENT: Color = (150, 186, 255)
_PANEL_SHARE = 0.5
"""How much of the width or the height the panel takes at most."""
_ONE_EDGE = 960
"""Pixels of a single input that are enough."""
_SEVERAL_EDGE = 480
_LARGEST_LETTERS = 1 / 12
"""A share of the longer edge."""
_SMALLEST_LETTERS = 10
"""Pixels."""
_HEAD_LETTERS = 1 / 28
"""A share of the longer edge."""
_LEAST_LETTERS_IN_WIDTH = 14
"""So many letters of the head are beside each other at least."""
_MARK_LETTERS = 1.4
_MARK_HEIGHT = 2
_FACTS_LETTERS = 0.8
_EDGE = 0.6
"""In letters of the head: the mark, the facts, and the edge of the panel."""
_LONGEST_WORD = 20
"""Characters of a word that is never parted; some scripts have no spaces."""


def edit(recipe: EditRecipe, inputs: Sequence[bytes]) -> Picture:
    """The picture of an Edit Images: every input, whole and unchanged, and what was
    asked for.
    """
    size = (recipe.width, recipe.height)
    layout = layout_of(size, beside_share=_PANEL_SHARE, below_share=_PANEL_SHARE)
    hue = chance(recipe.instructions, *recipe.inputs)
    canvas = Canvas.of(layout.size, backdrop(hue))
    room = layout.scene
    if min(size) >= SMALLEST_WITH_WORDS:
        room = _paint_panel(canvas, recipe, layout)
    _paint_inputs(canvas, inputs, room)
    return enlarged(canvas.image, size)


def _paint_panel(
    canvas: Canvas,
    recipe: EditRecipe,
    layout: Layout,
) -> Box:
    """Paint the panel. Returns the room that it leaves."""
    panel = _Panel(recipe, layout).image()
    down = 1.0
    if layout.is_beside:
        down = 0.5
    place = layout.panel.place(panel.width, panel.height, down=down)
    radius = max(layout.size) / 56
    paste_panel(
        canvas.image,
        panel=panel,
        place=place,
        radius=radius,
    )
    return layout.scene_without(place)


def _paint_inputs(
    canvas: Canvas,
    inputs: Sequence[bytes],
    room: Box,
) -> None:
    enough = _SEVERAL_EDGE
    if len(inputs) == 1:
        enough = _ONE_EDGE
    photos = [opaque(load(data, enough)) for data in inputs]
    aspects = [aspect_of(photo) for photo in photos]
    unpainted = iter(photos)
    arrangement = Arrangement(canvas.gap, down=0.5)
    for row in arrange(aspects, room, arrangement):
        for box in row.boxes:
            photo = next(unpainted)
            canvas.paint_framed(photo, box)


class _Panel:
    """The instructions, below a line that says what they are."""

    def __init__(self, recipe: EditRecipe, layout: Layout) -> None:
        self._recipe = recipe
        self._longest_edge = max(layout.size)
        self._width = round(layout.panel.width)
        self._most_height = round(layout.panel.height)
        letters = min(
            self._longest_edge * _HEAD_LETTERS,
            self._width / _LEAST_LETTERS_IN_WIDTH,
        )
        self._head_letters = max(_SMALLEST_LETTERS, round(letters))
        self._edge = round(self._head_letters * _EDGE)

    def image(self) -> Picture:
        """The panel, as high as it needs to be."""
        head = self._head()
        text = self._text_below(head)
        panel = stack(
            [head, [text.image()]],
            width=self._width,
            edge=self._edge,
            gap=self._edge,
        )
        height = min(panel.height, self._most_height)
        return panel.crop((0, 0, panel.width, height))

    def _head(self) -> Cells:
        size = self._head_letters
        mark = sign(
            "Edit",
            face=Face(round(size * _MARK_LETTERS)),
            height=size * _MARK_HEIGHT,
            color=_ACCENT,
        )
        small_size = max(_SMALLEST_LETTERS, round(size * _FACTS_LETTERS))
        small = Face(small_size)
        free = self._width - mark.width - 3 * self._edge
        facts = shorten(self._facts(), small, free)
        return [mark, text_line(facts, small, QUIET)]

    def _facts(self) -> str:
        recipe = self._recipe
        count = len(recipe.inputs)
        facts = [
            f"{count} inputs",
            recipe.aspect_ratio,
            recipe.resolution.upper(),
            recipe.format.upper(),
        ]
        if count == 1:
            facts[0] = "1 input"
        return " · ".join(filter(None, facts))

    def _text_below(self, head: Cells) -> "_Text":
        """The instructions, in the room that the head leaves."""
        head_height = max(cell.height for cell in head)
        width = self._width - 2 * self._edge
        return _Text(
            self._recipe.instructions,
            width=max(1, width),
            height=self._most_height - head_height - 3 * self._edge,
            largest=round(self._longest_edge * _LARGEST_LETTERS),
        )


class _Text:
    """A text with letters as large as fit."""

    def __init__(
        self,
        text: str,
        width: int,
        height: int,
        largest: int,
    ) -> None:
        self._text = text
        self._width = width
        self._height = height
        self._largest = largest
        self._longest_word = _longest_word_in(text)

    def image(self) -> Picture:
        """The text, as high as it is; what does not fit is left out."""
        face = Face(self._letters())
        lines = self._lines(face, self._most_lines(face))
        height = max(1, len(lines) * face.line_height)
        image = blank(self._width, height)
        for number, line in enumerate(lines):
            face.draw(
                image,
                x=0,
                middle=(number + 0.5) * face.line_height,
                text=line,
                color=WHITE,
            )
        return image

    def _letters(self) -> int:
        """The largest size at which all words fit, or the smallest readable one."""
        sizes = range(self._largest, _SMALLEST_LETTERS, -1)
        number = bisect_left(sizes, True, key=self._fits)
        if number == len(sizes):
            return _SMALLEST_LETTERS
        return sizes[number]

    def _fits(self, size: int) -> bool:
        face = Face(size)
        if face.length(self._longest_word) > self._width:
            return False
        most_lines = self._most_lines(face)
        lines = self._lines(face, most_lines + 1)
        return len(lines) <= most_lines

    def _most_lines(self, face: Face) -> int:
        return max(1, self._height // face.line_height)

    def _lines(self, face: Face, most_lines: int) -> list[str]:
        return wrap(
            self._text,
            face,
            width=self._width,
            most_lines=most_lines,
        )


def _longest_word_in(text: str) -> str:
    words = plain_text(text).split()
    unparted = [word for word in words if len(word) <= _LONGEST_WORD]
    return max(unparted, key=len, default="")
