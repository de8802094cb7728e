"""The plaque that says what a picture is: its look, and its place below or beside everything else."""

from msgspec import Struct
from PIL import Image, ImageDraw, ImageFont

from emulator.imaging.composition import Layer, place
from emulator.imaging.drawing import INK, WHITE, Color, cover, mix, rounded_mask
from emulator.imaging.layout import Box
from emulator.imaging.words import Font, plain_text, shorten, wrap

CARD_LETTERS = 1 / 18  # of the longer edge: cards are shown small
_SMALLEST_WITH_WORDS = 160  # pixels of the shorter edge; below it no word can be read
_DENSE_EDGE = 2048  # pixels; words in larger pictures are stretched, which is seen only there
_WIDE = 1.4  # from this width by height on, the plaque stands beside the picture
_SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.54, 0.45, 0.36)  # tried in turn until a plaque fits
_BADGE, _CHIP, _GAP = 2.5, 1.5, 0.35  # in sizes of letters
_MOST_LINES_BELOW, _MOST_LINES_BESIDE = 3, 6
_QUIET = mix(INK, WHITE, 0.66)
_PILL = mix(INK, WHITE, 0.13)


class Chip(Struct, frozen=True):
    """The name of something that was chosen, and its swatch: a picture, or a colour; None is an empty ring."""

    name: str
    swatch: Image.Image | Color | None


class Plaque(Struct, frozen=True):
    """What a picture says about itself, the most important first."""

    title: str
    facts: str = ""
    chips: tuple[Chip, ...] = ()
    words: str = ""
    """Quoted, as much as there is room for."""
    badge: str = ""
    accent: Color = WHITE
    """The background of the badge."""

    def draw(self, width: int, most_height: int, size: float) -> Image.Image:
        """The plaque in RGB: `width` pixels wide, as high as it needs, with letters of `size` or as small as it takes."""
        for shrinking in _SHRINKING:
            pen = _Pen(width, most_height, max(8, round(size * shrinking)))
            if pen.write(self):
                break
        return pen.written()


def captioned(width: int, height: int, plaque: Plaque, size: float = 1 / 24) -> tuple[Box, list[Layer]]:
    """The box that the plaque leaves free, and the layers of the plaque; none if the picture is too small.

    `size` is that of its letters, as a share of the picture's longer edge.
    """
    short, long = min(width, height), max(width, height)
    margin = short * 0.04
    frame = Box(0, 0, width, height).grown(-margin)
    if short < _SMALLEST_WITH_WORDS:
        return frame, []
    is_wide = width > height * _WIDE
    across, down = (width * 0.32, frame.height) if is_wide else (frame.width, frame.height * 0.42)
    density = min(1.0, _DENSE_EDGE / long)
    image = plaque.draw(round(across * density), round(down * density), long * size * density)
    strip, room = frame.split("bottom", image.height / density, margin)
    if is_wide:
        _, room = frame.split("left", across, margin)
    box = Box(strip.left, strip.top, across, strip.height)
    return room, [place(image, box, rounded_mask(box.width, box.height, long * size * 0.5))]


class _Pen:
    """Writes a plaque from the top, on an image that is as high as it may be."""

    def __init__(self, width: int, most_height: int, size: int) -> None:
        self._width, self._most_height, self._size = width, most_height, size
        self._left = self._y = round(size * 0.6)
        self._room = width - 2 * self._left
        self._font = ImageFont.load_default(size)
        self._small = ImageFont.load_default(max(8, round(size * 0.84)))
        self._image = Image.new("RGB", (width, max(1, most_height)), INK)
        self._draw = ImageDraw.Draw(self._image)

    @property
    def _height(self) -> int:
        return self._y + self._left

    def write(self, plaque: Plaque) -> bool:
        """Write everything; return whether it fits, with two lines of the words or all of them."""
        indent, below_badge = self._badge(plaque) if plaque.badge else (0, self._y)
        longest_word = max((self._font.getlength(word) for word in plain_text(plaque.title).split()), default=0)
        if longest_word > self._room - indent:  # a narrow plaque: the badge has lines of its own
            self._y, indent = below_badge, 0
        if self._lines(plaque.title, self._font, WHITE, indent, 2) > 1 and indent:
            self._y, indent = max(self._y, below_badge), 0
        self._lines(plaque.facts, self._small, _QUIET, indent, 2)
        self._y = max(self._y, below_badge)
        self._chips(plaque.chips)
        is_said = self._words(plaque.words) if plaque.words else True
        return is_said and self._height <= self._most_height

    def written(self) -> Image.Image:
        """The plaque, as high as it is needed."""
        return self._image.crop((0, 0, self._width, min(self._height, self._image.height)))

    def _badge(self, plaque: Plaque) -> tuple[int, int]:
        """Place the badge; return the width that it takes from the lines beside it, and its lower end."""
        font, height = ImageFont.load_default(round(self._size * 1.7)), round(self._size * _BADGE)
        width = max(height, round(font.getlength(plaque.badge) + self._size))
        self._rounded(self._left, self._y, width, height, self._size * 0.4, plaque.accent)
        self._text(self._left + width / 2, self._y + height / 2, plaque.badge, font, INK, "mm")
        return width + round(self._size * 0.7), self._y + height

    def _lines(self, text: str, font: Font, color: Color, indent: int, most: int) -> int:
        """Place a text in lines; return how many it took."""
        lines, step = wrap(text, font, self._room - indent, most), _line_height(font)
        for line in lines:
            self._text(self._left + indent, self._y + step / 2, line, font, color)
            self._y += step
        return len(lines)

    def _chips(self, chips: tuple[Chip, ...]) -> None:
        """Place the chips in as many rows as they need."""
        height, gap, rim = (round(self._size * share) for share in (_CHIP, _GAP, _CHIP / 8))
        x = self._room  # the first one begins a row
        for chip in chips:
            spare = height + (round(self._size * 0.8) if chip.name else 0)
            name = shorten(plain_text(chip.name), self._small, self._room - spare)
            width = spare + round(self._small.getlength(name))
            if x + width > self._room:
                x, self._y = 0, self._y + gap + height
            left, top = self._left + x, self._y - height
            self._rounded(left, top, width, height, height / 2, _PILL)
            self._swatch(chip.swatch, left + rim, top + rim, height - 2 * rim)
            self._text(left + height * 1.2, top + height / 2, name, self._small, WHITE)
            x += width + gap

    def _words(self, words: str) -> bool:
        """Place as many lines as there is room for; return whether these are two or all."""
        self._y += round(self._size * _GAP)
        free = (self._most_height - self._height) // _line_height(self._small)
        most = _MOST_LINES_BESIDE if self._width < self._most_height else _MOST_LINES_BELOW
        quoted = f"“{plain_text(words)}”"
        self._lines(quoted, self._small, WHITE, 0, max(1, min(free, most)))
        return free >= min(2, len(wrap(quoted, self._small, self._room, 2)))

    def _text(self, x: float, y: float, text: str, font: Font, color: Color, anchor: str = "lm") -> None:
        self._draw.text((x, y), text, fill=color, font=font, anchor=anchor)

    def _rounded(self, left: float, top: float, width: float, height: float, radius: float, color: Color) -> None:
        self._draw.rounded_rectangle((left, top, left + width, top + height), radius, fill=color)

    def _swatch(self, swatch: Image.Image | Color | None, left: int, top: int, edge: int) -> None:
        """A round swatch with a white rim."""
        rim = max(1, edge // 16)
        inner = max(1, edge - 2 * rim)
        mask = rounded_mask(edge, edge, edge / 2)
        self._image.paste(WHITE, (left, top, left + mask.width, top + mask.height), mask)
        fill = cover(swatch, 1).resize((inner, inner)) if isinstance(swatch, Image.Image) else swatch or _PILL
        box = (left + rim, top + rim, left + rim + inner, top + rim + inner)
        self._image.paste(fill, box, mask.resize((inner, inner)))


def _line_height(font: Font) -> int:
    return round(font.getbbox("Hg")[3] * 1.2)
