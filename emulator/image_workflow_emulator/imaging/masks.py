"""Masks: pictures in mode L that say where something is, from 0 (nowhere) to 255."""

from collections.abc import Iterable
from functools import reduce

from PIL import Image, ImageChops, ImageFilter, ImageStat

from image_workflow_emulator.imaging.pictures import Mask, Picture, Size

LEVELS = range(256)
"""What a channel can have."""
NOWHERE = 0
COVERED = 255
"""The levels of a pixel that is not in a mask, and of one that is."""


def above(mask: Mask, limit: int) -> Mask:
    """Where a mask has a level above a limit."""
    return _where(mask, LEVELS[limit + 1 :])


def below(mask: Mask, limit: int) -> Mask:
    """Where a mask has a level below a limit."""
    return _where(mask, LEVELS[:limit])


def equal(mask: Mask, level: int) -> Mask:
    """Where a mask has a level."""
    return _where(mask, [level])


def _where(mask: Mask, levels: Iterable[int]) -> Mask:
    """Where a mask has one of these levels."""
    table = [NOWHERE for _ in LEVELS]
    for level in levels:
        table[level] = COVERED
    return mask.point(table)


def of_flags(size: Size, flags: Iterable[bool]) -> Mask:
    """A mask of the pixels whose flags are set; row by row, from the top."""
    levels = bytearray()
    for is_covered in flags:
        levels.append(COVERED if is_covered else NOWHERE)
    return Image.frombytes("L", size, bytes(levels))


def everywhere(size: Size) -> Mask:
    """A mask of all pixels."""
    return Image.new("L", size, COVERED)


def nowhere(size: Size) -> Mask:
    """A mask of no pixel."""
    return Image.new("L", size, NOWHERE)


def is_everywhere(mask: Mask) -> bool:
    """Whether a mask covers all pixels, without levels between."""
    return mask.getextrema() == (COVERED, COVERED)


def border_of(size: Size, thickness: int) -> Mask:
    """A mask of the pixels near an edge."""
    width, height = size
    left = top = thickness
    right = width - thickness
    bottom = height - thickness
    border = everywhere(size)
    border.paste(NOWHERE, (left, top, right, bottom))
    return border


def shrunk(mask: Mask, size: int = 3) -> Mask:
    """A mask without the pixels at its edge; `size` is odd, and 3 takes one pixel."""
    return mask.filter(ImageFilter.MinFilter(size))


def spread(mask: Mask) -> Mask:
    """A mask with one more pixel at its edge."""
    return mask.filter(ImageFilter.MaxFilter(3))


def smoothed(mask: Mask) -> Mask:
    """A mask without single pixels."""
    return mask.filter(ImageFilter.MedianFilter(3))


def inverted(mask: Mask) -> Mask:
    """Where a mask is not."""
    return ImageChops.invert(mask)


def common(first: Mask, second: Mask) -> Mask:
    """Where both masks are."""
    return ImageChops.darker(first, second)


def joined(first: Mask, second: Mask) -> Mask:
    """Where one of two masks is, or both."""
    return ImageChops.lighter(first, second)


def without(mask: Mask, other: Mask) -> Mask:
    """Where a mask is and the other is not."""
    return ImageChops.subtract(mask, other)


def grown(seed: Mask, room: Mask) -> Mask:
    """The parts of a room that touch a seed."""
    reached = common(seed, room)
    while True:
        larger = common(spread(reached), room)
        if larger == reached:
            return reached
        reached = larger


def outline_of(mask: Mask) -> Mask:
    """The pixels at the edge of a mask."""
    return without(mask, shrunk(mask))


def share_of(mask: Mask) -> float:
    """How much of the picture a mask covers, from 0 to 1."""
    (mean,) = ImageStat.Stat(mask).mean
    return mean / COVERED


def count_in(mask: Mask) -> int:
    """How many pixels are in a mask without levels between."""
    return mask.histogram()[COVERED]


def lightest(image: Picture) -> Mask:
    """The largest of the channels, pixel by pixel."""
    return reduce(ImageChops.lighter, image.split())


def darkest(image: Picture) -> Mask:
    """The least of the channels, pixel by pixel."""
    return reduce(ImageChops.darker, image.split())
