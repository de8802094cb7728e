"""Colours: by name, by hue, mixed, and drawn by chance from words; and what is
transparent laid on one.
"""

import hashlib
from collections.abc import Iterable
from colorsys import hsv_to_rgb

from PIL import Image, ImageColor

from image_workflow_emulator.imaging.pictures import Picture

Color = tuple[int, int, int]
"""Red, green and blue, from 0 to 255."""

WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)
INK: Color = (30, 32, 38)


def chance(*words: object) -> float:
    """A pseudo-random number from 0 to 1; the same words give the same number."""
    text = "\x1f".join(map(str, words))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return digest[0] / 255


def color_of(text: str) -> Color:
    """The colour of a name, in lower case as CSS has it, or of six hex digits, with or
    without a #.
    """
    if text not in ImageColor.colormap:
        text = "#" + text.removeprefix("#")
    red, green, blue, *_ = ImageColor.getrgb(text)
    return red, green, blue


def named_color(words: Iterable[str]) -> Color | None:
    """The colour of the first of these words, in lower case, that names one."""
    for word in words:
        if word in ImageColor.colormap:
            return color_of(word)
    return None


def color_of_hue(hue: float, saturation: float, value: float) -> Color:
    """A colour by hue, saturation and value, each from 0 to 1."""
    red, green, blue = hsv_to_rgb(hue % 1, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def mix(first: Color, second: Color, share: float) -> Color:
    """`first` with this share of `second`."""
    red, green, blue = (
        round(start + (end - start) * share)
        for start, end in zip(first, second, strict=True)
    )
    return red, green, blue


def opaque(image: Picture, ground_color: Color = WHITE) -> Picture:
    """A picture in RGB or RGBA in RGB, on a colour where it is transparent."""
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGB", image.size, ground_color)
    ground.paste(image, mask=image)
    return ground
