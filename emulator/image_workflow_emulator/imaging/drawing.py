"""Small drawing tools that every picture uses: colours, gradients, masks, boxes, canvases, and what is painted on
these.

Must not know any recipe, nor what a picture shows.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from PIL import Image, ImageDraw, ImageFilter, ImageOps

from image_workflow_emulator.imaging.colors import (
    BLACK,
    WHITE,
    Color,
    color_of_hue,
    opaque,
)

Edge = Literal["left", "top"]

SHADOW = "shadow"
"""The name in a picture's `info` that says it has a shadow of its own."""

_HORIZON = 0.62  # of the height
_SMOOTHING = 2  # masks are drawn this much larger, then reduced, for soft edges


def gradient_column(
    stops: Sequence[tuple[float, Color]], length: int = 256
) -> Image.Image:
    """A column, one pixel wide, through colours at heights from 0 (top) to 1 (bottom), which are given in order."""
    column = Image.new("RGB", (1, length))
    for (start, first), (end, second) in pairwise(
        ((0.0, stops[0][1]), *stops, (1.0, stops[-1][1]))
    ):
        top, bottom = round(start * length), round(end * length)
        if top < bottom:
            ends = Image.frombytes("RGB", (1, 2), bytes((*first, *second)))
            column.paste(
                ends.resize(
                    (1, bottom - top), Image.Resampling.BILINEAR, (0, 0.5, 1, 1.5)
                ),
                (0, top),
            )
    return column


def backdrop(hue: float) -> Image.Image:
    """A plain wall and floor, as a column."""
    wall, floor, front = (
        color_of_hue(hue, 0.1, 0.97),
        color_of_hue(hue, 0.17, 0.84),
        color_of_hue(hue, 0.14, 0.92),
    )
    return gradient_column(
        ((0.0, wall), (_HORIZON - 0.02, wall), (_HORIZON + 0.04, floor), (1.0, front))
    )


@lru_cache(maxsize=16)
def rounded_mask(width: int, height: int, radius: float) -> Image.Image:
    """A mask of a rounded rectangle, with soft edges."""
    mask = Image.new("L", (width * _SMOOTHING, height * _SMOOTHING))
    corner = mask.width - 1, mask.height - 1
    ImageDraw.Draw(mask).rounded_rectangle(
        (0, 0, *corner), radius * _SMOOTHING, fill=255
    )
    return mask.reduce(_SMOOTHING)


def disc(content: Image.Image | Color, edge: int = 256) -> Image.Image:
    """A colour, or the middle of a picture, as a disc in RGBA with soft edges."""
    image = Canvas.of(
        (edge, edge), opaque(content) if isinstance(content, Image.Image) else content
    ).image
    image.putalpha(rounded_mask(edge, edge, edge / 2))
    return image


@lru_cache(maxsize=1)
def _shadow() -> Image.Image:
    """A mask of a small blurred ellipse, to be stretched; its edges are left empty."""
    mask = Image.new("L", (96, 96))
    ImageDraw.Draw(mask).ellipse((16, 16, 79, 79), fill=90)
    return mask.filter(ImageFilter.GaussianBlur(6))


def trimmed(image: Image.Image) -> Image.Image:
    """A cut-out without the transparent room around it; without transparency, the picture in RGB."""
    is_solid = image.mode != "RGBA" or image.getchannel("A").getextrema() == (255, 255)
    box = None if is_solid else image.getbbox()
    return image.crop(box) if box else opaque(image)


def stretched(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The image at this size; itself if it has it."""
    if image.size == size:
        return image
    if image.width == 1:  # a gradient needs no arithmetic from left to right
        image = image.resize((1, size[1]), Image.Resampling.BILINEAR)
        return image.resize(size, Image.Resampling.NEAREST)
    return image.resize(size, Image.Resampling.BILINEAR, reducing_gap=1.0)


class Box(NamedTuple):
    """A rectangle with its upper left corner."""

    left: float
    top: float
    width: float
    height: float

    def grown(self, by: float) -> "Box":
        """The box with its edges moved outwards; a negative number moves them inwards, to no less than a pixel."""
        width, height = max(1.0, self.width + 2 * by), max(1.0, self.height + 2 * by)
        return Box(
            self.left + (self.width - width) / 2,
            self.top + (self.height - height) / 2,
            width,
            height,
        )

    def part(self, share: float, across: float = 0.5, down: float = 0.5) -> "Box":
        """A smaller box of the same ratio within this one; the remaining space is divided at `across` and `down`."""
        width, height = self.width * share, self.height * share
        return Box(
            self.left + (self.width - width) * across,
            self.top + (self.height - height) * down,
            width,
            height,
        )

    def split(self, edge: Edge, size: float, gap: float) -> tuple["Box", "Box"]:
        """A strip of this size along an edge, and the rest of the box beyond a gap."""
        left, top, width, height = self
        rest = max(1.0, (width if edge == "left" else height) - size - gap)
        if edge == "left":
            return Box(left, top, size, height), Box(
                left + width - rest, top, rest, height
            )
        return Box(left, top, width, size), Box(left, top + height - rest, width, rest)


def arrange(
    aspects: Sequence[float], room: Box, gap: float, down: float = 0.5
) -> list[Box]:
    """Boxes of these aspects (width by height) in rows, in order, all of the same area, and that as large as fits.

    Boxes of a row share a base line; `down` places the rows in a box that is higher than they need.
    """
    shapes = [(aspect**0.5, aspect**-0.5) for aspect in aspects]
    best_scale, best_rows = 0.0, [shapes]
    for per_row in range(1, len(shapes) + 1):
        rows = [
            shapes[start : start + per_row] for start in range(0, len(shapes), per_row)
        ]
        scale = min(
            (room.height - gap * (len(rows) - 1))
            / sum(max(high for _, high in row) for row in rows),
            *(
                (room.width - gap * (len(row) - 1)) / sum(wide for wide, _ in row)
                for row in rows
            ),
        )
        if scale > best_scale:
            best_scale, best_rows = scale, rows
    return _boxes(best_rows, max(best_scale, 1.0), room, gap, down)


def _boxes(
    rows: list[list[tuple[float, float]]],
    scale: float,
    room: Box,
    gap: float,
    down: float,
) -> list[Box]:
    heights = [max((high for _, high in row), default=0.0) * scale for row in rows]
    floor = room.top + (room.height - sum(heights) - gap * (len(rows) - 1)) * down
    boxes: list[Box] = []
    for row, height in zip(rows, heights, strict=True):
        floor += height
        left = (
            room.left
            + (room.width - sum(wide for wide, _ in row) * scale - gap * (len(row) - 1))
            / 2
        )
        for wide, high in row:
            boxes.append(Box(left, floor - high * scale, wide * scale, high * scale))
            left += wide * scale + gap
        floor += gap
    return boxes


class Canvas:
    """A picture in the making, in RGB or RGBA."""

    def __init__(self, image: Image.Image) -> None:
        self.image = image

    @classmethod
    def of(cls, size: tuple[int, int], ground: Image.Image | Color | None) -> "Canvas":
        """A canvas in RGB, full of a colour, a gradient or a picture; without a `ground` transparent, in RGBA.

        A picture whose ratio differs is cut so that its horizon, if it has one, stays at the same height.
        """
        if not isinstance(ground, Image.Image):
            return cls(
                Image.new("RGBA", size)
                if ground is None
                else Image.new("RGB", size, ground)
            )
        if ground.width == 1:
            return cls(stretched(ground, size))
        return cls(
            ImageOps.fit(
                opaque(ground),
                size,
                Image.Resampling.BILINEAR,
                centering=(0.5, _HORIZON),
            )
        )

    def paint(self, image: Image.Image, box: Box) -> None:
        """Paint as much of a picture in RGB or RGBA, stretched into a box, as lies within the canvas."""
        left, top = round(box.left), round(box.top)
        width, height = max(1, round(box.width)), max(1, round(box.height))
        seen = (
            max(0, left),
            max(0, top),
            min(self.image.width, left + width),
            min(self.image.height, top + height),
        )
        if seen[0] >= seen[2] or seen[1] >= seen[3]:
            return
        across, down = image.width / width, image.height / height
        source = (
            (seen[0] - left) * across,
            (seen[1] - top) * down,
            (seen[2] - left) * across,
            (seen[3] - top) * down,
        )
        size = seen[2] - seen[0], seen[3] - seen[1]
        piece = image.resize(size, Image.Resampling.BILINEAR, source, reducing_gap=1.0)
        if self.image.mode == "RGB":
            self.image.paste(piece, seen, piece if piece.mode == "RGBA" else None)
        else:
            self.image.alpha_composite(piece.convert("RGBA"), seen[:2])

    def paint_all(
        self, images: Sequence[Image.Image], room: Box, down: float = 0.5
    ) -> None:
        """Paint pictures side by side: as they are if they are cut out, with a shadow, else with white borders."""
        gap = min(self.image.size) * 0.03
        boxes = arrange(
            [image.width / image.height for image in images], room, gap, down
        )
        for image, box in zip(images, boxes, strict=True):
            if image.mode == "RGBA":
                if SHADOW not in image.info:
                    self.paint_shadow(box)
                self.paint(image, box)
            else:
                self.paint(Image.new("RGB", (1, 1), WHITE), box)
                self.paint(image, box.grown(-gap * 0.3))

    def paint_shadow(self, box: Box) -> None:
        """Paint the shadow on the floor of what stands in a box; a transparent canvas has no floor."""
        if self.image.mode == "RGB":
            width, height = (
                max(1, round(box.width * 1.28)),
                max(1, round(min(box.width, box.height) * 0.22)),
            )
            left, top = (
                round(box.left - box.width * 0.14),
                round(box.top + box.height - height * 0.55),
            )
            self.image.paste(BLACK, (left, top), stretched(_shadow(), (width, height)))
