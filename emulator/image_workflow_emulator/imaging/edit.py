"""An Edit Images output: the inputs as they were, and the instructions, large and
whole.

Words are shown and never obeyed.
"""

from bisect import bisect_left
from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe
from image_workflow_emulator.imaging.canvas import Canvas, backdrop, enlarged
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import INK, WHITE, Color, chance, opaque
from image_workflow_emulator.imaging.geometry import Arrangement, Box, arrange
from image_workflow_emulator.imaging.labels import QUIET, sign, text_line
from image_workflow_emulator.imaging.pictures import Picture
from image_workflow_emulator.imaging.plaque import (
    SMALLEST_WITH_WORDS,
    Cells,
    Layout,
    layout_of,
    paste_panel,
    stack,
)
from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap

_ACCENT: Color = (150, 186, 255)
_ONE_EDGE = 960
"""Pixels of a single input that are enough."""
_SEVERAL_EDGE = 480
_LARGEST_LETTERS = 1 / 12
"""A share of the longer edge."""
_SMALLEST_LETTERS = 10
_HEAD_LETTERS = 1 / 28
_LONGEST_WORD = 20
"""Characters of a word that is never parted; some scripts have no spaces."""


def edit(recipe: EditRecipe, inputs: Sequence[bytes]) -> Picture:
    """The picture of an Edit Images: every input, whole and unchanged, and what was
    asked for.
    """
    size = (recipe.width, recipe.height)
    layout = layout_of(size, beside_share=0.5, below_share=0.5)
    ground = backdrop(chance(recipe.instructions, *recipe.inputs))
    canvas = Canvas.of(layout.size, ground)
    room = layout.scene
    if min(size) >= SMALLEST_WITH_WORDS:
        panel = _Panel(recipe, layout).image()
        down = 1.0
        if layout.is_beside:
            down = 0.5
        place = layout.plaque.place(panel.width, panel.height, down=down)
        if not layout.is_beside:
            room = room.above(place.top - layout.margin)
        radius = max(layout.size) / 56
        paste_panel(canvas.image, panel=panel, place=place, radius=radius)
    _paint_inputs(canvas, inputs, room)
    return enlarged(canvas.image, size)


def _paint_inputs(canvas: Canvas, inputs: Sequence[bytes], room: Box) -> None:
    enough = _SEVERAL_EDGE
    if len(inputs) == 1:
        enough = _ONE_EDGE
    photos = [opaque(load(data, enough)) for data in inputs]
    aspects = [photo.width / photo.height for photo in photos]
    unpainted = iter(photos)
    arrangement = Arrangement(canvas.gap, down=0.5)
    for row in arrange(aspects, room, arrangement):
        for box in row.boxes:
            canvas.paint_framed(next(unpainted), box)


class _Panel:
    """The instructions with letters as large as fit, below a line that says what they
    are.
    """

    def __init__(self, recipe: EditRecipe, layout: Layout) -> None:
        self._recipe = recipe
        self._longest = max(layout.size)
        self._width = round(layout.plaque.width)
        self._most_height = round(layout.plaque.height)
        self._longest_word = _longest_word_in(recipe.instructions)
        letters = min(self._longest * _HEAD_LETTERS, self._width / 14)
        size = max(_SMALLEST_LETTERS, round(letters))
        self._edge = round(size * 0.6)
        self._head = self._draw_head(size)
        head_height = max(cell.height for cell in self._head)
        self._text_width = max(1, self._width - 2 * self._edge)
        self._text_height = self._most_height - head_height - 3 * self._edge

    def image(self) -> Picture:
        """The panel, as high as it needs to be."""
        face = Face(self._letters())
        text = self._draw_text(face)
        edge = self._edge
        panel = stack([self._head, [text]], width=self._width, edge=edge, gap=edge)
        height = min(panel.height, self._most_height)
        return panel.crop((0, 0, panel.width, height))

    def _draw_head(self, size: int) -> Cells:
        face = Face(round(size * 1.4))
        mark = sign("Edit", face=face, height=size * 2, color=_ACCENT)
        small = Face(max(_SMALLEST_LETTERS, round(size * 0.8)))
        free = self._width - mark.width - 3 * self._edge
        written = shorten(self._facts(), small, free)
        return [mark, text_line(written, small, QUIET)]

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

    def _letters(self) -> int:
        """The largest size at which all words fit, or the smallest readable one."""
        largest = round(self._longest * _LARGEST_LETTERS)
        sizes = range(largest, _SMALLEST_LETTERS, -1)
        number = bisect_left(sizes, True, key=self._fits)
        if number == len(sizes):
            return _SMALLEST_LETTERS
        return sizes[number]

    def _most_lines(self, face: Face) -> int:
        return max(1, self._text_height // face.line_height)

    def _lines(self, face: Face, most_lines: int) -> list[str]:
        return wrap(
            self._recipe.instructions,
            face,
            width=self._text_width,
            most_lines=most_lines,
        )

    def _fits(self, size: int) -> bool:
        face = Face(size)
        if face.length(self._longest_word) > self._text_width:
            return False
        most_lines = self._most_lines(face)
        lines = self._lines(face, most_lines + 1)
        return len(lines) <= most_lines

    def _draw_text(self, face: Face) -> Picture:
        lines = self._lines(face, self._most_lines(face))
        height = max(1, len(lines) * face.line_height)
        image = Image.new("RGB", (self._text_width, height), INK)
        for number, line in enumerate(lines):
            middle = (number + 0.5) * face.line_height
            face.draw(image, x=0, middle=middle, text=line, color=WHITE)
        return image


def _longest_word_in(text: str) -> str:
    words = plain_text(text).split()
    whole = [word for word in words if len(word) <= _LONGEST_WORD]
    return max(whole, key=len, default="")
