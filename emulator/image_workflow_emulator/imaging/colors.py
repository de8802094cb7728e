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


def whole_color(levels: Iterable[float]) -> Color:
    """A colour from its channels, of which any after blue are left out."""
    red, green, blue, *_ = map(round, levels)
    return red, green, blue


def chance(*words: object) -> float:
    """A pseudo-random number from 0 to 1; the same words give the same number."""
    text = "\x1f".join(map(str, words))
    encoded = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(encoded).digest()
    return digest[0] / 255


def color_of(text: str) -> Color:
    """The colour of a name, in lower case as CSS has it, or of six hex digits, with or
    without a #.
    """
    if text not in ImageColor.colormap:
        text = "#" + text.removeprefix("#")
    return whole_color(ImageColor.getrgb(text))


def named_color(words: Iterable[str]) -> Color | None:
    """The colour of the first of these words, in lower case, that names one."""
    for word in words:
        if word in ImageColor.colormap:
            return color_of(word)
    return None


def color_of_hue(
    hue: float,
    saturation: float,
    value: float,
) -> Color:
    """A colour by hue, saturation and value, each from 0 to 1."""
    shares = hsv_to_rgb(hue % 1, saturation, value)
    return whole_color(share * 255 for share in shares)


def mix(
    first: Color,
    second: Color,
    share: float,
) -> Color:
    """`first` with this share of `second`."""
    mixed = []
    for start, end in zip(first, second, strict=True):
        level = start + (end - start) * share
        mixed.append(level)
    return whole_color(mixed)


def opaque(image: Picture, ground_color: Color = WHITE) -> Picture:
    """A picture in RGB or RGBA in RGB, on a colour where it is transparent."""
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGB", image.size, ground_color)
    ground.paste(image, mask=image)
    return ground
