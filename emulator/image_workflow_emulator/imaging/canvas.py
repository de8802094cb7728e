"""A picture in the making: its ground, and what is painted on it, with frames, shadows
and shelves.

Must not know any recipe, nor what a picture shows.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from image_workflow_emulator.imaging.colors import (
    BLACK,
    WHITE,
    Color,
    color_of_hue,
    opaque,
)
from image_workflow_emulator.imaging.geometry import Arrangement, Box, arrange
from image_workflow_emulator.imaging.pictures import (
    Picture,
    Size,
    aspect_of,
    resized,
)

Ground = Picture | Color | None
"""A picture or a gradient, a colour, or nothing, which is transparent."""

SHADOW = "shadow"
"""The name in a picture's `info` that says it has a shadow of its own."""

_HORIZON = 0.62
"""Where the floor of a backdrop begins, as a share of the height."""
_SMOOTHING = 2
"""Masks are drawn this much larger, then reduced, for soft edges."""
_GAP_SHARE = 0.03
"""The least gap between pictures, as a share of the shorter edge."""
_FRAME_SHARE = 0.009
_SHELF_SHARE = 0.02
_SHELF_FRONT: Color = (150, 144, 140)
_SHELF_TOP: Color = (244, 242, 240)


class _Pixels(Struct, frozen=True):
    """A rectangle in whole pixels."""

    left: int
    top: int
    right: int
    bottom: int

    @classmethod
    def nearest(cls, box: Box) -> "_Pixels":
        """The pixels of a box, at least one."""
        left = round(box.left)
        top = round(box.top)
        width = max(1, round(box.width))
        height = max(1, round(box.height))
        return cls(left, top, left + width, top + height)

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    def within(self, size: Size) -> "_Pixels":
        """The part that a picture of this size has; it may be empty."""
        width, height = size
        return _Pixels(
            left=max(0, self.left),
            top=max(0, self.top),
            right=min(width, self.right),
            bottom=min(height, self.bottom),
        )


class Canvas:
    """A picture in RGB, or in RGBA if its ground is transparent."""

    def __init__(self, image: Picture) -> None:
        self.image = image

    @classmethod
    def of(cls, size: Size, ground: Ground) -> "Canvas":
        """A canvas full of a ground.

        A picture of another ratio is cut so that its horizon, if it has one, stays at
        the same height.
        """
        if ground is None:
            return cls(Image.new("RGBA", size))
        if not isinstance(ground, Picture):
            return cls(Image.new("RGB", size, ground))
        if ground.width == 1:
            return cls(stretched(ground, size))
        middle = (0.5, _HORIZON)
        bilinear = Image.Resampling.BILINEAR
        return cls(ImageOps.fit(opaque(ground), size, bilinear, 0, middle))

    @property
    def is_transparent(self) -> bool:
        """Whether nothing is behind what is painted."""
        return self.image.mode == "RGBA"

    @property
    def gap(self) -> float:
        """The least gap between pictures."""
        return min(self.image.size) * _GAP_SHARE

    def paint(self, image: Picture, box: Box) -> None:
        """Paint a picture in RGB or RGBA, stretched into a box; what is outside of the
        canvas is lost.
        """
        target = _Pixels.nearest(box)
        seen = target.within(self.image.size)
        if seen.width <= 0 or seen.height <= 0:
            return
        across = image.width / target.width
        down = image.height / target.height
        source = (
            (seen.left - target.left) * across,
            (seen.top - target.top) * down,
            (seen.right - target.left) * across,
            (seen.bottom - target.top) * down,
        )
        piece = resized(image, (seen.width, seen.height), source)
        corner = (seen.left, seen.top)
        if self.is_transparent:
            self.image.alpha_composite(piece.convert("RGBA"), corner)
        elif piece.mode == "RGBA":
            self.image.paste(piece, corner, piece)
        else:
            self.image.paste(piece, corner)

    def paint_all(
        self,
        images: Sequence[Picture],
        room: Box,
        share: float = 1.0,
        across: float = 0.5,
    ) -> None:
        """Paint pictures in rows: the last on the floor of the room, each above it on a
        shelf.

        `share` and `across` are those of an arrangement.
        """
        if not images:
            return
        aspects = [aspect_of(image) for image in images]
        arrangement = Arrangement(gap=2 * self.gap, share=share, across=across)
        rows = arrange(aspects, room, arrangement)
        unpainted = list(images)
        for row in rows:
            if row is not rows[-1]:
                self._paint_shelf(row.boxes, row.floor)
            for box in row.boxes:
                self._paint_standing(unpainted.pop(0), box)

    def _paint_standing(self, image: Picture, box: Box) -> None:
        """Paint a cut-out with a shadow, and any other picture in a white frame."""
        if image.mode != "RGBA":
            self.paint_framed(image, box)
            return
        if SHADOW not in image.info:
            self.paint_shadow(box)
        self.paint(image, box)

    def paint_framed(self, image: Picture, box: Box) -> None:
        """Paint a picture in a white frame that fills the box."""
        self.paint(_PLAIN_WHITE, box)
        self.paint(image, box.inset(min(self.image.size) * _FRAME_SHARE))

    def _paint_shelf(self, boxes: Sequence[Box], floor: float) -> None:
        """Paint a shelf for what is in some boxes; where nothing is behind them, there
        is no wall for it.
        """
        if self.is_transparent:
            return
        thickness = max(3.0, min(self.image.size) * _SHELF_SHARE)
        left = boxes[0].left - self.gap
        right = boxes[-1].right + self.gap
        top = floor - thickness / 4
        front = floor + thickness / 4
        bottom = floor + thickness
        draw = ImageDraw.Draw(self.image)
        draw.rectangle((left, top, right, bottom), fill=_SHELF_FRONT)
        draw.rectangle((left, top, right, front), fill=_SHELF_TOP)

    def paint_shadow(self, box: Box) -> None:
        """Paint the shadow on the floor of what is in a box; a transparent canvas has
        no floor.
        """
        if self.is_transparent:
            return
        width = max(1, round(box.width * 1.28))
        height = max(1, round(min(box.width, box.height) * 0.22))
        left = round(box.middle - width / 2)
        top = round(box.bottom - height * 0.55)
        shadow = stretched(_shadow(), (width, height))
        self.image.paste(BLACK, (left, top), shadow)


_PLAIN_WHITE = Image.new("RGB", (1, 1), WHITE)


# Grounds ------------------------------------------------------------------------------


def gradient_column(stops: Sequence[tuple[float, Color]], length: int = 256) -> Picture:
    """A column, one pixel wide, through colours at heights from 0 (top) to 1 (bottom),
    in order.
    """
    column = Image.new("RGB", (1, length))
    first = (0.0, stops[0][1])
    last = (1.0, stops[-1][1])
    for (start, upper), (end, lower) in pairwise((first, *stops, last)):
        top = round(start * length)
        height = round(end * length) - top
        if height > 0:
            column.paste(_blend(upper, lower, height), (0, top))
    return column


def _blend(upper: Color, lower: Color, height: int) -> Picture:
    ends = Image.frombytes("RGB", (1, 2), bytes((*upper, *lower)))
    between = (0, 0.5, 1, 1.5)
    return ends.resize((1, height), Image.Resampling.BILINEAR, between)


def backdrop(hue: float) -> Picture:
    """A plain wall and floor, as a column."""
    wall = color_of_hue(hue=hue, saturation=0.1, value=0.97)
    floor = color_of_hue(hue=hue, saturation=0.17, value=0.84)
    front = color_of_hue(hue=hue, saturation=0.14, value=0.92)
    stops = (
        (0.0, wall),
        (_HORIZON - 0.02, wall),
        (_HORIZON + 0.04, floor),
        (1.0, front),
    )
    return gradient_column(stops)


def stretched(image: Picture, size: Size) -> Picture:
    """The image at this size; itself if it has it."""
    if image.size == size:
        return image
    if image.width == 1:  # a gradient needs no arithmetic from left to right
        column = image.resize((1, size[1]), Image.Resampling.BILINEAR)
        return column.resize(size, Image.Resampling.NEAREST)
    return resized(image, size)


def enlarged(image: Picture, size: Size) -> Picture:
    """The image at twice its size, or itself if it has this size.

    Pixels are doubled: computing those between them takes ten times as long, and a PNG
    is then twice as large.
    """
    if image.size == size:
        return image
    return image.resize(size, Image.Resampling.NEAREST)


# Shapes -------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def rounded_mask(width: int, height: int, radius: float) -> Picture:
    """A mask of a rounded rectangle, with soft edges."""
    mask = Image.new("L", (width * _SMOOTHING, height * _SMOOTHING))
    outline = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(outline, radius * _SMOOTHING, fill=255)
    return mask.reduce(_SMOOTHING)


def disc(content: Picture | Color, edge: int = 256) -> Picture:
    """A colour, or the middle of a picture, as a disc in RGBA with soft edges."""
    if isinstance(content, Picture):
        content = opaque(content)
    image = Canvas.of((edge, edge), content).image
    image.putalpha(rounded_mask(edge, edge, edge / 2))
    return image


@lru_cache(maxsize=1)
def _shadow() -> Picture:
    """A mask of a small blurred ellipse, to be stretched; its edges are left empty."""
    mask = Image.new("L", (96, 96))
    ImageDraw.Draw(mask).ellipse((16, 16, 79, 79), fill=90)
    return mask.filter(ImageFilter.GaussianBlur(6))
