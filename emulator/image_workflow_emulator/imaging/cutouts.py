"""Subjects: what a photo shows, cut out of its ground with its own shadow."""

from msgspec import Struct
from PIL import Image, ImageChops, ImageOps, ImageStat

from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.canvas import SHADOW
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import (
    BLACK,
    WHITE,
    Color,
    mix,
    opaque,
    whole_color,
)
from image_workflow_emulator.imaging.memo import remembered
from image_workflow_emulator.imaging.pictures import (
    Mask,
    Picture,
    alpha_of,
    averaged,
)

SUBJECT_EDGE = 960
"""Pixels of a subject that are enough."""
HELD_EDGE = 400
"""Pixels that are enough in somebody's hands."""

_ALIKE = 14
"""Levels of a channel: a smaller difference is none."""
_OTHER = 44
"""Levels of a channel: a larger difference is full."""
_FAINT = 6
"""Levels of alpha that are not seen."""
_SMALL_EDGE = 128
"""Pixels of the small picture in which outside and holes are found."""
_BORDER_SHARE = 1 / 32
_SHADOW_GREY = 20
"""Levels by which the channels of a shadow differ at most."""
_SHADOW_DEPTH = 150
"""Levels by which a shadow darkens at most."""
_PLAIN_SHARE = 0.75
"""Share of the border that must have one colour."""
_LEAST_SHARE = 0.01
_MOST_SHARE = 0.97
"""Shares of the picture that a subject takes."""
_LONGEST_OUTLINE = 260
"""Square of the length of an outline, by its area.

A disc has 13, a shirt 35, a wall of bricks thousands.
"""


class _Shape(Struct, frozen=True):
    """What of a picture is the subject, and what is seen of it and its shadow."""

    solid: Mask
    seen: Mask


@remembered
def subject_of(
    data: bytes,
    enough: int,
    color: Color | None,
) -> Picture:
    """The subject of a photo that may be needed again, in a colour if one is given.

    In RGBA if it is transparent or before a plain ground, else the photo in RGB.
    """
    photo = trimmed(load(data, enough))
    if photo.mode != "RGBA":
        keeps_shadow = enough == SUBJECT_EDGE
        subject = cut_out(photo, color, keeps_shadow=keeps_shadow)
        if subject is not None:
            return subject
    if color is None:
        return photo
    return recolored(photo, color, alpha_of(photo))


def trimmed(image: Picture) -> Picture:
    """A cut-out without the transparent room around it.

    Without transparency, the picture in RGB.
    """
    alpha = alpha_of(image)
    if alpha is None or masks.is_everywhere(alpha):
        return opaque(image)
    box = image.getbbox()
    if box is None:
        return opaque(image)
    return image.crop(box)


def cut_out(
    image: Picture,
    color: Color | None = None,
    *,
    keeps_shadow: bool = False,
) -> Picture | None:
    """What is before a plain ground, in RGBA, and in a colour if one is given.

    None if there is no such ground, or no such thing. Grey that is lighter than the
    subject is its shadow. It becomes black with alpha, and so lies on any ground; a
    picture that keeps it says so in its info.
    """
    if min(image.size) < 2:
        return None
    small = image
    if min(image.size) > 2 * _SMALL_EDGE:
        small = image.reduce(2)
    ground = _ground_of(small)
    if ground is None:
        return None
    shape = _shape_in(small, ground, keeps_shadow=keeps_shadow)
    if not _is_whole(shape.solid):
        return None
    return _lifted(image, shape, color)


def _shape_in(
    image: Picture,
    ground: Color,
    *,
    keeps_shadow: bool,
) -> _Shape:
    shadow = _shadow_in(image, ground)
    steps = _steps_from(image, ground)
    brightest = max(ground)
    table = [level * brightest // 255 for level in masks.LEVELS]
    shadow_steps = shadow.point(table)
    rest = ImageChops.subtract(steps, shadow_steps)
    solid = masks.joined(_slope(rest), _inside(rest))
    seen = solid
    if keeps_shadow:
        seen = masks.joined(solid, shadow)
    return _Shape(solid, seen)


def _slope(steps: Picture) -> Mask:
    """From differences to the ground to the alpha of a subject."""
    span = _OTHER - _ALIKE
    table = []
    for level in masks.LEVELS:
        alpha = (level - _ALIKE) * 255 // span
        table.append(max(0, min(255, alpha)))
    return steps.point(table)


def _lifted(
    image: Picture,
    shape: _Shape,
    color: Color | None,
) -> Picture | None:
    """The part of a picture that is seen, with black where it is not solid."""
    visible = masks.above(shape.seen, _FAINT)
    box = visible.getbbox()
    if box is None:
        return None
    scale = image.width // shape.seen.width
    left, top, right, bottom = (edge * scale for edge in box)
    right = min(right, image.width)
    bottom = min(bottom, image.height)
    subject = image.crop((left, top, right, bottom))
    bilinear = Image.Resampling.BILINEAR
    solid = shape.solid.resize(subject.size, bilinear, box)
    seen = shape.seen.resize(subject.size, bilinear, box)
    if color is not None:
        subject = recolored(subject, color, solid)
    has_shadow = ImageChops.difference(solid, seen).getbbox()
    if has_shadow:
        subject.paste(BLACK, mask=masks.inverted(solid))
        subject.info[SHADOW] = True
    subject.putalpha(seen)
    return subject


# Ground -------------------------------------------------------------------------------


def _ground_of(image: Picture) -> Color | None:
    """The colour of the border; None if it has several."""
    thickness = round(min(image.size) * _BORDER_SHARE)
    border = masks.border_of(image.size, max(1, thickness))
    statistics = ImageStat.Stat(image, border)
    ground = whole_color(statistics.median)
    steps = _steps_from(image, ground)
    counts = steps.histogram(border)
    alike_count = sum(counts[: 2 * _ALIKE])
    if alike_count < _PLAIN_SHARE * sum(counts):
        return None
    return ground


def _steps_from(image: Picture, ground: Color) -> Picture:
    """The largest difference of a channel to a colour."""
    table: list[int] = []
    for plain in ground:
        table += [abs(level - plain) for level in masks.LEVELS]
    return masks.lightest(image.point(table))


def _shadow_in(image: Picture, ground: Color) -> Mask:
    """How much a shadow darkens each pixel; nothing if the subject itself is like one.

    A shadow takes the same share of each channel of the ground.
    """
    losses = _losses_from(image, ground)
    least = masks.darkest(losses)
    difference = ImageChops.subtract(masks.lightest(losses), least)
    is_even = masks.below(difference, _SHADOW_GREY)
    is_shallow = masks.below(least, _SHADOW_DEPTH)
    is_both = masks.common(is_even, is_shallow)
    is_shadow = masks.smoothed(is_both)
    shadow = masks.common(least, is_shadow)
    steps = _steps_from(image, ground)
    subject = masks.without(steps, is_shadow)
    shadow_share = masks.share_of(_slope(shadow))
    subject_share = masks.share_of(_slope(subject))
    if _LEAST_SHARE < shadow_share < subject_share:
        return shadow
    return masks.nowhere(image.size)


def _losses_from(image: Picture, ground: Color) -> Picture:
    """How much of each channel of the ground is missing, of 255."""
    table = []
    for plain in ground:
        for level in masks.LEVELS:
            kept = level * 255 // max(1, plain)
            table.append(max(0, 255 - kept))
    return image.point(table)


# Shape --------------------------------------------------------------------------------


def _inside(steps: Picture) -> Mask:
    """A mask of what the ground does not reach from the border, except holes.

    A hole is enclosed ground with nothing in it, such as that in the handle of a mug.
    Ground with words in it is a label on a product.
    """
    small = averaged(steps, _SMALL_EDGE)
    ground = masks.below(small, _ALIKE)
    frame = masks.border_of(ground.size, 1)
    outside = masks.grown(frame, ground)
    enclosed = masks.without(ground, outside)
    labels = _labels_in(enclosed, ground, outside)
    unlabelled = masks.without(enclosed, labels)
    holes = _without_specks(unlabelled)
    empty = masks.joined(outside, holes)
    taken = masks.inverted(empty)
    inside = masks.shrunk(taken, 5)
    return inside.resize(steps.size, Image.Resampling.BILINEAR)


def _labels_in(
    enclosed: Mask,
    ground: Mask,
    outside: Mask,
) -> Mask:
    """The enclosed ground with something in it that touches nothing else."""
    body = masks.inverted(ground)
    rim = masks.common(body, masks.spread(outside))
    mainland = masks.grown(rim, body)
    islands = masks.without(body, mainland)
    shores = masks.spread(islands)
    return masks.grown(shores, enclosed)


def _without_specks(mask: Mask) -> Mask:
    """The parts that are more than a few pixels wide; a gleam is no hole."""
    cores = masks.shrunk(mask, 5)
    return masks.grown(cores, mask)


def _is_whole(solid: Mask) -> bool:
    """Whether a mask is of one thing of a fair size.

    Its outline is not long for its area.
    """
    share = masks.share_of(solid)
    if not _LEAST_SHARE < share < _MOST_SHARE:
        return False
    shape = masks.above(solid, 127)
    outline = masks.outline_of(shape)
    length = masks.count_in(outline)
    area = masks.count_in(shape)
    return length**2 < _LONGEST_OUTLINE * area


# Colour -------------------------------------------------------------------------------


def recolored(
    image: Picture,
    color: Color,
    solid: Mask | None,
) -> Picture:
    """A picture whose lights and shadows stay, and whose mean is a colour.

    The mean is that of where the mask is solid.
    """
    grey = opaque(image).convert("L")
    statistics = ImageStat.Stat(grey, solid)
    (mean,) = statistics.mean
    result = ImageOps.colorize(
        grey,
        black=mix(color, BLACK, 0.8),
        white=mix(color, WHITE, 0.85),
        mid=color,
        midpoint=round(mean),
    )
    alpha = alpha_of(image)
    if alpha is not None:
        result.putalpha(alpha)
    return result
