"""Text in every script: each part of it in the first font that has its characters.

Noto Sans comes first; its other scripts and emoji follow, and Chinese, Japanese and Korean if `manimgx-fonts-cjk` is
installed. What no font has is counted by its script, such as "3 x Han", and never written as a box. Never raises for
any text.
"""

import unicodedata
from bisect import bisect_left
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from image_workflow_emulator.imaging.colors import Color

_ELLIPSIS = "…"
_MAX_TEXT_CHARACTERS = 600  # characters that are used; more never fits a picture
_PACKAGES = ("manimgx_fonts", "manimgx_fonts_cjk")
_FIRST = "NotoSans[wght].ttf"
_JOINERS = "\u200d\ufe0f"  # of emoji


class Face:
    """The fonts in one size, in pixels."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.line_height = round(size * 1.34)

    def length(self, text: str) -> float:
        """The width of a text of one line, in pixels."""
        return sum(font.getlength(part) for font, part in _parts(text, self._size))

    def draw(
        self, image: Image.Image, x: float, middle: float, text: str, color: Color
    ) -> None:
        """Write one line from the left, its letters around the middle."""
        for font, part in _parts(text, self._size):
            ImageDraw.Draw(image).text(
                (x, middle + self._size * 0.36),
                part,
                fill=color,
                font=font,
                anchor="ls",
            )
            x += font.getlength(part)


@lru_cache(maxsize=256)
def _parts(text: str, size: int) -> list[tuple[ImageFont.FreeTypeFont, str]]:
    """The parts of a text with the font that has each; marks go with what they follow, and spaces where that is right
    to left.
    """
    fonts: list[int] = []
    for last, character in zip(" " + text, text, strict=False):
        is_joined = _kind(character) in "MC" or (
            character == " " and unicodedata.bidirectional(last) in ("R", "AL")
        )
        fonts.append(fonts[-1] if is_joined and fonts else max(0, _font_of(character)))
    parts = groupby(zip(fonts, text, strict=True), key=lambda pair: pair[0])
    return [
        (_open(number, size), "".join(character for _, character in part))
        for number, part in parts
    ]


@lru_cache(maxsize=1)
def _files() -> list[Path]:
    places = [
        place
        for spec in map(find_spec, _PACKAGES)
        if spec
        for place in spec.submodule_search_locations or ()
    ]
    files = [file for place in places for file in Path(place).glob("*.[to]t*")]
    return sorted(files, key=lambda file: (file.name != _FIRST, file.name))


@lru_cache(maxsize=64)
def _open(number: int, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(_files()[number], size)


@lru_cache(maxsize=4096)
def _font_of(character: str) -> int:
    """The number of the first font that has a character; -1 if none has it."""
    masks = ((number, _open(number, 16).getmask) for number in range(len(_files())))
    return next(
        (
            number
            for number, mask in masks
            if bytes(mask(character)) != bytes(mask("\uffff"))
        ),
        -1,
    )


def _kind(character: str) -> str:
    return unicodedata.category(character)[0]


@lru_cache(maxsize=256)
def plain_text(text: str) -> str:
    """One line without control characters, lone surrogates, and characters that no font has."""
    composed = unicodedata.normalize(
        "NFC", text[:_MAX_TEXT_CHARACTERS].replace("...", _ELLIPSIS)
    )
    kept = filter(
        lambda character: (
            character.isspace() or character in _JOINERS or _kind(character) != "C"
        ),
        composed,
    )
    written = ""
    for script, characters in groupby(kept, key=_script_without_font):
        run = "".join(characters)
        written += f" {len(run)} x {script} " if script else run
    return " ".join(written.split())


def _script_without_font(character: str) -> str:
    """The script of a character that no font has; nothing for any other."""
    if (
        character.isspace()
        or character in _JOINERS
        or _kind(character) == "M"
        or _font_of(character) >= 0
    ):
        return ""
    word = unicodedata.name(character, "unknown").partition(" ")[0].capitalize()
    return "Han" if word == "Cjk" else word


def shorten(text: str, face: Face, width: float) -> str:
    """As much of one line as fits `width` pixels, with an ellipsis if something is left out."""
    if face.length(text) <= width:
        return text
    fitting = (
        bisect_left(
            range(len(text)),
            width,
            key=lambda length: face.length(text[:length] + _ELLIPSIS),
        )
        - 1
    )
    return text[: max(0, fitting)].rstrip() + _ELLIPSIS


def wrap(text: str, face: Face, width: float, most_lines: int) -> list[str]:
    """The text in lines of at most `width` pixels; the last one takes what is left, shortened."""
    words = plain_text(text).split()
    lines: list[str] = []
    while words:
        count = len(words)
        if len(lines) < most_lines - 1:
            count = 1
            while (
                count < len(words)
                and face.length(" ".join(words[: count + 1])) <= width
            ):
                count += 1
        lines.append(shorten(" ".join(words[:count]), face, width))
        words = words[count:]
    return lines
