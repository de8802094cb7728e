"""Words in pictures, with the font that Pillow carries: the plaque that says what a picture is.

Owns making any text drawable: control characters, missing glyphs, any script, any length. Never raises for text.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from emulator.imaging.drawing import INK, WHITE, Color, cover, flat, mix, rounded_mask

ELLIPSIS = "…"
_LONGEST_TEXT = 600  # characters looked at; more never fits a picture
_SHRINKING = (1.0, 0.88, 0.76, 0.64, 0.54, 0.45, 0.36)  # tried in turn until a plaque fits
_BADGE, _CHIP, _CHIP_GAP = 2.5, 1.5, 0.35  # heights, in sizes of letters
_MOST_LINES_BELOW, _MOST_LINES_BESIDE = 3, 6
_QUIET = mix(INK, WHITE, 0.66)
_PILL = mix(INK, WHITE, 0.13)

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@dataclass(frozen=True, slots=True)
class Chip:
    """Something that was chosen: a swatch (a picture, or a colour; None is an empty ring), its kind, and its name."""

    kind: str
    name: str
    swatch: Image.Image | Color | None


@dataclass(frozen=True, slots=True)
class Plaque:
    """What a picture says about itself, in the order of what is read first."""

    title: str
    facts: str = ""
    words: str = ""
    """Quoted, as much as there is room for."""
    chips: tuple[Chip, ...] = ()
    badge: str = ""
    accent: Color = WHITE
    """The badge's ground."""

    def draw(self, width: int, most_height: int, size: float) -> Image.Image:
        """The plaque in RGB: `width` pixels wide, as high as it needs, with letters of `size` or as small as it takes."""
        for shrinking in _SHRINKING:
            pen = _Pen(width, most_height, max(8, round(size * shrinking)))
            if pen.write(self):
                break
        return pen.drawn()


class _Pen:
    """Puts a plaque's words in their places, from the top; nothing is drawn before `drawn`."""

    def __init__(self, width: int, most_height: int, size: int) -> None:
        self._width, self._most_height, self._size = width, most_height, size
        self._padding = round(size * 0.6)
        self._font = ImageFont.load_default(size)
        self._small = ImageFont.load_default(max(8, round(size * 0.84)))
        self._y = self._padding
        self._marks: list[Callable[[Image.Image, ImageDraw.ImageDraw], None]] = []

    def write(self, plaque: Plaque) -> bool:
        """Place everything; tell whether it fits, with two lines of the words or all of them."""
        indent = self._badge(plaque) if plaque.badge else 0
        below_badge = self._y + round(self._size * _BADGE)
        widest = max((self._font.getlength(word) for word in plain_text(plaque.title).split()), default=0)
        if indent and widest > self._room - indent:
            self._y, indent = below_badge, 0
        line_count = self._lines(plaque.title, self._font, WHITE, indent, 2)
        if indent and line_count > 1:
            self._y, indent = max(self._y, below_badge), 0
        self._lines(plaque.facts, self._small, _QUIET, indent, 2)
        if plaque.badge:
            self._y = max(self._y, below_badge)
        rows = self._chip_rows(plaque.chips)
        chips_height = round(len(rows) * self._size * (_CHIP + _CHIP_GAP))
        shown = self._words(plaque.words, self._most_height - chips_height) if plaque.words else True
        for row in rows:
            self._chip_row(row)
        return shown and self._y + self._padding <= self._most_height

    def drawn(self) -> Image.Image:
        """The plaque, no higher than it may be."""
        image = Image.new("RGB", (self._width, max(1, min(self._y + self._padding, self._most_height))), INK)
        draw = ImageDraw.Draw(image)
        for mark in self._marks:
            mark(image, draw)
        return image

    @property
    def _room(self) -> int:
        return self._width - 2 * self._padding

    def _badge(self, plaque: Plaque) -> int:
        """Place the badge; return what it takes of the lines beside it."""
        font, height = ImageFont.load_default(round(self._size * 1.7)), round(self._size * _BADGE)
        width = max(height, round(font.getlength(plaque.badge) + self._size))
        left, top, radius = self._padding, self._y, self._size * 0.4
        box = (left, top, left + width, top + height)
        self._marks.append(lambda _, draw: draw.rounded_rectangle(box, radius, fill=plaque.accent))
        self._text((left + width / 2, top + height / 2), plaque.badge, font, INK, "mm")
        return width + round(self._size * 0.7)

    def _text(self, place: tuple[float, float], text: str, font: Font, color: Color, anchor: str = "lm") -> None:
        self._marks.append(lambda _, draw: draw.text(place, text, fill=color, font=font, anchor=anchor))

    def _lines(self, text: str, font: Font, color: Color, indent: int, most: int) -> int:
        lines, step = wrap(text, font, self._room - indent, most), self._step(font)
        for line in lines:
            self._text((self._padding + indent, self._y + step / 2), line, font, color)
            self._y += step
        return len(lines)

    def _step(self, font: Font) -> int:
        return round(font.getbbox("Hg")[3] * 1.2)

    def _words(self, words: str, bottom: int) -> bool:
        """Place as many lines as fit above `bottom`; tell whether these are two or all."""
        self._y += round(self._size * 0.3)
        free = (bottom - self._padding - self._y) // self._step(self._small)
        most = _MOST_LINES_BESIDE if self._width < self._most_height else _MOST_LINES_BELOW
        quoted = f"“{plain_text(words)}”"
        count = self._lines(quoted, self._small, WHITE, 0, max(1, min(free, most)))
        return free >= 2 or (count == 1 and self._small.getlength(quoted[: self._room]) <= self._room)

    def _chip_rows(self, chips: tuple[Chip, ...]) -> list[list[tuple[Chip, str, str, int]]]:
        """The chips in rows, with their texts and widths; kinds are left out where that saves rows or names."""
        with_kinds, without = self._flowed(chips, has_kinds=True), self._flowed(chips, has_kinds=False)
        is_shortened = any(name.endswith(ELLIPSIS) for row in with_kinds for _, _, name, _ in row)
        return without if is_shortened or len(without) < len(with_kinds) else with_kinds

    def _flowed(self, chips: tuple[Chip, ...], has_kinds: bool) -> list[list[tuple[Chip, str, str, int]]]:
        rows: list[list[tuple[Chip, str, str, int]]] = []
        free = 0
        for chip in chips:
            width = round(self._size * (_CHIP + 0.8)) if chip.name else round(self._size * _CHIP)
            kind = f"{chip.kind} " if has_kinds and chip.kind else ""
            taken = width + self._small.getlength(kind)
            name = shorten(plain_text(chip.name), self._small, round(self._room - taken))
            width = round(taken + self._small.getlength(name))
            if not rows or width > free:
                rows.append([])
                free = self._room
            rows[-1].append((chip, kind, name, width))
            free -= width + round(self._size * _CHIP_GAP)
        return rows

    def _chip_row(self, row: list[tuple[Chip, str, str, int]]) -> None:
        height, gap = round(self._size * _CHIP), round(self._size * _CHIP_GAP)
        left, top = self._padding, self._y + gap
        for chip, kind, name, width in row:
            box = (left, top, left + width, top + height)
            self._marks.append(lambda _, draw, box=box: draw.rounded_rectangle(box, height / 2, fill=_PILL))  # type: ignore[misc]
            self._swatch(chip.swatch, left + height // 8, top + height // 8, height - 2 * (height // 8))
            middle, start = top + height / 2, left + round(self._size * (_CHIP + 0.3))
            self._text((start, middle), kind, self._small, _QUIET)
            self._text((start + self._small.getlength(kind), middle), name, self._small, WHITE)
            left += width + gap
        self._y = top + height

    def _swatch(self, swatch: Image.Image | Color | None, left: int, top: int, edge: int) -> None:
        """A round swatch with a white rim."""
        rim = max(1, edge // 16)
        inner = max(1, edge - 2 * rim)
        picture = cover(swatch, 1) if isinstance(swatch, Image.Image) else flat(swatch or _PILL)

        def mark(image: Image.Image, _: ImageDraw.ImageDraw) -> None:
            mask = rounded_mask(edge, edge, edge / 2)
            image.paste(WHITE, (left, top), mask)
            image.paste(picture.resize((inner, inner)), (left + rim, top + rim), mask.resize((inner, inner)))

        self._marks.append(mark)


def plain_text(text: str) -> str:
    """One line without control characters, invisible marks, lone surrogates, and accents that the font has not."""
    decomposed = unicodedata.normalize("NFKD", text[:_LONGEST_TEXT].replace("–", "-").replace("—", "-"))
    kept = (
        character if unicodedata.category(character)[0] not in "CM" else " " if character.isspace() else ""
        for character in decomposed.replace("...", ELLIPSIS)
    )
    return " ".join("".join(kept).split())


def shorten(text: str, font: Font, width: int) -> str:
    """As much of one line as fits `width` pixels, with an ellipsis where something is left out."""
    if font.getlength(text) <= width:
        return text
    fitting, too_long = 0, len(text)
    while too_long - fitting > 1:
        middle = (fitting + too_long) // 2
        if font.getlength(text[:middle].rstrip() + ELLIPSIS) <= width:
            fitting = middle
        else:
            too_long = middle
    return text[:fitting].rstrip() + ELLIPSIS


def wrap(text: str, font: Font, width: int, most_lines: int) -> list[str]:
    """The text in lines of at most `width` pixels; the last one takes what is left, shortened."""
    words = plain_text(text).split()
    lines: list[str] = []
    while words:
        count = len(words)
        if len(lines) < most_lines - 1:
            count = 1
            while count < len(words) and font.getlength(" ".join(words[: count + 1])) <= width:
                count += 1
        lines.append(shorten(" ".join(words[:count]), font, width))
        words = words[count:]
    return lines
