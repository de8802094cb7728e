"""Whether a picture is an empty scene, or has a subject in front of it.

Owns one question asked of pixels (D30). Must not know what the answer is used for.

The colours of a scene reach its border on more than one side: a wall, a gradient, a texture, a beach from left to
right. So a subject is a patch of colours that the border does not have, or has only where the subject is cut off, with
an edge around it. The edge distinguishes it from a gradient, which also has other colours in the middle, but changes to
them slowly.
"""

from collections import Counter
from typing import Literal

from PIL import Image, ImageChops, ImageFilter, ImageStat

from emulator.imaging.decoding import load
from emulator.imaging.drawing import opaque

Scene = Literal["clean", "foreground"]

_EDGE = 64  # pixels an edge of the small picture that is examined
_SAMPLES = 16  # an edge of what becomes one pixel of it, where a transparent picture is large
_RING = 6  # pixels of it that count as border
_FINE, _COARSE = 12, 40  # levels of a channel that are one colour, in a calm and in a busy scene
_KNOWN_SHARE = 0.01  # of one side of the border: a colour as frequent as this, on two sides, is the scene's own
_LEAST_PATCH = 0.012  # of the picture: smaller patches are specks
_LEAST_STEP = 9  # levels between neighbours that make an edge
_STEP_SHARE = 0.25  # of a patch's contrast to the border, that an edge makes at once
_SHARP_SHARE = 0.3  # of a patch's outline
_HIDDEN = (255, 0, 255)  # what shows through transparent pixels: a colour that scenes seldom have

_ALL, _FIRST, _LAST = range(_EDGE), range(_RING), range(_EDGE - _RING, _EDGE)
_SIDES = ((_ALL, _FIRST), (_ALL, _LAST), (_FIRST, _ALL), (_LAST, _ALL))
"""The rows and columns of the left, right, upper and lower border; corners count for both of theirs."""
_BORDER = Image.new("L", (_EDGE, _EDGE), 255)
_BORDER.paste(0, (_RING, _RING, _EDGE - _RING, _EDGE - _RING))


def examine_scene(image: Image.Image) -> Scene:
    """Whether a subject stands out from the picture's border; always the same for the same pixels. (D30)"""
    small = _small(image)
    steps = _steps(small)
    patch = _patch(small, ImageStat.Stat(steps, _BORDER).mean[0])
    if patch.histogram()[255] < _LEAST_PATCH * _EDGE * _EDGE:
        return "clean"
    means = zip(ImageStat.Stat(small, _BORDER).mean, ImageStat.Stat(small, patch).mean, strict=True)
    needed = max(_LEAST_STEP, _STEP_SHARE * max(abs(border - inner) for border, inner in means))
    outline = ImageChops.subtract(patch, patch.filter(ImageFilter.MinFilter(3)))
    found = steps.histogram(outline)
    return "foreground" if sum(found[round(needed) :]) >= max(1, _SHARP_SHARE * sum(found)) else "clean"


def examine_scene_of(data: bytes) -> Scene:
    """`examine_scene` of an encoded picture that `normalize` or `render` made."""
    return examine_scene(load(data, _EDGE * 2))


def _small(image: Image.Image) -> Image.Image:
    """The picture in RGB, small; of a large transparent one, which would be copied to be reduced, some pixels count."""
    factor = max(1, min(image.size) // (_EDGE * 2))
    if image.mode == "RGBA" and factor > _SAMPLES:
        step = factor // _SAMPLES
        image = image.resize((image.width // step, image.height // step), Image.Resampling.NEAREST)
        factor //= step
    return opaque(image.reduce(factor), _HIDDEN).convert("RGB").resize((_EDGE, _EDGE), Image.Resampling.BOX)


def _steps(small: Image.Image) -> Image.Image:
    """The largest difference of a channel around each pixel."""
    around = (small.filter(ImageFilter.MaxFilter(3)), small.filter(ImageFilter.MinFilter(3)))
    red, green, blue = ImageChops.subtract(*around).split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def _patch(small: Image.Image, busyness: float) -> Image.Image:
    """A mask of the colours that are not the scene's own, without single specks and the border.

    More levels of a channel are one colour where the border is busy, as a texture is.
    """
    grain = min(_COARSE, _FINE + round(busyness / 4))
    data = small.point([level // grain for level in range(256)] * 3).tobytes()
    colors = list(zip(data[0::3], data[1::3], data[2::3], strict=True))
    sides = [Counter(colors[y * _EDGE + x] for y in down for x in across) for down, across in _SIDES]
    known = {color: _is_known(color, sides) for color in set(colors)}
    mask = Image.frombytes("L", small.size, bytes(0 if known[color] else 255 for color in colors))
    return ImageChops.subtract(mask.filter(ImageFilter.MedianFilter(3)), _BORDER)


def _is_known(color: tuple[int, int, int], sides: list[Counter[tuple[int, int, int]]]) -> bool:
    """Whether two sides of the border have this colour, or a neighbouring one, more than by chance."""
    red, green, blue = color
    near = (-1, 0, 1)
    alike = [(red + r, green + g, blue + b) for r in near for g in near for b in near]
    least = _KNOWN_SHARE * _EDGE * _RING
    return sum(sum(side[color] for color in alike) >= least for side in sides) >= 2
