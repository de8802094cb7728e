"""The layout of pictures: boxes, arranged so that each is whole and none covers another.

Pure arithmetic, in pixels. Must not know what is drawn in a box.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Edge = Literal["left", "top", "bottom"]


class Box(NamedTuple):
    """A rectangle with its upper left corner."""

    left: float
    top: float
    width: float
    height: float

    def grown(self, by: float) -> "Box":
        """The box with its edges moved outwards; a negative number moves them inwards, to no less than a pixel."""
        width, height = max(1.0, self.width + 2 * by), max(1.0, self.height + 2 * by)
        return Box(self.left + (self.width - width) / 2, self.top + (self.height - height) / 2, width, height)

    def part(self, share: float, across: float = 0.5, down: float = 0.5) -> "Box":
        """A smaller box of the same ratio within this one; the remaining space is divided at `across` and `down`."""
        width, height = self.width * share, self.height * share
        return Box(self.left + (self.width - width) * across, self.top + (self.height - height) * down, width, height)

    def split(self, edge: Edge, size: float, gap: float) -> tuple["Box", "Box"]:
        """A strip of this size along an edge, and the rest of the box beyond a gap."""
        left, top, width, height = self
        rest = max(1.0, (width if edge == "left" else height) - size - gap)
        if edge == "left":
            return Box(left, top, size, height), Box(left + width - rest, top, rest, height)
        if edge == "top":
            return Box(left, top, width, size), Box(left, top + height - rest, width, rest)
        return Box(left, top + height - size, width, size), Box(left, top, width, rest)


def arrange(aspects: Sequence[float], room: Box, gap: float, down: float = 0.5) -> list[Box]:
    """Boxes of these aspects (width by height) in rows, in order, all of the same area, and that as large as fits.

    Boxes of a row share a base line; `down` places the rows in a box that is higher than they need.
    """
    shapes = [(aspect**0.5, aspect**-0.5) for aspect in aspects]
    best_scale, best_rows = 0.0, [shapes]
    for per_row in range(1, len(shapes) + 1):
        rows = [shapes[start : start + per_row] for start in range(0, len(shapes), per_row)]
        scale = min(
            (room.height - gap * (len(rows) - 1)) / sum(max(high for _, high in row) for row in rows),
            *((room.width - gap * (len(row) - 1)) / sum(wide for wide, _ in row) for row in rows),
        )
        if scale > best_scale:
            best_scale, best_rows = scale, rows
    return _boxes(best_rows, max(best_scale, 1.0), room, gap, down)


def _boxes(rows: list[list[tuple[float, float]]], scale: float, room: Box, gap: float, down: float) -> list[Box]:
    heights = [max((high for _, high in row), default=0.0) * scale for row in rows]
    floor = room.top + (room.height - sum(heights) - gap * (len(rows) - 1)) * down
    boxes: list[Box] = []
    for row, height in zip(rows, heights, strict=True):
        floor += height
        left = room.left + (room.width - sum(wide for wide, _ in row) * scale - gap * (len(row) - 1)) / 2
        for wide, high in row:
            boxes.append(Box(left, floor - high * scale, wide * scale, high * scale))
            left += wide * scale + gap
        floor += gap
    return boxes
