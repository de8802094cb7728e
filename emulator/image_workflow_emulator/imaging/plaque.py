"""The plaque that says what a picture is, below or beside its scene."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.imaging.colors import WHITE, Color
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.labels import QUIET, blank, chip, sign, text_line
from image_workflow_emulator.imaging.panels import (
    SMALLEST_WITH_WORDS,
    Cells,
    Layout,
    layout_of,
    paste_panel,
    stack,
)
from image_workflow_emulator.imaging.pictures import Picture, Size, enlarged
from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap

_BESIDE_SHARE = 0.28
_BELOW_SHARE = 0.4
"""How much of the width or the height a plaque takes at most."""
_LETTERS = 1 / 28
"""A share of the longer edge: the size of letters, where there is room."""
_SMALLEST_LETTERS = 8
_MOST_QUOTED_LINES = 6
"""Beside a picture; below one there is a single line."""
_LARGE_LETTERS = 1.3
_SMALL_LETTERS = 0.8
_SIGN_LETTERS = 1.4
_SIGN_HEIGHT = 2
_CHIP_HEIGHT = 1.45
_EDGE = 0.45
_GAP = 0.4
"""In sizes of letters: those of title, facts and sign, and what surrounds them."""
_SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.54, 0.45, 0.36)
"""Shares of the size of letters, tried in turn until a plaque fits."""


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
    layout = layout_of(size, beside_share=_BESIDE_SHARE, below_share=_BELOW_SHARE)
    if min(size) < SMALLEST_WITH_WORDS:
        scene = draw(layout.size, layout.scene)
        return enlarged(scene, size)
    letters = max(layout.size) * _LETTERS
    panel = _draw_plaque(plaque, layout, letters)
    place = layout.panel.place(panel.width, panel.height, down=1.0)
    canvas = draw(layout.size, layout.scene_without(place))
    paste_panel(
        canvas,
        panel=panel,
        place=place,
        radius=letters * 0.5,
    )
    return enlarged(canvas, size)


def _draw_plaque(
    plaque: Plaque,
    layout: Layout,
    letters: float,
) -> Picture:
    """As high as it needs to be, with letters of this size or as small as it takes."""
    width = round(layout.panel.width)
    most_height = round(layout.panel.height)
    for shrinking in _SHRINKING:
        size = max(_SMALLEST_LETTERS, round(letters * shrinking))
        rows = _Rows(plaque, width, size, is_beside=layout.is_beside)
        panel = stack(
            list(rows.all()),
            width=width,
            edge=rows.edge,
            gap=rows.gap,
        )
        if panel.height <= most_height:
            return panel
    return panel.crop((0, 0, width, most_height))


class _Rows:
    """The rows of a plaque with letters of one size."""

    def __init__(
        self,
        plaque: Plaque,
        width: int,
        size: int,
        *,
        is_beside: bool,
    ) -> None:
        self.edge = round(size * _EDGE)
        self.gap = round(size * _GAP)
        self._plaque = plaque
        self._width = width - 2 * self.edge
        self._is_beside = is_beside
        small_size = max(_SMALLEST_LETTERS, round(size * _SMALL_LETTERS))
        self._small = Face(small_size)
        self._large = Face(round(size * _LARGE_LETTERS))
        self._chip_height = round(size * _CHIP_HEIGHT)
        self._sign = sign(
            plaque.sign,
            face=Face(round(size * _SIGN_LETTERS)),
            height=size * _SIGN_HEIGHT,
            color=plaque.accent,
        )

    def all(self) -> Iterator[Cells]:
        """Sign, title and facts; chips; words."""
        if self._is_beside:
            yield from self._heads_of_a_column()
        else:
            yield from self._heads_of_a_band()
        yield from self._chips()
        yield from self._quotation()

    @property
    def _beside_sign(self) -> int:
        """The width that the sign leaves in its row."""
        return self._width - self._sign.width - self.gap

    def _heads_of_a_column(self) -> Iterator[Cells]:
        title = self._title_in_lines(self._width, most_lines=3)
        first, *rest = title
        if self._large.length(first) <= self._beside_sign:
            yield [self._sign, self._large_line(first)]
        else:
            yield [self._sign]
            rest = title
        for line in rest:
            yield [self._large_line(line)]
        for cell in self._facts(most_lines=2):
            yield [cell]

    def _heads_of_a_band(self) -> Iterator[Cells]:
        """One row, with the facts on the right, if it is wide enough."""
        facts = self._facts(most_lines=1)
        facts_width = sum(cell.width + self.gap for cell in facts)
        title = plain_text(self._plaque.title)
        title_width = self._large.length(title)
        spare = round(self._beside_sign - title_width - facts_width) - self.gap
        if spare > 0:
            space = blank(spare, 1)
            yield [self._sign, self._large_line(title), space, *facts]
            return
        first, *rest = self._title_in_lines(self._beside_sign, most_lines=2)
        yield [self._sign, self._large_line(first)]
        for line in rest:
            yield [self._large_line(line)]
        if facts:
            yield facts

    def _title_in_lines(self, width: float, most_lines: int) -> list[str]:
        lines = wrap(self._plaque.title, self._large, width, most_lines)
        return lines or [""]

    def _large_line(self, text: str) -> Picture:
        return text_line(text, self._large, WHITE)

    def _facts(self, most_lines: int) -> Cells:
        """The lines of facts."""
        lines = wrap(self._plaque.facts, self._small, self._width, most_lines)
        return [text_line(line, self._small, QUIET) for line in lines]

    def _quotation(self) -> Iterator[Cells]:
        if not self._plaque.quotation:
            return
        most_lines = 1
        if self._is_beside:
            most_lines = _MOST_QUOTED_LINES
        words = plain_text(self._plaque.quotation)
        for line in wrap(f"“{words}”", self._small, self._width, most_lines):
            yield [text_line(line, self._small, WHITE)]

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
        name = plain_text(choice.name)
        return chip(
            shorten(name, self._small, free),
            face=self._small,
            height=height,
            swatch=choice.swatch,
        )
