"""The plaque that says what a picture is: its look, and its place below or beside everything else."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import EditRecipe, PhotographRecipe, Recipe
from image_workflow_emulator.imaging.colors import INK, WHITE, Color, mix
from image_workflow_emulator.imaging.drawing import (
    Box,
    Canvas,
    disc,
    rounded_mask,
    stretched,
)
from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap

_LETTERS, _CARD_LETTERS = 1 / 28, 1 / 18  # of the longer edge; cards are shown small
_SMALLEST_WITH_WORDS = 160  # pixels of the shorter edge; below it no word can be read
_DRAWN_EDGE = 2048  # pixels; larger pictures are stretched, which is seen only there
_WIDE = 1.4  # from this width by height on, the plaque is beside the picture
_SHRINKING = (
    1.0,
    0.88,
    0.76,
    0.64,
    0.54,
    0.45,
    0.36,
)  # tried in turn until a plaque fits
_SWATCH_EDGE = 96  # pixels
_QUIET, _PILL = mix(INK, WHITE, 0.66), mix(INK, WHITE, 0.13)

Chip = tuple[str, Image.Image | Color]
"""The name of something that was chosen, and its picture or colour."""


class Plaque(Struct, frozen=True):
    """What a picture says about itself; what is empty is left out."""

    title: str
    facts: str = ""
    chips: Sequence[Chip] = ()
    words: str = ""
    """Quoted, as much as there is room for."""
    sign: str = ""
    """A few characters on `accent`, which are readable at 200 pixels; a card has none."""
    accent: Color = WHITE
    people: int = 0


def facts_of(recipe: PhotographRecipe | EditRecipe, *others: str | None) -> str:
    """What is written small: other options of the order, and the form of the file."""
    facts = (
        *others,
        recipe.aspect_ratio,
        recipe.resolution.upper(),
        recipe.format.upper(),
    )
    return " · ".join(fact for fact in facts if fact)


def with_plaque(
    recipe: Recipe, plaque: Plaque, draw: Callable[[tuple[int, int], Box], Image.Image]
) -> Image.Image:
    """A picture with its plaque; it has none if it is too small.

    `draw` makes the scene, of the width and height that it is given; its box is what the plaque leaves free.
    """
    scale = min(1.0, _DRAWN_EDGE / max(recipe.width, recipe.height))
    width, height = (
        max(1, round(recipe.width * scale)),
        max(1, round(recipe.height * scale)),
    )
    margin = min(width, height) * 0.03
    frame = Box(0, 0, width, height).grown(-margin)
    if min(recipe.width, recipe.height) < _SMALLEST_WITH_WORDS:
        return stretched(draw((width, height), frame), (recipe.width, recipe.height))
    is_wide = width > height * _WIDE
    across, down = (
        (width * 0.36, frame.height) if is_wide else (frame.width, frame.height * 0.4)
    )
    letters = max(width, height) * (_LETTERS if plaque.sign else _CARD_LETTERS)
    image = _draw_plaque(plaque, round(across), round(down), letters)
    top = frame.top + frame.height - image.height
    above = frame._replace(height=top - margin - frame.top)
    canvas = draw(
        (width, height), frame.split("left", across, margin)[1] if is_wide else above
    )
    canvas.paste(
        image, (round(margin), round(top)), rounded_mask(*image.size, letters * 0.5)
    )
    return stretched(canvas, (recipe.width, recipe.height))


def _draw_plaque(
    plaque: Plaque, width: int, most_height: int, letters: float
) -> Image.Image:
    """As high as it needs to be, with letters of this size or as small as it takes."""
    for shrinking in _SHRINKING:
        size = max(8, round(letters * shrinking))
        edge, gap = round(size * 0.45), round(size * 0.4)
        rows = list(
            _rows(plaque, width - 2 * edge, size, gap, is_beside=width < most_height)
        )
        heights = [max(cell.height for cell in row) for row in rows]
        height = sum(heights) + edge * (len(rows) + 1)
        if height <= most_height:
            break
    image, y = Image.new("RGB", (width, min(height, most_height)), INK), edge
    for row, row_height in zip(rows, heights, strict=True):
        x = edge
        for cell in row:
            image.paste(cell, (x, y + (row_height - cell.height) // 2))
            x += cell.width + gap
        y += row_height + edge
    return image


def _rows(
    plaque: Plaque, width: int, size: int, gap: int, *, is_beside: bool
) -> Iterator[list[Image.Image]]:
    """The rows of a plaque, each in cells: sign, title and facts, chips, words."""
    large, small = Face(round(size * 1.3)), Face(max(8, round(size * 0.8)))
    sign = (
        [label(plaque.sign, Face(round(size * 1.4)), size * 2, plaque.accent)]
        if plaque.sign
        else []
    )
    facts = [_person(round(size * 1.3))] * plaque.people
    facts += [
        _line(text, small, _QUIET) for text in wrap(plaque.facts, small, width, 1)
    ]
    free = width - sum(cell.width + gap for cell in sign)
    spare = (
        round(
            free
            - large.length(plain_text(plaque.title))
            - sum(cell.width + gap for cell in facts)
        )
        - gap
    )
    is_one_row = bool(sign) and spare > 0
    first, *others = wrap(plaque.title, large, free, 1 if is_one_row else 2) or [""]
    yield [
        *sign,
        _line(first, large, WHITE),
        *([Image.new("RGB", (spare, 1), INK), *facts] if is_one_row else ()),
    ]
    for text in others:
        yield [_line(text, large, WHITE)]
    high = round(size * 1.45)
    named = [
        (shorten(plain_text(name), small, width - 2 * high), swatch)
        for name, swatch in plaque.chips
    ]
    chips = [label(name, small, high, _PILL, swatch) for name, swatch in named]
    row: list[Image.Image] = []
    for cell in chips if is_one_row else (*facts, *chips):
        if row and sum(other.width + gap for other in row) + cell.width > width:
            yield row
            row = []
        row.append(cell)
    if row:
        yield row
    if plaque.words:
        for text in wrap(
            f"“{plain_text(plaque.words)}”", small, width, 6 if is_beside else 1
        ):
            yield [_line(text, small, WHITE)]


def _line(text: str, face: Face, color: Color) -> Image.Image:
    image = Image.new("RGB", (max(1, round(face.length(text))), face.line_height), INK)
    face.draw(image, 0, face.line_height / 2, text, color)
    return image


def _person(height: int) -> Image.Image:
    """The sign for a person: head and shoulders."""
    image = Image.new("RGB", (height * 3 // 4, height), INK)
    draw, middle = ImageDraw.Draw(image), height * 3 / 8
    draw.ellipse(
        (middle - height * 0.21, 0, middle + height * 0.21, height * 0.42), fill=_QUIET
    )
    draw.pieslice(
        (0, height * 0.5, height * 0.75 - 1, height * 1.5), 180, 360, fill=_QUIET
    )
    return image


def label(
    text: str,
    face: Face,
    height: int,
    color: Color,
    swatch: Image.Image | Color | None = None,
) -> Image.Image:
    """A few characters on a colour, in white on a dark one; with a `swatch`, that and a name on a pill."""
    margin = height * 0.22
    left, radius = (height * 1.2, height / 2) if swatch else (margin, margin)
    width = round(left + face.length(text) + margin) if text else height
    image = Image.new("RGB", (width, height), INK)
    ImageDraw.Draw(image).rounded_rectangle(
        (0, 0, width - 1, height - 1), radius, fill=color
    )
    face.draw(image, left, height / 2, text, WHITE if max(color) < 128 else INK)
    if swatch:
        Canvas(image).paint(
            disc(swatch, _SWATCH_EDGE), Box(0, 0, height, height).grown(-height * 0.08)
        )
    return image
