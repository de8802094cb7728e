"""The plaque that says what a picture is: its look, and its place below or beside everything else."""

from collections.abc import Callable, Iterable

from msgspec import Struct
from PIL import Image, ImageDraw

from emulator.domain.recipes import Recipe
from emulator.imaging.composition import stretched
from emulator.imaging.drawing import INK, WHITE, Color, cover, mix, rounded_mask
from emulator.imaging.layout import Box, arrange
from emulator.imaging.words import Face, plain_text, shorten, wrap

CARD_LETTERS = 1 / 18  # of the longer edge: cards are shown small
_LETTERS = 1 / 26
_SMALLEST_WITH_WORDS = 160  # pixels of the shorter edge; below it no word can be read
# Pixels; words and scenes of larger pictures are stretched, which is seen only there.
_DENSE_EDGE, _SCENE_EDGE = 2048, 1536
_WIDE = 1.4  # from this width by height on, the plaque stands beside the picture
_SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.54, 0.45, 0.36)  # tried in turn until a plaque fits
_SIGN, _CHIP, _GAP = 2.0, 1.5, 0.35  # in sizes of letters
_MAX_LINES_BELOW, _MAX_LINES_BESIDE = 2, 6
_QUIET, _PILL = mix(INK, WHITE, 0.66), mix(INK, WHITE, 0.13)
# Of a sign's height.
_HEAD, _SHOULDERS, _NOBODY = (0.16, 0.04, 0.46, 0.4), (0.02, 0.46, 0.6, 1.5), (0, 0.95, 0.62, 0.05)


class Chip(Struct, frozen=True):
    """The name of something that was chosen, and its swatch: a picture, or a colour; None is an empty ring."""

    name: str
    swatch: Image.Image | Color | None


class Plaque(Struct, frozen=True):
    """What a picture says about itself, the most important first; what is empty is left out."""

    title: str
    facts: str = ""
    chips: tuple[Chip, ...] = ()
    words: str = ""
    """Quoted, as much as there is room for."""
    badge: str = ""
    """With what follows, in signs that are readable at 200 pixels."""
    accent: Color = WHITE
    """The background of the badge."""
    ratio: str = ""
    resolution: str = ""
    distance: str = ""
    people: int | None = None


def with_plaque(
    recipe: Recipe, plaque: Plaque, draw: Callable[[tuple[int, int], Box], Image.Image], letters: float = _LETTERS
) -> Image.Image:
    """A picture with its plaque; it has none if it is too small. `letters` is their size as a share of the longer edge.

    `draw` makes the scene, of the width and height that it is given; its box is what the plaque leaves free.
    """
    width, height = recipe.width, recipe.height
    short, long = min(width, height), max(width, height)
    margin = short * 0.035
    room = frame = Box(0, 0, width, height).grown(-margin)
    if has_plaque := short >= _SMALLEST_WITH_WORDS:
        is_wide = width > height * _WIDE
        across, down = (width * 0.32, frame.height) if is_wide else (frame.width, frame.height * 0.42)
        density = min(1.0, _DENSE_EDGE / long)
        image = _draw_plaque(plaque, round(across * density), round(down * density), long * letters * density)
        strip, room = frame.split("bottom", image.height / density, margin)
        room = frame.split("left", across, margin)[1] if is_wide else room
    scale = min(1.0, _SCENE_EDGE / long)
    canvas = draw((max(1, round(width * scale)), max(1, round(height * scale))), Box(*(scale * part for part in room)))
    canvas = stretched(canvas, (width, height))
    if has_plaque:
        place = (round(across), round(strip.height))
        mask = stretched(rounded_mask(*place, long * letters * 0.5), place)
        canvas.paste(stretched(image, place), (round(strip.left), round(strip.top)), mask)
    return canvas


def _draw_plaque(plaque: Plaque, width: int, most_height: int, size: float) -> Image.Image:
    """As high as it needs to be, with letters of `size` or as small as it takes."""
    for shrinking in _SHRINKING:
        pen = _Pen(width, most_height, max(8, round(size * shrinking)))
        if pen.write(plaque):
            break
    return pen.written()


class _Pen:
    """Writes a plaque from the top, on an image that is as high as it may be."""

    def __init__(self, width: int, most_height: int, size: int) -> None:
        self._width, self._most_height, self._size = width, most_height, size
        self._left = self._y = round(size * 0.5)
        self._room = width - 2 * self._left
        self._face, self._small = Face(size), Face(max(8, round(size * 0.84)))
        self._image = Image.new("RGB", (width, max(1, most_height)), INK)

    @property
    def _height(self) -> int:
        return self._y + self._left

    def write(self, plaque: Plaque) -> bool:
        """Write everything; return whether it fits, with two lines of the words or all of them."""
        self._place(self._signs(plaque))
        self._lines(plaque.title, self._face, WHITE, 2)
        self._lines(plaque.facts, self._small, _QUIET, 2)
        self._place(map(self._chip, plaque.chips))
        is_said = self._words(plaque.words) if plaque.words else True
        return is_said and self._height <= self._most_height

    def written(self) -> Image.Image:
        """The plaque, as high as it is needed."""
        return self._image.crop((0, 0, self._width, min(self._height, self._image.height)))

    def _place(self, cells: Iterable[Image.Image]) -> None:
        """Place small images in as many rows as they need."""
        x, gap, below = 0, round(self._size * _GAP), self._y
        for cell in cells:
            if x and x + cell.width > self._room:
                x, self._y = 0, below
            self._image.paste(cell, (self._left + x, self._y))
            x, below = x + cell.width + gap, self._y + cell.height + gap
        self._y = below

    def _signs(self, plaque: Plaque) -> list[Image.Image]:
        size = round(self._size * _SIGN)
        signs = [_label(plaque.badge, size, plaque.accent)] if plaque.badge else []
        if plaque.ratio:
            signs.append(_ratio_sign(plaque.ratio, size))
        if plaque.resolution:
            signs.append(_label(plaque.resolution.upper(), size, WHITE))
        if plaque.distance:
            signs.append(_viewfinder(plaque.distance, size))
        if plaque.people is not None:
            signs.append(_people_sign(plaque.people, size))
        return signs

    def _lines(self, text: str, face: Face, color: Color, most: int) -> None:
        for line in wrap(text, face, self._room, most):
            face.draw(self._image, self._left, self._y + face.line_height / 2, line, color)
            self._y += face.line_height

    def _chip(self, chip: Chip) -> Image.Image:
        """A pill with a round swatch with a white rim, and a name."""
        height = round(self._size * _CHIP)
        edge, inner = round(height * 0.84), round(height * 0.76)
        spare = height + (round(self._size * 0.8) if chip.name else 0)
        name = shorten(plain_text(chip.name), self._small, self._room - spare)
        image = _pill(spare + round(self._small.length(name)), height, height / 2, _PILL)
        swatch = cover(chip.swatch, 1).resize((inner, inner)) if isinstance(chip.swatch, Image.Image) else chip.swatch
        for fill, diameter in ((WHITE, edge), (swatch or _PILL, inner)):
            start = (height - diameter) // 2
            mask = rounded_mask(diameter, diameter, diameter / 2).resize((diameter, diameter))
            image.paste(fill, (start, start, start + diameter, start + diameter), mask)
        self._small.draw(image, height * 1.2, height / 2, name, WHITE)
        return image

    def _words(self, words: str) -> bool:
        """Place as many lines as there is room for; return whether these are two or all."""
        free = (self._most_height - self._height) // self._small.line_height
        most = _MAX_LINES_BESIDE if self._width < self._most_height else _MAX_LINES_BELOW
        quoted = f"“{plain_text(words)}”"
        self._lines(quoted, self._small, WHITE, max(1, min(free, most)))
        return free >= min(2, len(wrap(quoted, self._small, self._room, 2)))


def _pill(width: float, height: int, radius: float, color: Color) -> Image.Image:
    image = Image.new("RGB", (round(width), height), INK)
    ImageDraw.Draw(image).rounded_rectangle((0, 0, image.width - 1, height - 1), radius, fill=color)
    return image


def _label(text: str, size: int, color: Color) -> Image.Image:
    face = Face(round(size * 0.7))
    image = _pill(face.length(text) + size * 0.44, size, size * 0.22, color)
    face.draw(image, size * 0.22, size / 2, text, INK)
    return image


def _ratio_sign(ratio: str, size: int) -> Image.Image:
    """A frame of this ratio, and its numbers."""
    across, _, down = ratio.partition(":")
    face = Face(round(size * 0.62))
    image = Image.new("RGB", (round(size * 1.1 + face.length(ratio)), size), INK)
    [box] = arrange([int(across) / int(down)], Box(0, 0, size, size).grown(-size * 0.06), 0)
    corners = (box.left, box.top, box.left + box.width, box.top + box.height)
    ImageDraw.Draw(image).rectangle(corners, outline=WHITE, width=max(1, size // 12))
    face.draw(image, size * 1.1, size / 2, ratio, WHITE)
    return image


def _viewfinder(distance: str, size: int) -> Image.Image:
    """Somebody in a frame, near or far."""
    image = Image.new("RGB", (size, size), _QUIET)
    edge = {"close": 0.92, "medium": 0.6}.get(distance, 0.34) * size
    _draw_somebody(image, (size - edge * 0.62) / 2, size - edge, edge, INK)
    ImageDraw.Draw(image).rectangle((0, 0, size - 1, size - 1), outline=WHITE, width=max(1, size // 12))
    return image


def _people_sign(people: int, size: int) -> Image.Image:
    """So many people; one crossed out is none."""
    image = Image.new("RGB", (round(size * 0.62 * max(1, people)), size), INK)
    for number in range(max(1, people)):
        _draw_somebody(image, number * size * 0.62, 0, size, WHITE if people else _QUIET)
    if not people:
        ImageDraw.Draw(image).line([part * size for part in _NOBODY], fill=(255, 96, 96), width=max(2, size // 9))
    return image


def _draw_somebody(image: Image.Image, x: float, y: float, size: float, color: Color) -> None:
    """Head and shoulders, 0.62 as wide as high."""
    draw = ImageDraw.Draw(image)
    head, shoulders = (
        [start + part * size for start, part in zip((x, y, x, y), parts, strict=True)] for parts in (_HEAD, _SHOULDERS)
    )
    draw.ellipse(head, fill=color)
    draw.pieslice(shoulders, 180, 360, fill=color)
