"""The plaque that says what a picture is: its look, and its place below or beside everything else."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import EditRecipe, PhotographRecipe, Recipe
from image_workflow_emulator.imaging.drawing import INK, WHITE, Canvas, Color, disc, mix, rounded_mask, stretched
from image_workflow_emulator.imaging.layout import Box
from image_workflow_emulator.imaging.words import Face, plain_text, shorten, wrap

_LETTERS, _CARD_LETTERS = 1 / 26, 1 / 18  # of the longer edge; cards are shown small
_SMALLEST_WITH_WORDS = 160  # pixels of the shorter edge; below it no word can be read
_DRAWN_EDGE = 2048  # pixels; larger pictures are stretched, which is seen only there
_WIDE = 1.4  # from this width by height on, the plaque stands beside the picture
_SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.54, 0.45, 0.36)  # tried in turn until a plaque fits
_SIGN, _CHIP, _GAP = 2.0, 1.5, 0.35  # in sizes of letters
_SWATCH_EDGE = 96  # pixels
_MAX_LINES_BELOW, _MAX_LINES_BESIDE = 2, 6
_QUIET, _PILL = mix(INK, WHITE, 0.66), mix(INK, WHITE, 0.13)

Sign = tuple[str, Color]
"""A few large characters on a colour."""
Chip = tuple[str, Image.Image]
"""The name of something that was chosen, and its `swatch`."""


class Plaque(Struct, frozen=True):
    """What a picture says about itself, the most important first; what is empty is left out."""

    title: str
    facts: str = ""
    chips: Sequence[Chip] = ()
    words: str = ""
    """Quoted, as much as there is room for."""
    signs: Sequence[Sign] = ()
    """Readable at 200 pixels; a card has none."""


def signs_of(
    recipe: PhotographRecipe | EditRecipe, badge: str, accent: Color, distance: str = "", people: str = ""
) -> list[Sign]:
    """The signs of an output: what it is, its ratio, and what else was asked for."""
    signs = (
        (badge, accent),
        (recipe.aspect_ratio, INK),
        (recipe.resolution.upper(), WHITE),
        (distance, _QUIET),
        (people, INK),
    )
    return [sign for sign in signs if sign[0]]


def swatch(content: Image.Image | Color) -> Image.Image:
    """The middle of a picture, or a colour, as a disc with a white rim, in RGBA."""
    image, inner = disc(WHITE, _SWATCH_EDGE), disc(content, _SWATCH_EDGE * 7 // 8)
    image.alpha_composite(inner, (_SWATCH_EDGE // 16, _SWATCH_EDGE // 16))
    return image


def with_plaque(recipe: Recipe, plaque: Plaque, draw: Callable[[tuple[int, int], Box], Image.Image]) -> Image.Image:
    """A picture with its plaque; it has none if it is too small.

    `draw` makes the scene, of the width and height that it is given; its box is what the plaque leaves free.
    """
    scale = min(1.0, _DRAWN_EDGE / max(recipe.width, recipe.height))
    width, height = max(1, round(recipe.width * scale)), max(1, round(recipe.height * scale))
    margin = min(width, height) * 0.035
    frame = Box(0, 0, width, height).grown(-margin)
    if min(recipe.width, recipe.height) < _SMALLEST_WITH_WORDS:
        return stretched(draw((width, height), frame), (recipe.width, recipe.height))
    is_wide = width > height * _WIDE
    across, down = (width * 0.32, frame.height) if is_wide else (frame.width, frame.height * 0.42)
    letters = max(width, height) * (_LETTERS if plaque.signs else _CARD_LETTERS)
    image = _draw_plaque(plaque, round(across), round(down), letters)
    strip, room = frame.split("bottom", image.height, margin)
    canvas = draw((width, height), frame.split("left", across, margin)[1] if is_wide else room)
    canvas.paste(image, (round(strip.left), round(strip.top)), rounded_mask(*image.size, letters * 0.5))
    return stretched(canvas, (recipe.width, recipe.height))


def _draw_plaque(plaque: Plaque, width: int, most_height: int, size: float) -> Image.Image:
    """As high as it needs to be, with letters of `size` or as small as it takes."""
    for shrinking in _SHRINKING:
        image, height = _written(plaque, width, most_height, max(8, round(size * shrinking)))
        if height <= most_height:
            break
    return image.crop((0, 0, width, min(height, most_height)))


def _written(plaque: Plaque, width: int, most_height: int, size: int) -> tuple[Image.Image, int]:
    """A plaque as high as it may be, and the height that it takes, with two lines of the words or all of them."""
    image = Image.new("RGB", (width, most_height), INK)
    small, edge, gap = Face(max(8, round(size * 0.84))), round(size * 0.5), round(size * _GAP)
    room = width - 2 * edge

    def lines(text: str, face: Face, color: Color, most: int) -> list[Image.Image]:
        return [_line(line, face, color, room) for line in wrap(text, face, room, most)]

    def place(cells: Sequence[Image.Image], y: int, gap: int = 0) -> int:
        """Place small images in as many rows as they need; return where the next one goes."""
        x = 0
        for number, cell in enumerate(cells):
            if number and x + cell.width > room:
                x, y = 0, y + cells[number - 1].height + gap
            image.paste(cell, (edge + x, y))
            x += cell.width + gap
        return y + cells[-1].height + gap if cells else y

    y = place([label(*sign, round(size * _SIGN)) for sign in plaque.signs], edge, gap)
    y = place(lines(plaque.title, Face(size), WHITE, 2) + lines(plaque.facts, small, _QUIET, 2), y)
    y = place([_chip(*chip, small, round(size * _CHIP), room) for chip in plaque.chips], y, gap)
    if plaque.words:
        free = (most_height - y - edge) // small.line_height
        most = _MAX_LINES_BESIDE if width < most_height else _MAX_LINES_BELOW
        y = place(lines(f"“{plain_text(plaque.words)}”", small, WHITE, max(2, min(free, most))), y)
    return image, y + edge


def _line(text: str, face: Face, color: Color, width: int) -> Image.Image:
    image = Image.new("RGB", (width, face.line_height), INK)
    face.draw(image, 0, face.line_height / 2, text, color)
    return image


def _chip(name: str, swatch: Image.Image, face: Face, height: int, room: int) -> Image.Image:
    """A pill with a swatch and a name."""
    spare = height + (height // 2 if name else 0)
    name = shorten(plain_text(name), face, room - spare)
    pill = Canvas(_pill(spare + round(face.length(name)), height, height / 2, _PILL))
    pill.paint(swatch, Box(0, 0, height, height).grown(-height * 0.08))
    face.draw(pill.image, height * 1.2, height / 2, name, WHITE)
    return pill.image


def _pill(width: int, height: int, radius: float, color: Color) -> Image.Image:
    image = Image.new("RGB", (width, height), INK)
    ImageDraw.Draw(image).rounded_rectangle((0, 0, width - 1, height - 1), radius, fill=color)
    return image


def label(text: str, color: Color, height: int) -> Image.Image:
    """A few characters on a colour; on that of ink, they are white."""
    face = Face(round(height * 0.7))
    margin = 0 if color == INK else height * 0.22
    image = _pill(round(face.length(text) + 2 * margin), height, height * 0.22, color)
    face.draw(image, margin, height / 2, text, WHITE if color == INK else INK)
    return image
