"""Panels with words: where one may be, below or beside a scene, and how its rows become
a picture.
"""

from collections.abc import Sequence

from msgspec import Struct

from image_workflow_emulator.imaging.canvas import rounded_mask
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.labels import blank
from image_workflow_emulator.imaging.pictures import Picture, Size

Cells = list[Picture]
"""A row of a panel."""

SMALLEST_WITH_WORDS = 160
"""Pixels of the shorter edge; no word can be read in a smaller picture."""
_DRAWN_EDGE = 2048
"""Pixels of the longer edge; larger pictures are enlarged, which is seen only there."""
_MARGIN_SHARE = 0.03
"""A share of the shorter edge, around the panel and what is beside it."""
_WIDE = 1.4
"""The width by height from which the panel is beside the scene."""


class Layout(Struct, frozen=True):
    """Where a panel may be, and the room that is for the scene."""

    size: Size
    """That is drawn, in pixels."""
    margin: float
    is_beside: bool
    panel: Box
    """All that the panel may take."""
    scene: Box
    """What it leaves then."""

    def scene_without(self, panel: Box) -> Box:
        """The room for the scene where the panel takes this place alone."""
        if self.is_beside:
            return self.scene
        return self.scene.above(panel.top - self.margin)


def layout_of(
    size: Size,
    beside_share: float,
    below_share: float,
) -> Layout:
    """The layout of a picture; a panel takes at most these shares of its width or
    height.
    """
    width, height = _drawn_size(size)
    margin = min(width, height) * _MARGIN_SHARE
    frame = Box.of_size(width, height).inset(margin)
    is_beside = width > height * _WIDE
    if min(size) < SMALLEST_WITH_WORDS:
        panel = frame
        scene = frame
    elif is_beside:
        panel = frame.from_left(width * beside_share)
        scene = frame.right_of(panel.right + margin)
    else:
        panel_height = frame.height * below_share
        panel = frame.below(frame.bottom - panel_height)
        scene = frame.above(panel.top - margin)
    return Layout(
        size=(width, height),
        margin=margin,
        is_beside=is_beside,
        panel=panel,
        scene=scene,
    )


def _drawn_size(size: Size) -> Size:
    full_width, full_height = size
    scale = min(1.0, _DRAWN_EDGE / max(size))
    width = max(1, round(full_width * scale))
    height = max(1, round(full_height * scale))
    return width, height


def stack(
    rows: Sequence[Cells],
    width: int,
    edge: int,
    gap: int,
) -> Picture:
    """A panel with rows of cells; `edge` is between rows, `gap` between cells."""
    row_heights = [max(cell.height for cell in row) for row in rows]
    edges = edge * (len(rows) + 1)
    height = sum(row_heights) + edges
    panel = blank(width, height)
    top = edge
    for row, row_height in zip(rows, row_heights, strict=True):
        left = edge
        for cell in row:
            above = (row_height - cell.height) // 2
            panel.paste(cell, (left, top + above))
            left += cell.width + gap
        top += row_height + edge
    return panel


def paste_panel(
    canvas: Picture,
    panel: Picture,
    place: Box,
    radius: float,
) -> None:
    """Paste a panel with round corners."""
    mask = rounded_mask(panel.width, panel.height, radius)
    left = round(place.left)
    top = round(place.top)
    canvas.paste(panel, (left, top), mask)
