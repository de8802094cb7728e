"""Whether a product is worn, or held: by its name, or by the sleeves that a cut-out
has.
"""

import re

from PIL import ImageChops, ImageOps

from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.pictures import Mask, Picture, averaged

_NAMES = re.compile(
    r"\b(\w*shirt|tee|blouse|jacket|\w*coat|hoodie|sweater|pullover|jumper|cardigan"
    r"|dress|vest|polo|tunic|kimono|blazer|gown)(s|es)?\b",
    re.IGNORECASE,
)
"""The words for garments."""

_EDGE = 32
"""Pixels of the small shape that is examined."""
_MOST_ASYMMETRY = 0.25
"""A share of its area that its mirror image does not cover."""
_SLEEVES = slice(3, 15)
_BODY = slice(20, 30)
"""The rows where sleeves and body of a garment are."""
_SLEEVE_WIDTH = 1.25
"""In widths of the body."""
_LEAST_BODY = 0.35
"""A share of the width of the whole."""


def is_worn(product: Picture, name: str) -> bool:
    """Whether people wear a product, in RGB or RGBA; only what is cut out is worn."""
    if product.mode != "RGBA":
        return False
    return bool(_NAMES.search(name)) or _has_sleeves(product)


def _has_sleeves(product: Picture) -> bool:
    """Whether a cut-out is alike on both sides, and wider above than its body."""
    alpha = product.getchannel("A")
    shape = masks.above(averaged(alpha, _EDGE), 127)
    mirrored = ImageOps.mirror(shape)
    asymmetry = masks.count_in(ImageChops.difference(shape, mirrored))
    if asymmetry > _MOST_ASYMMETRY * masks.count_in(shape):
        return False
    widths = _widths_of(shape)
    body = widths[_BODY]
    if min(body) < _LEAST_BODY * _EDGE:
        return False
    sleeves = widths[_SLEEVES]
    return max(sleeves) >= _SLEEVE_WIDTH * max(body)


def _widths_of(shape: Mask) -> list[int]:
    """How many pixels of each row are in a shape, from the top."""
    data = shape.tobytes()
    widths = []
    for start in range(0, len(data), shape.width):
        row = data[start : start + shape.width]
        widths.append(row.count(masks.COVERED))
    return widths
