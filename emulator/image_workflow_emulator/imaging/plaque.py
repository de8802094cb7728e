"""The plaque that says what a picture is: its rows, and its place below or beside
everything else.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from PIL import Image

from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.imaging.canvas import enlarged, rounded_mask
from image_workflow_emulator.imaging.colors import INK, WHITE, Color
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.labels import QUIET, chip, sign, text_line
from image_workflow_emulator.imaging.pictures import Picture, Size
from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap

Cells = list[Picture]
"""A row of a plaque."""

SMALLEST_WITH_WORDS = 160
"""Pixels of the shorter edge; no word can be read in a smaller picture."""
_DRAWN_EDGE = 2048
"""Pixels of the longer edge; larger pictures are enlarged, which is seen only there."""
_MARGIN_SHARE = 0.03
"""A share of the shorter edge, around the plaque and what is beside it."""
_WIDE = 1.4
"""The width by height from which the plaque is beside the picture."""
_LETTERS = 1 / 28
"""A share of the longer edge: the size of letters, where there is room."""
_SMALLEST_LETTERS = 8
_SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.54, 0.45, 0.36)
"""Shares of that size, tried in turn until a plaque fits."""


class Chip(Struct, frozen=True):
    """Something that was chosen: its name, and its picture or colour."""

    name: str
    swatch: Picture | Color


class Plaque(Struct, frozen=True):
    """What a picture says about itself; what is empty is left out."""

    sign: str
    """A few characters on `accent`, which can be read at 200 pixels."""
    accent: Color
    title: str
    facts: str = ""
    chips: Sequence[Chip] = ()
    quotation: str = ""
    """As much as there is room for."""


class Layout(Struct, frozen=True):
    """Where a plaque may be, and the room that is for the scene."""

    size: Size
    """That is drawn, in pixels."""
    margin: float
    is_beside: bool
    plaque: Box
    scene: Box
    """Without the plaque, if that takes all that it may."""


def layout_of(size: Size, beside_share: float, below_share: float) -> Layout:
    """The layout of a picture; a plaque takes at most these shares of its width or
    height.
    """
    full_width, full_height = size
    scale = min(1.0, _DRAWN_EDGE / max(size))
    width = max(1, round(full_width * scale))
    height = max(1, round(full_height * scale))
    margin = min(width, height) * _MARGIN_SHARE
    frame = Box(left=0, top=0, width=width, height=height).inset(margin)
    is_beside = width > height * _WIDE
    if min(size) < SMALLEST_WITH_WORDS:
        return Layout(
            size=(width, height),
            margin=margin,
            is_beside=is_beside,
            plaque=frame,
            scene=frame,
        )
    if is_beside:
        plaque = frame.from_left(width * beside_share)
        scene = frame.right_of(plaque.right + margin)
    else:
        plaque = frame.below(frame.bottom - frame.height * below_share)
        scene = frame.above(plaque.top - margin)
    return Layout(
        size=(width, height),
        margin=margin,
        is_beside=is_beside,
        plaque=plaque,
        scene=scene,
    )


def with_plaque(
    recipe: Recipe,
    plaque: Plaque,
    draw: Callable[[Size, Box], Picture],
) -> Picture:
    """A picture with its plaque; it has none if it is too small.

    `draw` makes the scene, of the width and height that it is given; its box is what
    the plaque leaves free.
    """
    size = (recipe.width, recipe.height)
    layout = layout_of(size, beside_share=0.28, below_share=0.4)
    if min(size) < SMALLEST_WITH_WORDS:
        return enlarged(draw(layout.size, layout.scene), size)
    letters = max(layout.size) * _LETTERS
    image = _draw_plaque(plaque, layout, letters)
    place = layout.plaque.place(image.width, image.height, down=1.0)
    scene = layout.scene
    if not layout.is_beside:
        scene = scene.above(place.top - layout.margin)
    canvas = draw(layout.size, scene)
    paste_panel(canvas, panel=image, place=place, radius=letters * 0.5)
    return enlarged(canvas, size)


def paste_panel(canvas: Picture, panel: Picture, place: Box, radius: float) -> None:
    """Paste a panel with round corners."""
    mask = rounded_mask(panel.width, panel.height, radius)
    corner = (round(place.left), round(place.top))
    canvas.paste(panel, corner, mask)


def _draw_plaque(plaque: Plaque, layout: Layout, letters: float) -> Picture:
    """As high as it needs to be, with letters of this size or as small as it takes."""
    width = round(layout.plaque.width)
    most_height = round(layout.plaque.height)
    for shrinking in _SHRINKING:
        size = max(_SMALLEST_LETTERS, round(letters * shrinking))
        rows = _Rows(plaque, width, size, is_beside=layout.is_beside)
        cells = list(rows.all())
        image = stack(cells, width=width, edge=rows.edge, gap=rows.gap)
        if image.height <= most_height:
            return image
    return image.crop((0, 0, width, most_height))


def stack(rows: Sequence[Cells], width: int, edge: int, gap: int) -> Picture:
    """A panel with rows of cells; `edge` is between rows, `gap` between cells."""
    heights = [max(cell.height for cell in row) for row in rows]
    total = sum(heights) + edge * (len(rows) + 1)
    image = Image.new("RGB", (width, total), INK)
    top = edge
    for row, height in zip(rows, heights, strict=True):
        left = edge
        for cell in row:
            above = (height - cell.height) // 2
            image.paste(cell, (left, top + above))
            left += cell.width + gap
        top += height + edge
    return image


class _Rows:
    """The rows of a plaque with letters of one size."""

    def __init__(self, plaque: Plaque, width: int, size: int, *, is_beside: bool):
        self.edge = round(size * 0.45)
        self.gap = round(size * 0.4)
        self._plaque = plaque
        self._width = width - 2 * self.edge
        self._is_beside = is_beside
        self._large = Face(round(size * 1.3))
        self._small = Face(max(_SMALLEST_LETTERS, round(size * 0.8)))
        self._sign = sign(
            plaque.sign,
            face=Face(round(size * 1.4)),
            height=size * 2,
            color=plaque.accent,
        )
        self._chip_height = round(size * 1.45)

    def all(self) -> Iterator[Cells]:
        """Sign, title and facts; chips; words."""
        if self._is_beside:
            yield from self._heads_of_a_column()
        else:
            yield from self._heads_of_a_band()
        yield from self._chips()
        if self._plaque.quotation:
            text = f"“{plain_text(self._plaque.quotation)}”"
            for line in wrap(text, self._small, self._width, self._quoted_lines):
                yield [text_line(line, self._small, WHITE)]

    @property
    def _quoted_lines(self) -> int:
        if self._is_beside:
            return 6
        return 1

    def _heads_of_a_column(self) -> Iterator[Cells]:
        first, *rest = wrap(self._plaque.title, self._large, self._width, 3) or [""]
        free = self._width - self._sign.width - self.gap
        lines = [first, *rest]
        if self._large.length(first) <= free:
            yield [self._sign, text_line(first, self._large, WHITE)]
            lines = rest
        else:
            yield [self._sign]
        for line in lines:
            yield [text_line(line, self._large, WHITE)]
        for line in wrap(self._plaque.facts, self._small, self._width, 2):
            yield [text_line(line, self._small, QUIET)]

    def _heads_of_a_band(self) -> Iterator[Cells]:
        """One row, with the facts on the right, if it is wide enough."""
        free = self._width - self._sign.width - self.gap
        facts = self._facts(self._width)
        taken = sum(cell.width + self.gap for cell in facts)
        title = plain_text(self._plaque.title)
        spare = round(free - self._large.length(title) - taken) - self.gap
        if spare > 0:
            space = Image.new("RGB", (spare, 1), INK)
            line = text_line(title, self._large, WHITE)
            yield [self._sign, line, space, *facts]
            return
        first, *rest = self._title(free)
        yield [self._sign, *first]
        yield from rest
        if facts:
            yield facts

    def _title(self, width: float) -> Iterator[Cells]:
        for line in wrap(self._plaque.title, self._large, width, 2) or [""]:
            yield [text_line(line, self._large, WHITE)]

    def _facts(self, width: float) -> Cells:
        lines = wrap(self._plaque.facts, self._small, width, 1)
        return [text_line(line, self._small, QUIET) for line in lines]

    def _chips(self) -> Iterator[Cells]:
        """As many in a row as fit."""
        row: Cells = []
        taken = 0
        for choice in self._plaque.chips:
            cell = self._chip(choice)
            if row and taken + cell.width > self._width:
                yield row
                row = []
                taken = 0
            row.append(cell)
            taken += cell.width + self.gap
        if row:
            yield row

    def _chip(self, choice: Chip) -> Picture:
        height = self._chip_height
        free = self._width - 2 * height
        name = shorten(plain_text(choice.name), self._small, free)
        return chip(name, face=self._small, height=height, swatch=choice.swatch)
