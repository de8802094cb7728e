"""A picture in the making: its ground, and what is painted on it, with frames, shadows
and shelves.

Must not know any recipe, nor what a picture shows.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from image_workflow_emulator.imaging.colors import BLACK, WHITE, Color, opaque
from image_workflow_emulator.imaging.geometry import Arrangement, Box, arrange
from image_workflow_emulator.imaging.grounds import HORIZON, Ground
from image_workflow_emulator.imaging.pictures import (
    Corners,
    Mask,
    Picture,
    Size,
    aspect_of,
    resized,
    stretched,
)

SHADOW = "shadow"
"""The name in a picture's `info` that says it has a shadow of its own."""

_SMOOTHING = 2
"""Masks are drawn this much larger, then reduced, for soft edges."""
_GAP_SHARE = 0.03
"""The least gap between pictures, as a share of the shorter edge."""
_FRAME_SHARE = 0.009
_SHELF_SHARE = 0.02
_SHADOW_WIDTH = 1.28
"""A share of the width of the thing."""
_SHADOW_HEIGHT = 0.22
"""A share of the shorter edge of the thing."""
_SHADOW_ABOVE = 0.55
"""The share of its shadow that is above the floor."""
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

    @property
    def size(self) -> Size:
        return self.width, self.height

    @property
    def corner(self) -> tuple[int, int]:
        """The upper left one."""
        return self.left, self.top

    @property
    def is_empty(self) -> bool:
        return self.width <= 0 or self.height <= 0

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
        image = ImageOps.fit(
            opaque(ground),
            size,
            method=Image.Resampling.BILINEAR,
            centering=(0.5, HORIZON),
        )
        return cls(image)

    @property
    def is_transparent(self) -> bool:
        """Whether nothing is behind what is painted."""
        return self.image.mode == "RGBA"

    @property
    def _shorter_edge(self) -> int:
        return min(self.image.size)

    @property
    def gap(self) -> float:
        """The least gap between pictures."""
        return self._shorter_edge * _GAP_SHARE

    def paint(self, image: Picture, box: Box) -> None:
        """Paint a picture in RGB or RGBA, stretched into a box; what is outside of the
        canvas is lost.
        """
        target = _Pixels.nearest(box)
        seen = target.within(self.image.size)
        if seen.is_empty:
            return
        part = _part_seen(image, target, seen)
        piece = resized(image, seen.size, part)
        if self.is_transparent:
            self.image.alpha_composite(piece.convert("RGBA"), seen.corner)
        elif piece.mode == "RGBA":
            self.image.paste(piece, seen.corner, mask=piece)
        else:
            self.image.paste(piece, seen.corner)

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
        arrangement = Arrangement(
            gap=2 * self.gap,
            share=share,
            across=across,
        )
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
        thickness = self._shorter_edge * _FRAME_SHARE
        self.paint(image, box.inset(thickness))

    def _paint_shelf(self, boxes: Sequence[Box], floor: float) -> None:
        """Paint a shelf for what is in some boxes; where nothing is behind them, there
        is no wall for it.
        """
        if self.is_transparent:
            return
        thickness = max(3.0, self._shorter_edge * _SHELF_SHARE)
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
        shorter_edge = min(box.width, box.height)
        width = max(1, round(box.width * _SHADOW_WIDTH))
        height = max(1, round(shorter_edge * _SHADOW_HEIGHT))
        left = round(box.middle - width / 2)
        top = round(box.bottom - height * _SHADOW_ABOVE)
        shadow = stretched(_shadow(), (width, height))
        self.image.paste(BLACK, (left, top), shadow)


def _part_seen(
    image: Picture,
    target: _Pixels,
    seen: _Pixels,
) -> Corners:
    """The part of a picture that is seen, if it fills its target."""
    across = image.width / target.width
    down = image.height / target.height
    left = (seen.left - target.left) * across
    top = (seen.top - target.top) * down
    right = (seen.right - target.left) * across
    bottom = (seen.bottom - target.top) * down
    return left, top, right, bottom


_PLAIN_WHITE = Image.new("RGB", (1, 1), WHITE)


# Shapes -------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def rounded_mask(
    width: int,
    height: int,
    radius: float,
) -> Mask:
    """A mask of a rounded rectangle, with soft edges."""
    mask = Image.new("L", (width * _SMOOTHING, height * _SMOOTHING))
    outline = (0, 0, mask.width - 1, mask.height - 1)
    pen = ImageDraw.Draw(mask)
    pen.rounded_rectangle(outline, radius * _SMOOTHING, fill=255)
    return mask.reduce(_SMOOTHING)


def disc(content: Picture | Color, edge: int = 256) -> Picture:
    """A colour, or the middle of a picture, as a disc in RGBA with soft edges."""
    if isinstance(content, Picture):
        content = opaque(content)
    image = Canvas.of((edge, edge), content).image
    circle = rounded_mask(edge, edge, radius=edge / 2)
    image.putalpha(circle)
    return image


@lru_cache(maxsize=1)
def _shadow() -> Mask:
    """A mask of a small blurred ellipse, to be stretched; its edges are left empty."""
    mask = Image.new("L", (96, 96))
    pen = ImageDraw.Draw(mask)
    pen.ellipse((16, 16, 79, 79), fill=90)
    return mask.filter(ImageFilter.GaussianBlur(6))
