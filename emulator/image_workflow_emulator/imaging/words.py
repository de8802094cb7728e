"""Text in every script: each part of it in the first font that has its characters.

Noto Sans comes first; its other scripts and emoji follow, and Chinese, Japanese and
Korean if `manimgx-fonts-cjk` is installed. What no font has is counted by its script,
such as "3 x Han", and never written as a box. Never raises for any text.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from msgspec import Struct
from PIL import ImageDraw, ImageFont

from image_workflow_emulator.imaging.colors import Color
from image_workflow_emulator.imaging.pictures import Picture

_ELLIPSIS = "…"
_MAX_CHARACTERS = 4_000
"""Characters that are used; more fits no picture."""
_PACKAGES = ("manimgx_fonts", "manimgx_fonts_cjk")
_FIRST_FILE = "NotoSans[wght].ttf"
_JOINERS = "\u200d\ufe0f"
"""Of emoji."""
_RIGHT_TO_LEFT = ("R", "AL")
_NO_CHARACTER = "\uffff"
"""A character that each font draws as missing."""
_MEASURED_SIZE = 64
_BASE_LINE = 0.36
"""How far the base line is below the middle of a line, as a share of the size."""


class _Run(Struct, frozen=True):
    """A part of a text, with the font that has its characters."""

    font: ImageFont.FreeTypeFont
    text: str

    @property
    def length(self) -> float:
        """Its width, in pixels."""
        return self.font.getlength(self.text)


class Face:
    """The fonts in one size, in pixels."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.line_height = round(size * 1.34)

    def length(self, text: str) -> float:
        """The width of a text of one line, in pixels."""
        return _length_of(text) * self.size / _MEASURED_SIZE

    def draw(
        self,
        image: Picture,
        x: float,
        middle: float,
        text: str,
        color: Color,
    ) -> None:
        """Write one line from the left, its letters around the middle."""
        draw = ImageDraw.Draw(image)
        y = middle + self.size * _BASE_LINE
        for run in _runs(text, self.size):
            draw.text(
                (x, y),
                run.text,
                fill=color,
                font=run.font,
                anchor="ls",
            )
            x += run.length


@lru_cache(maxsize=8192)
def _length_of(text: str) -> float:
    """The width of a text in one size, to which it is proportional in any other.

    Some scripts take milliseconds for each word.
    """
    runs = _runs(text, _MEASURED_SIZE)
    return sum(run.length for run in runs)


@lru_cache(maxsize=256)
def _runs(text: str, size: int) -> list[_Run]:
    """The parts of a text; marks go with what they follow, and spaces where that is
    right to left.
    """
    runs = []
    start = 0
    for font_number, same in groupby(_fonts_of(text)):
        end = start + len(list(same))
        font = _open(font_number, size)
        runs.append(_Run(font, text[start:end]))
        start = end
    return runs


def _fonts_of(text: str) -> list[int]:
    """The number of the font for each character of a text."""
    numbers: list[int] = []
    last = " "
    for character in text:
        if numbers and _goes_with(last, character):
            number = numbers[-1]
        else:
            number = max(0, _font_of(character))
        numbers.append(number)
        last = character
    return numbers


def _goes_with(last: str, character: str) -> bool:
    if character == " ":
        return unicodedata.bidirectional(last) in _RIGHT_TO_LEFT
    return _class_of(character) in ("M", "C")


@lru_cache(maxsize=1)
def _files() -> list[Path]:
    """The files of fonts, the first font first."""
    files: list[Path] = []
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is None:
            continue
        for folder in spec.submodule_search_locations or ():
            files += Path(folder).glob("*.[to]t*")
    return sorted(files, key=_order_of)


def _order_of(file: Path) -> tuple[bool, str]:
    is_other = file.name != _FIRST_FILE
    return is_other, file.name


@lru_cache(maxsize=64)
def _open(number: int, size: int) -> ImageFont.FreeTypeFont:
    file = _files()[number]
    return ImageFont.truetype(file, size)


@lru_cache(maxsize=4096)
def _font_of(character: str) -> int:
    """The number of the first font that has a character; -1 if none has it."""
    for number in range(len(_files())):
        font = _open(number, 16)
        drawn = bytes(font.getmask(character))
        missing = bytes(font.getmask(_NO_CHARACTER))
        if drawn != missing:
            return number
    return -1


def _class_of(character: str) -> str:
    """The first letter of a character's category: M is a mark, C a control."""
    return unicodedata.category(character)[0]


@lru_cache(maxsize=64)
def plain_text(text: str) -> str:
    """One line without control characters, lone surrogates, and characters that no font
    has.
    """
    shortened = text[:_MAX_CHARACTERS].replace("...", _ELLIPSIS)
    composed = unicodedata.normalize("NFC", shortened)
    kept = filter(_is_written, composed)
    written = ""
    for script, characters in groupby(kept, key=_script_without_font):
        run = "".join(characters)
        if script:
            run = f" {len(run)} x {script} "
        written += run
    return " ".join(written.split())


def _is_written(character: str) -> bool:
    return _needs_no_font(character) or _class_of(character) != "C"


def _needs_no_font(character: str) -> bool:
    return character.isspace() or character in _JOINERS


def _script_without_font(character: str) -> str:
    """The script of a character that no font has; nothing for any other."""
    if _needs_no_font(character) or _class_of(character) == "M":
        return ""
    if _font_of(character) >= 0:
        return ""
    name = unicodedata.name(character, "unknown")
    word, _, _ = name.partition(" ")
    if word == "CJK":
        return "Han"
    return word.capitalize()


# Lines --------------------------------------------------------------------------------


def shorten(
    text: str,
    face: Face,
    width: float,
) -> str:
    """As much of one line as fits `width` pixels, with an ellipsis if something is left
    out.
    """
    if face.length(text) <= width:
        return text
    width_before = width - face.length(_ELLIPSIS)
    count = _fitting_length(text, face, width_before)
    return text[:count].rstrip() + _ELLIPSIS


def _fitting_length(
    text: str,
    face: Face,
    width: float,
) -> int:
    """How many characters fit."""

    def length_of(count: int) -> float:
        return face.length(text[:count])

    counts = range(len(text) + 1)
    fitting_counts = bisect_right(counts, width, key=length_of)
    return max(0, fitting_counts - 1)


def wrap(
    text: str,
    face: Face,
    width: float,
    most_lines: int,
) -> list[str]:
    """The text in lines of at most `width` pixels; the last one takes what is left,
    shortened.
    """
    space = face.length(" ")
    lines: list[str] = []
    free = 0.0
    for word in _words_in(text, face, width):
        needed = space + face.length(word)
        is_last = len(lines) == most_lines
        if lines and (needed <= free or is_last):
            lines[-1] += " " + word
        else:
            lines.append(word)
            free = width + space
        free -= needed
        if is_last and free < 0:
            break
    if lines:
        lines[-1] = shorten(lines[-1], face, width)
    return lines


def _words_in(
    text: str,
    face: Face,
    width: float,
) -> Iterator[str]:
    """The words of a text; one that is wider than a line is in parts."""
    for word in plain_text(text).split():
        rest = word
        while face.length(rest) > width:
            count = max(1, _fitting_length(rest, face, width))
            yield rest[:count]
            rest = rest[count:]
            if not rest:
                break
        if rest:
            yield rest
