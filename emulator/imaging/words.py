"""Text that Pillow's built-in font can draw: without control characters and missing glyphs, of bounded length.

Never raises for any text.
"""

import unicodedata
from bisect import bisect_left

from PIL import ImageFont

_ELLIPSIS = "…"
_LONGEST_TEXT = 600  # characters that are used; more never fits a picture

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def plain_text(text: str) -> str:
    """One line without control characters, invisible marks, lone surrogates, and accents that the font lacks."""
    decomposed = unicodedata.normalize("NFKD", text[:_LONGEST_TEXT].replace("–", "-").replace("—", "-"))
    kept = (
        character if unicodedata.category(character)[0] not in "CM" else " " if character.isspace() else ""
        for character in decomposed.replace("...", _ELLIPSIS)
    )
    return " ".join("".join(kept).split())


def shorten(text: str, font: Font, width: float) -> str:
    """As much of one line as fits `width` pixels, with an ellipsis if something is left out."""
    if font.getlength(text) <= width:
        return text
    fitting = bisect_left(range(len(text)), width, key=lambda length: font.getlength(text[:length] + _ELLIPSIS)) - 1
    return text[: max(0, fitting)].rstrip() + _ELLIPSIS


def wrap(text: str, font: Font, width: float, most_lines: int) -> list[str]:
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
