"""Words in pictures, with the font that Pillow carries.

Owns making any text drawable: control characters, missing glyphs, any script, any length. Never raises for text.
"""

import unicodedata

from PIL import Image, ImageDraw, ImageFont

from emulator.imaging.composition import Layer
from emulator.imaging.drawing import INK, WHITE, Color, rounded_mask

ELLIPSIS = "…"
_LONGEST_TEXT = 2_000  # characters looked at; more never fits a picture
_SMALLEST_PICTURE = 96  # pixels; below it no word can be read

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def font_of_size(size: int) -> Font:
    """Pillow's built-in font, `size` pixels high."""
    return ImageFont.load_default(max(8, size))


def plain_text(text: str) -> str:
    """One line without control characters, invisible marks and lone surrogates."""
    kept = (
        character if unicodedata.category(character)[0] != "C" else " " if character.isspace() else ""
        for character in text[:_LONGEST_TEXT]
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
    words = plain_text(text).split(" ")
    lines: list[str] = []
    while words and len(lines) < most_lines - 1:
        count = _words_that_fit(words, font, width)
        lines.append(shorten(" ".join(words[:count]), font, width))
        words = words[count:]
    if words:
        lines.append(shorten(" ".join(words), font, width))
    return lines


def _words_that_fit(words: list[str], font: Font, width: int) -> int:
    count = 1
    while count < len(words) and font.getlength(" ".join(words[: count + 1])) <= width:
        count += 1
    return count


def label(text: str, width: int, height: int) -> list[Layer]:
    """A small strip with the text, for the lower left corner of a picture of `width` x `height` pixels."""
    if min(width, height) < _SMALLEST_PICTURE:
        return []
    size = max(10, min(width, height) // 44)
    font, margin = font_of_size(size), size
    line = shorten(plain_text(text), font, width - 4 * margin)
    strip_width, strip_height = round(font.getlength(line)) + 2 * size, round(size * 2)
    strip = Image.new("RGB", (strip_width, strip_height), INK)
    write(strip, (size, strip_height // 2), [line], font, WHITE)
    mask = rounded_mask(strip_width, strip_height, strip_height // 2, 215)
    return [Layer(strip, margin, height - margin - strip_height, strip_width, strip_height, mask)]


def write(
    image: Image.Image, place: tuple[int, int], lines: list[str], font: Font, color: Color, spacing: int = 0
) -> None:
    """Write lines, the first centred upon the height of `place`, `spacing` pixels apart."""
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((place[0], place[1] + number * spacing), line, fill=color, font=font, anchor="lm")
