"""What is behind everything else in a picture: gradients, and a plain wall and floor."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from PIL import Image

from image_workflow_emulator.imaging.colors import Color, color_of_hue
from image_workflow_emulator.imaging.pictures import Picture

Ground = Picture | Color | None
"""A picture or a gradient, a colour, or nothing, which is transparent."""

HORIZON = 0.62
"""Where the floor of a backdrop begins, as a share of the height."""


class Stop(NamedTuple):
    """A colour of a gradient, at a height from 0 (top) to 1 (bottom)."""

    height: float
    color: Color


def gradient_column(stops: Sequence[Stop], length: int = 256) -> Picture:
    """A column, one pixel wide, through the colours of stops in order."""
    column = Image.new("RGB", (1, length))
    first = Stop(0.0, stops[0].color)
    last = Stop(1.0, stops[-1].color)
    for upper, lower in pairwise((first, *stops, last)):
        top = round(upper.height * length)
        bottom = round(lower.height * length)
        if bottom > top:
            blend = _blend(upper.color, lower.color, bottom - top)
            column.paste(blend, (0, top))
    return column


def _blend(
    upper: Color,
    lower: Color,
    height: int,
) -> Picture:
    """A column from one colour to another."""
    levels = bytes((*upper, *lower))
    ends = Image.frombytes("RGB", (1, 2), levels)
    from_middle_to_middle = (0, 0.5, 1, 1.5)
    bilinear = Image.Resampling.BILINEAR
    return ends.resize((1, height), bilinear, from_middle_to_middle)


def backdrop(hue: float) -> Picture:
    """A plain wall and floor, as a column."""
    wall = color_of_hue(
        hue=hue,
        saturation=0.1,
        value=0.97,
    )
    floor = color_of_hue(
        hue=hue,
        saturation=0.17,
        value=0.84,
    )
    front = color_of_hue(
        hue=hue,
        saturation=0.14,
        value=0.92,
    )
    stops = (
        Stop(0.0, wall),
        Stop(HORIZON - 0.02, wall),
        Stop(HORIZON + 0.04, floor),
        Stop(1.0, front),
    )
    return gradient_column(stops)
