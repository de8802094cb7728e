"""Masks: pictures in mode L that say where something is, from 0 (nowhere) to 255."""

from PIL import Image, ImageChops, ImageFilter, ImageStat

LEVELS = range(256)
"""What a channel can have."""


def above(mask: Image.Image, limit: int) -> Image.Image:
    """Where a mask has a level above a limit."""
    table = [255 * (level > limit) for level in LEVELS]
    return mask.point(table)


def below(mask: Image.Image, limit: int) -> Image.Image:
    """Where a mask has a level below a limit."""
    table = [255 * (level < limit) for level in LEVELS]
    return mask.point(table)


def equal(mask: Image.Image, wanted: int) -> Image.Image:
    """Where a mask has a level."""
    table = [255 * (level == wanted) for level in LEVELS]
    return mask.point(table)


def everywhere(size: tuple[int, int]) -> Image.Image:
    """A mask of all pixels."""
    return Image.new("L", size, 255)


def nowhere(size: tuple[int, int]) -> Image.Image:
    """A mask of no pixel."""
    return Image.new("L", size)


def border_of(size: tuple[int, int], thickness: int) -> Image.Image:
    """A mask of the pixels near an edge."""
    width, height = size
    border = everywhere(size)
    right = width - thickness
    bottom = height - thickness
    border.paste(0, (thickness, thickness, right, bottom))
    return border


def shrunk(mask: Image.Image, size: int = 3) -> Image.Image:
    """A mask without the pixels at its edge; `size` is odd, and 3 takes one pixel."""
    return mask.filter(ImageFilter.MinFilter(size))


def spread(mask: Image.Image) -> Image.Image:
    """A mask with one more pixel at its edge."""
    return mask.filter(ImageFilter.MaxFilter(3))


def smoothed(mask: Image.Image) -> Image.Image:
    """A mask without single pixels."""
    return mask.filter(ImageFilter.MedianFilter(3))


def grown(seed: Image.Image, room: Image.Image) -> Image.Image:
    """The parts of a room that touch a seed."""
    reached = ImageChops.darker(seed, room)
    while True:
        larger = ImageChops.darker(spread(reached), room)
        if larger == reached:
            return reached
        reached = larger


def outline_of(mask: Image.Image) -> Image.Image:
    """The pixels at the edge of a mask."""
    return ImageChops.subtract(mask, shrunk(mask))


def share_of(mask: Image.Image) -> float:
    """How much of the picture a mask covers, from 0 to 1."""
    (mean,) = ImageStat.Stat(mask).mean
    return mean / 255


def count_in(mask: Image.Image) -> int:
    """How many pixels are in a mask without levels between."""
    return mask.histogram()[255]


def lightest(image: Image.Image) -> Image.Image:
    """The largest of the three channels, pixel by pixel."""
    red, green, blue = image.split()
    larger = ImageChops.lighter(red, green)
    return ImageChops.lighter(larger, blue)


def darkest(image: Image.Image) -> Image.Image:
    """The least of the three channels, pixel by pixel."""
    red, green, blue = image.split()
    smaller = ImageChops.darker(red, green)
    return ImageChops.darker(smaller, blue)
