"""Masks: pictures in mode L that say where something is, from 0 (nowhere) to 255."""

from PIL import Image, ImageChops, ImageFilter, ImageStat

from image_workflow_emulator.imaging.pictures import Mask, Picture, Size

LEVELS = range(256)
"""What a channel can have."""


def above(mask: Mask, limit: int) -> Mask:
    """Where a mask has a level above a limit."""
    table = [255 * (level > limit) for level in LEVELS]
    return mask.point(table)


def below(mask: Mask, limit: int) -> Mask:
    """Where a mask has a level below a limit."""
    table = [255 * (level < limit) for level in LEVELS]
    return mask.point(table)


def equal(mask: Mask, wanted: int) -> Mask:
    """Where a mask has a level."""
    table = [255 * (level == wanted) for level in LEVELS]
    return mask.point(table)


def everywhere(size: Size) -> Mask:
    """A mask of all pixels."""
    return Image.new("L", size, 255)


def nowhere(size: Size) -> Mask:
    """A mask of no pixel."""
    return Image.new("L", size)


def border_of(size: Size, thickness: int) -> Mask:
    """A mask of the pixels near an edge."""
    width, height = size
    border = everywhere(size)
    right = width - thickness
    bottom = height - thickness
    border.paste(0, (thickness, thickness, right, bottom))
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


def grown(seed: Mask, room: Mask) -> Mask:
    """The parts of a room that touch a seed."""
    reached = ImageChops.darker(seed, room)
    while True:
        larger = ImageChops.darker(spread(reached), room)
        if larger == reached:
            return reached
        reached = larger


def outline_of(mask: Mask) -> Mask:
    """The pixels at the edge of a mask."""
    return ImageChops.subtract(mask, shrunk(mask))


def share_of(mask: Mask) -> float:
    """How much of the picture a mask covers, from 0 to 1."""
    (mean,) = ImageStat.Stat(mask).mean
    return mean / 255


def count_in(mask: Mask) -> int:
    """How many pixels are in a mask without levels between."""
    return mask.histogram()[255]


def lightest(image: Picture) -> Mask:
    """The largest of the three channels, pixel by pixel."""
    red, green, blue = image.split()
    larger = ImageChops.lighter(red, green)
    return ImageChops.lighter(larger, blue)


def darkest(image: Picture) -> Mask:
    """The least of the three channels, pixel by pixel."""
    red, green, blue = image.split()
    smaller = ImageChops.darker(red, green)
    return ImageChops.darker(smaller, blue)
