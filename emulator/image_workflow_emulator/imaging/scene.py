"""Whether a picture is an empty scene, or has a subject in front of it.

Owns one question asked of pixels (D30). Must not know what the answer is used for.

The colours of a scene reach its border on more than one side: a wall, a gradient, a
texture, a beach from left to right. So a subject is a patch of colours that the border
does not have, or has only where the subject is cut off, with an edge around it. The
edge distinguishes it from a gradient, which also has other colours in the middle, but
changes to them slowly.
"""

from collections import Counter
from typing import Literal

from PIL import Image, ImageChops, ImageFilter, ImageStat

from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.colors import opaque
from image_workflow_emulator.imaging.pictures import Mask, Picture, averaged

Scene = Literal["clean", "foreground"]

_EDGE = 64
"""Pixels an edge of the small picture that is examined."""
SCENE_EDGE = 16 * _EDGE
"""Pixels; more makes no difference."""
_RING = 6
"""Pixels of the small picture that count as border."""
_COLOR_COUNT = 16
"""Colours into which the small picture is sorted."""
_OWN_SHARE = 0.01
"""Share of a side of the border; a colour this frequent on two sides is the scene's
own.
"""
_LEAST_PATCH = 0.012
"""Share of the picture; smaller patches are specks."""
_LEAST_STEP = 9
"""Levels between neighbours that make an edge."""
_STEP_SHARE = 0.25
"""Share of a patch's contrast to the border that an edge makes at once."""
_SHARP_SHARE = 0.3
"""Share of a patch's outline that must be an edge."""
_HIDDEN = (255, 0, 255)
"""What shows through transparent pixels: a colour that scenes seldom have."""


def examine_scene(image: Picture) -> Scene:
    """Whether a subject stands out from the picture's border; always the same for the
    same pixels. (D30)
    """
    small = _reduced(image)
    border = masks.border_of(small.size, _RING)
    patch = _patch(small, border)
    if masks.share_of(patch) < _LEAST_PATCH:
        return "clean"
    contrast = _contrast(small, patch, border)
    needed_step = max(_LEAST_STEP, round(_STEP_SHARE * contrast))
    outline = masks.outline_of(patch)
    step_counts = _steps(small).histogram(outline)
    sharp_count = sum(step_counts[needed_step:])
    if sharp_count >= _SHARP_SHARE * sum(step_counts):
        return "foreground"
    return "clean"


def _reduced(image: Picture) -> Picture:
    width = min(image.width, SCENE_EDGE)
    height = min(image.height, SCENE_EDGE)
    sampled = image.resize((width, height), Image.Resampling.NEAREST)
    colored = opaque(sampled, _HIDDEN).convert("RGB")
    return averaged(colored, _EDGE)


def _patch(small: Picture, border: Mask) -> Mask:
    """A mask of the colours that are not the scene's own, without the border and single
    specks.
    """
    colors = small.quantize(_COLOR_COUNT, Image.Quantize.MAXCOVERAGE)
    own_colors = _own_colors(colors)
    is_foreign = (color not in own_colors for color in colors.tobytes())
    foreign = masks.of_flags(small.size, is_foreign)
    patch = masks.smoothed(foreign)
    patch.paste(0, mask=border)
    return patch


def _own_colors(colors: Picture) -> set[int]:
    """The colours that are frequent on two sides of the border or more."""
    far = _EDGE - _RING
    left = (0, 0, _RING, _EDGE)
    right = (far, 0, _EDGE, _EDGE)
    top = (0, 0, _EDGE, _RING)
    bottom = (0, far, _EDGE, _EDGE)
    least = _OWN_SHARE * _EDGE * _RING
    side_counts: Counter[int] = Counter()
    for side in (left, right, top, bottom):
        pixel_counts = colors.crop(side).histogram()
        for color, pixel_count in enumerate(pixel_counts):
            if pixel_count >= least:
                side_counts[color] += 1
    return {color for color, count in side_counts.items() if count >= 2}


def _contrast(
    small: Picture,
    patch: Mask,
    border: Mask,
) -> float:
    """The largest difference of a channel between the mean of the patch and that of the
    border.
    """
    inside = ImageStat.Stat(small, patch).mean
    outside = ImageStat.Stat(small, border).mean
    channels = zip(inside, outside, strict=True)
    return max(abs(first - second) for first, second in channels)


def _steps(image: Picture) -> Picture:
    """Around each pixel, the largest difference of a channel between its neighbours."""
    brightest = image.filter(ImageFilter.MaxFilter(3))
    darkest = image.filter(ImageFilter.MinFilter(3))
    differences = ImageChops.subtract(brightest, darkest)
    return masks.lightest(differences)
