"""The plaque that says what a picture is: its look, and its place below or beside everything else."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from PIL import Image, ImageDraw

from emulator.domain.recipes import EditRecipe, PhotographRecipe, Recipe
from emulator.imaging.drawing import INK, WHITE, Color, disc, mix, paint, rounded_mask, stretched
from emulator.imaging.layout import Box
from emulator.imaging.words import Face, plain_text, shorten, wrap

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
        pen = _Pen(Image.new("RGB", (width, most_height), INK), max(8, round(size * shrinking)))
        height = pen.write(plaque)
        if height <= most_height:
            break
    return pen.image.crop((0, 0, width, min(height, most_height)))


class _Pen:
    """Writes a plaque from the top, on an image that is as high as it may be."""

    def __init__(self, image: Image.Image, size: int) -> None:
        self.image, self._size = image, size
        self._left = self._y = round(size * 0.5)
        self._room = image.width - 2 * self._left
        self._small = Face(max(8, round(size * 0.84)))

    def write(self, plaque: Plaque) -> int:
        """Write everything; return the height that it takes, with two lines of the words or all of them."""
        self._place(_label(*sign, round(self._size * _SIGN)) for sign in plaque.signs)
        self._lines(plaque.title, Face(self._size), WHITE, 2)
        self._lines(plaque.facts, self._small, _QUIET, 2)
        self._place(self._chip(*chip) for chip in plaque.chips)
        if plaque.words:
            free = (self.image.height - self._y - self._left) // self._small.line_height
            most = _MAX_LINES_BESIDE if self.image.width < self.image.height else _MAX_LINES_BELOW
            self._lines(f"“{plain_text(plaque.words)}”", self._small, WHITE, max(2, min(free, most)))
        return self._y + self._left

    def _place(self, cells: Iterable[Image.Image]) -> None:
        """Place small images in as many rows as they need."""
        x, gap, below = 0, round(self._size * _GAP), self._y
        for cell in cells:
            if x and x + cell.width > self._room:
                x, self._y = 0, below
            self.image.paste(cell, (self._left + x, self._y))
            x, below = x + cell.width + gap, self._y + cell.height + gap
        self._y = below

    def _lines(self, text: str, face: Face, color: Color, most: int) -> None:
        for line in wrap(text, face, self._room, most):
            face.draw(self.image, self._left, self._y + face.line_height / 2, line, color)
            self._y += face.line_height

    def _chip(self, name: str, swatch: Image.Image) -> Image.Image:
        """A pill with a swatch and a name."""
        height = round(self._size * _CHIP)
        spare = height + (round(self._size * 0.8) if name else 0)
        name = shorten(plain_text(name), self._small, self._room - spare)
        pill = _pill(spare + round(self._small.length(name)), height, height / 2, _PILL)
        paint(pill, swatch, Box(0, 0, height, height).grown(-height * 0.08))
        self._small.draw(pill, height * 1.2, height / 2, name, WHITE)
        return pill


def _pill(width: int, height: int, radius: float, color: Color) -> Image.Image:
    image = Image.new("RGB", (width, height), INK)
    ImageDraw.Draw(image).rounded_rectangle((0, 0, width - 1, height - 1), radius, fill=color)
    return image


def _label(text: str, color: Color, height: int) -> Image.Image:
    face = Face(round(height * 0.7))
    margin = 0 if color == INK else height * 0.22
    image = _pill(round(face.length(text) + 2 * margin), height, height * 0.22, color)
    face.draw(image, margin, height / 2, text, WHITE if color == INK else INK)
    return image
