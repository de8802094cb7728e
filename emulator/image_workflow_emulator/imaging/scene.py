"""Whether a picture is an empty scene, or has a subject in front of it.

Owns one question asked of pixels (D30). Must not know what the answer is used for.

The colours of a scene reach its border on more than one side: a wall, a gradient, a texture, a beach from left to
right. So a subject is a patch of colours that the border does not have, or has only where the subject is cut off, with
an edge around it. The edge distinguishes it from a gradient, which also has other colours in the middle, but changes to
them slowly.
"""

from typing import Literal

from PIL import Image, ImageChops, ImageFilter, ImageStat

from image_workflow_emulator.imaging.colors import opaque

Scene = Literal["clean", "foreground"]

_EDGE = 64  # pixels an edge of the small picture that is examined
SCENE_EDGE = 16 * _EDGE
"""Pixels; more makes no difference."""
_RING = 6  # pixels of it that count as border
_COLORS = 16  # into which it is sorted
_KNOWN_SHARE = 0.01  # of one side of the border: a colour as frequent as this, on two sides, is the scene's own
_LEAST_PATCH = 0.012  # of the picture: smaller patches are specks
_LEAST_STEP = 9  # levels between neighbours that make an edge
_STEP_SHARE = 0.25  # of a patch's contrast to the border, that an edge makes at once
_SHARP_SHARE = 0.3  # of a patch's outline
_HIDDEN = (
    255,
    0,
    255,
)  # what shows through transparent pixels: a colour that scenes seldom have


def examine_scene(image: Image.Image) -> Scene:
    """Whether a subject stands out from the picture's border; always the same for the same pixels. (D30)"""
    width, height = (min(edge, SCENE_EDGE) for edge in image.size)
    sampled = opaque(
        image.resize((width, height), Image.Resampling.NEAREST), _HIDDEN
    ).convert("RGB")
    small = sampled.resize((_EDGE, _EDGE), Image.Resampling.BOX)
    border = Image.new("L", small.size, 255)
    border.paste(0, (_RING, _RING, _EDGE - _RING, _EDGE - _RING))
    patch = _patch(small, border)
    if ImageStat.Stat(patch).mean[0] < 255 * _LEAST_PATCH:
        return "clean"
    means = (ImageStat.Stat(small, part).mean for part in (patch, border))
    contrast = max(
        abs(inside - outside) for inside, outside in zip(*means, strict=True)
    )
    needed = max(_LEAST_STEP, round(_STEP_SHARE * contrast))
    outline = ImageChops.subtract(patch, patch.filter(ImageFilter.MinFilter(3)))
    steps = _steps(small).histogram(outline)
    return "foreground" if sum(steps[needed:]) >= _SHARP_SHARE * sum(steps) else "clean"


def _patch(small: Image.Image, border: Image.Image) -> Image.Image:
    """A mask of the colours that are not the scene's own, without the border and single specks."""
    colors, far = small.quantize(_COLORS, Image.Quantize.MAXCOVERAGE), _EDGE - _RING
    sides = (
        (0, 0, _RING, _EDGE),
        (far, 0, _EDGE, _EDGE),
        (0, 0, _EDGE, _RING),
        (0, far, _EDGE, _EDGE),
    )
    counts = [colors.crop(side).histogram() for side in sides]
    least = _KNOWN_SHARE * _EDGE * _RING
    known = [
        sum(count[color] >= least for count in counts) >= 2 for color in range(256)
    ]
    other = bytes(0 if known[color] else 255 for color in colors.tobytes())
    patch = Image.frombytes("L", small.size, other).filter(ImageFilter.MedianFilter(3))
    patch.paste(0, mask=border)
    return patch


def _steps(image: Image.Image) -> Image.Image:
    """Around each pixel, the largest difference of a channel between its neighbours."""
    red, green, blue = ImageChops.subtract(
        image.filter(ImageFilter.MaxFilter(3)), image.filter(ImageFilter.MinFilter(3))
    ).split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)
