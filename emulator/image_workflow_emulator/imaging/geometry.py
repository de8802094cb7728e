"""Points and boxes, and how several pictures share a room, in any one unit."""

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

from msgspec import Struct

from image_workflow_emulator.imaging.pictures import Corners

_MOST_SPREAD = 0.6
"""The widest gap in a row, in widths of what is beside it."""


class Point(NamedTuple):
    """A place; `y` grows downwards."""

    x: float
    y: float

    def towards(self, other: "Point", share: float) -> "Point":
        """The point at this share of the way to another one."""
        across = (other.x - self.x) * share
        down = (other.y - self.y) * share
        return Point(self.x + across, self.y + down)

    def mirrored(self, side: int) -> "Point":
        """The same place on the left (-1) or on the right (1) of the middle line."""
        return Point(side * self.x, self.y)


class Box(NamedTuple):
    """A rectangle with its upper left corner."""

    left: float
    top: float
    width: float
    height: float

    @classmethod
    def of_size(cls, width: float, height: float) -> "Box":
        """A box in the upper left corner."""
        return cls(
            left=0,
            top=0,
            width=width,
            height=height,
        )

    @property
    def right(self) -> float:
        """The edge on the right."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """The middle between left and right."""
        return self.left + self.width / 2

    @property
    def corners(self) -> Corners:
        """The upper left and the lower right corner."""
        return self.left, self.top, self.right, self.bottom

    def inset(self, margin: float) -> "Box":
        """The box with its edges moved inwards, to no less than a pixel."""
        width = max(1.0, self.width - 2 * margin)
        height = max(1.0, self.height - 2 * margin)
        return self.place(width, height)

    def place(
        self,
        width: float,
        height: float,
        across: float = 0.5,
        down: float = 0.5,
    ) -> "Box":
        """A box of this size, for which the remaining space is divided.

        `across` is the share of it on the left, `down` the share above.
        """
        return Box(
            left=self.left + (self.width - width) * across,
            top=self.top + (self.height - height) * down,
            width=width,
            height=height,
        )

    def fit(self, aspect: float, down: float = 0.5) -> "Box":
        """The largest box of this width by height."""
        width = min(self.width, self.height * aspect)
        return self.place(width, width / aspect, down=down)

    def moved(self, across: float = 0.0, down: float = 0.0) -> "Box":
        """The box, farther to the right and farther down."""
        return self._replace(left=self.left + across, top=self.top + down)

    def scaled(self, factor: float) -> "Box":
        """The box in a smaller unit, `factor` of which make one."""
        return Box(
            left=self.left * factor,
            top=self.top * factor,
            width=self.width * factor,
            height=self.height * factor,
        )

    def below(self, top: float) -> "Box":
        """The part from this height downwards, of at least a pixel."""
        height = max(1.0, self.bottom - top)
        return self._replace(top=top, height=height)

    def above(self, bottom: float) -> "Box":
        """The part down to this height, of at least a pixel."""
        return self._replace(height=max(1.0, bottom - self.top))

    def from_left(self, width: float) -> "Box":
        """A strip along the left edge."""
        return self._replace(width=width)

    def right_of(self, left: float) -> "Box":
        """The part from this place to the right, of at least a pixel."""
        width = max(1.0, self.right - left)
        return self._replace(left=left, width=width)


class Row(Struct, frozen=True):
    """Boxes side by side, on one base line."""

    boxes: Sequence[Box]
    floor: float


class _Shape(NamedTuple):
    """A picture of area 1."""

    width: float
    height: float

    @classmethod
    def of_aspect(cls, aspect: float) -> "_Shape":
        width = sqrt(aspect)
        return cls(width, 1 / width)


Shapes = Sequence[_Shape]


class Arrangement(Struct, frozen=True):
    """How pictures share a room."""

    gap: float
    """The least gap between pictures."""
    share: float = 1.0
    """A share of the largest size with which they fit."""
    across: float = 0.5
    """The place of what is narrower than the room, from 0 (left) to 1 (right)."""
    down: float = 1.0
    """The place of what is lower than the room, from 0 (top) to 1 (on its floor)."""


def arrange(
    aspects: Sequence[float],
    room: Box,
    arrangement: Arrangement,
) -> list[Row]:
    """Rows for pictures of these aspects, in order, from the top.

    All pictures have the same area. What is left of the width parts those of a row.
    """
    shapes = [_Shape.of_aspect(aspect) for aspect in aspects]
    best_rows: list[Shapes] = []
    best_scale = 0.0
    for row_count in range(1, len(shapes) + 1):
        rows = _in_rows(shapes, row_count)
        scale = _scale_of(rows, room, arrangement.gap)
        if scale > best_scale:
            best_scale = scale
            best_rows = rows
    scale = max(1.0, best_scale * arrangement.share)
    return _Placing(room, arrangement, scale).rows(best_rows)


def _in_rows(shapes: Shapes, row_count: int) -> list[Shapes]:
    """As many in each row; what does not come out even is above."""
    rows = []
    end = 0
    for number in range(row_count):
        start = end
        rows_left = row_count - number
        shapes_left = len(shapes) - start
        end += ceil(shapes_left / rows_left)
        rows.append(shapes[start:end])
    return rows


def _scale_of(
    rows: Sequence[Shapes],
    room: Box,
    gap: float,
) -> float:
    """By how much the shapes can be enlarged; they are never smaller than a pixel."""
    height = sum(_height_of(row) for row in rows)
    free_height = room.height - _gaps_in(rows, gap)
    scales = [free_height / height]
    for row in rows:
        free_width = room.width - _gaps_in(row, gap)
        scales.append(free_width / _width_of(row))
    return max(1.0, min(scales))


def _gaps_in(sequence: Sequence[object], gap: float) -> float:
    """The width of all gaps between its elements."""
    return gap * (len(sequence) - 1)


def _height_of(row: Shapes) -> float:
    return max(shape.height for shape in row)


def _width_of(row: Shapes) -> float:
    return sum(shape.width for shape in row)


class _Placing:
    """Places rows of shapes in a room, at one scale."""

    def __init__(
        self,
        room: Box,
        arrangement: Arrangement,
        scale: float,
    ) -> None:
        self._room = room
        self._arrangement = arrangement
        self._scale = scale

    def rows(self, rows: Sequence[Shapes]) -> list[Row]:
        """All rows, from the top."""
        heights = [_height_of(row) * self._scale for row in rows]
        total = sum(heights) + _gaps_in(rows, self._arrangement.gap)
        free = self._room.height - total
        top = self._room.top + free * self._arrangement.down
        placed = []
        for row, height in zip(rows, heights, strict=True):
            floor = top + height
            boxes = self._boxes_on(floor, row)
            placed.append(Row(boxes, floor))
            top = floor + self._arrangement.gap
        return placed

    def _boxes_on(self, floor: float, row: Shapes) -> list[Box]:
        width = _width_of(row) * self._scale
        gap = self._gap_between(row, width)
        taken = width + _gaps_in(row, gap)
        free = self._room.width - taken
        left = self._room.left + free * self._arrangement.across
        boxes = []
        for shape in row:
            height = shape.height * self._scale
            box = Box(
                left=left,
                top=floor - height,
                width=shape.width * self._scale,
                height=height,
            )
            boxes.append(box)
            left = box.right + gap
        return boxes

    def _gap_between(self, row: Shapes, width: float) -> float:
        """The gap in a row of a width: what is left parts its shapes, up to a limit."""
        free = max(0.0, self._room.width - width)
        even_gap = free / (len(row) + 1)
        widest_gap = _MOST_SPREAD * width / len(row)
        return max(self._arrangement.gap, min(even_gap, widest_gap))
