"""Small drawing tools that every picture uses: colours, gradients, soft shapes, and chance that follows from text.

Must not know any recipe.
"""

import colorsys
import hashlib
from collections.abc import Sequence
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFilter

Color = tuple[int, int, int]

WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)
INK: Color = (38, 40, 46)

_SMOOTHING = 2  # shapes are drawn this much larger, then reduced, for soft edges


class Dice:
    """Numbers that follow from the words it is made of: the same words, the same throws."""

    def __init__(self, *words: object) -> None:
        self._digest = hashlib.sha256("\x1f".join(map(str, words)).encode("utf-8", "surrogatepass")).digest()
        self._next = 0

    def throw(self) -> float:
        """The next number from 0 to 1."""
        number = self._digest[self._next % len(self._digest)] / 255
        self._next += 1
        return number


def color_of_hex(text: str) -> Color:
    """The colour of six hex digits, with or without a leading #. Raises ValueError."""
    digits = text.removeprefix("#")
    if len(digits) != 6:
        raise ValueError(f"colour {text!r}: expected six hex digits")
    red, green, blue = bytes.fromhex(digits)
    return red, green, blue


def color_of_hue(hue: float, saturation: float, value: float) -> Color:
    """A colour by hue, saturation and value, each from 0 to 1."""
    red, green, blue = colorsys.hsv_to_rgb(hue % 1, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def mix(first: Color, second: Color, share: float) -> Color:
    """`first` with this share of `second`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def gradient_column(stops: Sequence[tuple[float, Color]], length: int = 256) -> Image.Image:
    """A column, one pixel wide, through colours at heights from 0 (top) to 1 (bottom), which are given in order."""
    pixels: list[int] = []
    for (start, first), (end, second) in pairwise(((0.0, stops[0][1]), *stops, (1.0, stops[-1][1]))):
        count = round(end * length) - round(start * length)
        steps = [(after - before) / count if count else 0.0 for before, after in zip(first, second, strict=True)]
        for number in range(count):
            place = number + 0.5
            pixels += [round(before + step * place) for before, step in zip(first, steps, strict=True)]
    return Image.frombytes("RGB", (1, length), bytes(pixels))


def flat(color: Color) -> Image.Image:
    """One pixel, to be stretched."""
    return Image.new("RGB", (1, 1), color)


def ellipse_mask(width: int, height: int) -> Image.Image:
    """A mask of an ellipse that fills its box, with soft edges."""
    mask = Image.new("L", (width * _SMOOTHING, height * _SMOOTHING), 0)
    ImageDraw.Draw(mask).ellipse((0, 0, mask.width - 1, mask.height - 1), fill=255)
    return mask.reduce(_SMOOTHING)


def rounded_mask(width: int, height: int, radius: int, opacity: int = 255) -> Image.Image:
    """A mask of a rounded rectangle that fills its box, with soft edges."""
    mask = Image.new("L", (width * _SMOOTHING, height * _SMOOTHING), 0)
    box = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, radius * _SMOOTHING, fill=opacity)
    return mask.reduce(_SMOOTHING)


def arch_mask(width: int, height: int) -> Image.Image:
    """A mask of a doorway: a half circle upon a rectangle."""
    mask = Image.new("L", (width * _SMOOTHING, height * _SMOOTHING), 0)
    draw = ImageDraw.Draw(mask)
    draw.ellipse((0, 0, mask.width - 1, min(mask.width, mask.height) - 1), fill=255)
    draw.rectangle((0, min(mask.width, mask.height) // 2, mask.width - 1, mask.height - 1), fill=255)
    return mask.reduce(_SMOOTHING)


def soft_ellipse_mask(opacity: int) -> Image.Image:
    """A small blurred ellipse, to be stretched into the shadow under a thing."""
    mask = Image.new("L", (96, 48), 0)
    ImageDraw.Draw(mask).ellipse((16, 10, 79, 37), fill=opacity)
    return mask.filter(ImageFilter.GaussianBlur(6))


def soft_box_mask(opacity: int) -> Image.Image:
    """A small blurred rectangle, to be stretched into the shadow behind a card."""
    mask = Image.new("L", (96, 96), 0)
    ImageDraw.Draw(mask).rectangle((8, 8, 87, 87), fill=opacity)
    return mask.filter(ImageFilter.GaussianBlur(3))


def cover(image: Image.Image, width: int, height: int) -> Image.Image:
    """The middle of a picture, cut to the proportions of `width` x `height`."""
    share = min(image.width / width, image.height / height)
    cut_width, cut_height = max(1, round(width * share)), max(1, round(height * share))
    left, top = (image.width - cut_width) // 2, (image.height - cut_height) // 2
    return image.crop((left, top, left + cut_width, top + cut_height))
