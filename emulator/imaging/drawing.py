"""Small drawing tools that every picture uses: colours, gradients, masks, and pseudo-random numbers from text.

Must not know any recipe.
"""

import colorsys
import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFilter

Color = tuple[int, int, int]

WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)
INK: Color = (30, 32, 38)

_SMOOTHING = 2  # shapes are drawn this much larger, then reduced, for soft edges
_MASK_EDGE = 1024  # pixels; larger masks are stretched, which is invisible
_ELLIPSE_EDGE = 384  # pixels


def chance(*words: object) -> float:
    """A pseudo-random number from 0 to 1; the same words give the same number."""
    return hashlib.sha256("\x1f".join(map(str, words)).encode("utf-8", "surrogatepass")).digest()[0] / 255


def color_of_hex(text: str) -> Color:
    """The colour of six hex digits, with or without a leading #."""
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
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
    column = Image.new("RGB", (1, length))
    for (start, first), (end, second) in pairwise(((0.0, stops[0][1]), *stops, (1.0, stops[-1][1]))):
        top, bottom = round(start * length), round(end * length)
        if top < bottom:
            ends = Image.frombytes("RGB", (1, 2), bytes((*first, *second)))
            column.paste(ends.resize((1, bottom - top), Image.Resampling.BILINEAR, (0, 0.5, 1, 1.5)), (0, top))
    return column


def pale_wall(hue: float) -> Image.Image:
    """A plain backdrop, a little darker at the bottom."""
    return gradient_column(((0.0, color_of_hue(hue, 0.06, 0.98)), (1.0, color_of_hue(hue, 0.16, 0.88))))


def ellipse_mask() -> Image.Image:
    """A mask of an ellipse that fills its box, with soft edges."""
    return rounded_mask(_ELLIPSE_EDGE, _ELLIPSE_EDGE, _ELLIPSE_EDGE / 2)


@lru_cache(maxsize=16)
def rounded_mask(width: float, height: float, radius: float) -> Image.Image:
    """A mask of a rounded rectangle that fills its box, with soft edges."""
    share = min(1.0, _MASK_EDGE / max(width, height)) * _SMOOTHING
    mask = Image.new("L", (max(2, round(width * share)), max(2, round(height * share))), 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, mask.width - 1, mask.height - 1), radius * share, fill=255)
    return mask.reduce(_SMOOTHING)


@lru_cache(maxsize=2)
def soft_mask(opacity: int) -> Image.Image:
    """A small blurred ellipse, to be stretched into the shadow of a thing; its edges are left empty."""
    mask = Image.new("L", (96, 96), 0)
    ImageDraw.Draw(mask).ellipse((16, 16, 79, 79), fill=opacity)
    return mask.filter(ImageFilter.GaussianBlur(6))


def opaque(image: Image.Image, ground_color: Color = WHITE) -> Image.Image:
    """A picture in RGB or RGBA in RGB, on a colour where it is transparent."""
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGB", image.size, ground_color)
    ground.paste(image, mask=image)
    return ground


def bands(image: Image.Image, rows: int = 64) -> Iterator[tuple[int, int, int, int]]:
    """The boxes of a picture's bands, from the top down: work on one after another takes little memory."""
    for top in range(0, image.height, rows):
        yield 0, top, image.width, min(top + rows, image.height)


def cover(image: Image.Image, aspect: float) -> Image.Image:
    """The middle of a picture, cut to the given width by height; itself if that is all of it."""
    width = max(1, min(image.width, round(image.height * aspect)))
    height = max(1, min(image.height, round(image.width / aspect)))
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image if (width, height) == image.size else image.crop((left, top, left + width, top + height))


def trimmed(image: Image.Image) -> Image.Image:
    """A cut-out without the transparent room around it; without transparency, the picture in RGB."""
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    box = alpha.getbbox() if alpha else None
    if alpha is None or box is None or alpha.getextrema()[0] == 255:
        return opaque(image)
    return image.crop(box)
