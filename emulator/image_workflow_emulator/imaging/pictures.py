"""What the room works on: images of Pillow, named by what they hold, and how their
sizes change.
"""

from typing import TypeAlias

from PIL import Image

Picture: TypeAlias = Image.Image
"""What is seen: in RGB, or in RGBA if some of it is transparent."""
Mask: TypeAlias = Image.Image
"""Where something is, from 0 (nowhere) to 255, in mode L."""
Size: TypeAlias = tuple[int, int]
"""Width and height, in pixels."""
Corners: TypeAlias = tuple[float, float, float, float]
"""The upper left and the lower right corner, as Pillow takes them."""


def aspect_of(picture: Picture) -> float:
    """Width by height."""
    return picture.width / picture.height


def resized(
    picture: Picture,
    size: Size,
    part: Corners | None = None,
) -> Picture:
    """A picture, or a part of it, at another size; smooth, and fast for a much smaller
    one.
    """
    bilinear = Image.Resampling.BILINEAR
    return picture.resize(size, bilinear, part, reducing_gap=1.0)


def stretched(picture: Picture, size: Size) -> Picture:
    """The picture at this size; itself if it has it."""
    if picture.size == size:
        return picture
    if picture.width > 1:
        return resized(picture, size)
    # A gradient needs no arithmetic from left to right.
    _, height = size
    column = picture.resize((1, height), Image.Resampling.BILINEAR)
    return column.resize(size, Image.Resampling.NEAREST)


def enlarged(picture: Picture, size: Size) -> Picture:
    """The picture at twice its size, or itself if it has this size.

    Pixels are doubled: computing those between them takes ten times as long, and a PNG
    is then twice as large.
    """
    if picture.size == size:
        return picture
    return picture.resize(size, Image.Resampling.NEAREST)


def averaged(picture: Picture, edge: int) -> Picture:
    """A small square whose pixels are the means of those that they stand for."""
    return picture.resize((edge, edge), Image.Resampling.BOX)


def alpha_of(picture: Picture) -> Mask | None:
    """How opaque each pixel is; None for a picture that has no transparency."""
    if picture.mode != "RGBA":
        return None
    return picture.getchannel("A")
