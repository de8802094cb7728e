"""Whether a product is worn, or held: by its name, or by the sleeves that a cut-out
has.
"""

import re

from PIL import Image, ImageChops, ImageOps, ImageStat

_NAMES = re.compile(
    r"\b(\w*shirt|tee|blouse|jacket|\w*coat|hoodie|sweater|pullover|jumper|cardigan"
    r"|dress|vest|polo|tunic|kimono|blazer|gown)(s|es)?\b",
    re.IGNORECASE,
)
"""The words for garments."""

_EDGE = 32
"""Pixels of the small shape that is examined."""
_MOST_ASYMMETRY = 0.25
"""Of its area, that its mirror image does not cover."""
_SLEEVES = slice(3, 15)
_BODY = slice(20, 30)
"""The rows where sleeves and body of a garment are."""
_SLEEVE_WIDTH = 1.25
"""In widths of the body."""
_LEAST_BODY = 0.35
"""Of the width of the whole."""


def is_worn(product: Image.Image, name: str) -> bool:
    """Whether people wear a product, in RGB or RGBA; only what is cut out is worn."""
    if product.mode != "RGBA":
        return False
    return bool(_NAMES.search(name)) or _has_sleeves(product)


def _has_sleeves(product: Image.Image) -> bool:
    """Whether a cut-out is alike on both sides, and wider above than its body."""
    alpha = product.getchannel("A").resize((_EDGE, _EDGE), Image.Resampling.BOX)
    shape = alpha.point([255 * (level > 127) for level in range(256)])
    asymmetry = ImageChops.difference(shape, ImageOps.mirror(shape))
    if (
        ImageStat.Stat(asymmetry).sum[0]
        > _MOST_ASYMMETRY * ImageStat.Stat(shape).sum[0]
    ):
        return False
    widths = _widths_of(shape)
    body = widths[_BODY]
    if min(body) < _LEAST_BODY * _EDGE:
        return False
    return max(widths[_SLEEVES]) >= _SLEEVE_WIDTH * max(body)


def _widths_of(shape: Image.Image) -> list[int]:
    """How many pixels of each row are in a shape, from the top."""
    data = shape.tobytes()
    rows = range(0, len(data), shape.width)
    return [data[row : row + shape.width].count(255) for row in rows]
