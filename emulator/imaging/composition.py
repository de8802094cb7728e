"""Putting pictures and colours on a canvas. Must not know what they show."""

from collections.abc import Sequence

from PIL import Image

from emulator.imaging.drawing import BLACK, WHITE, Color, soft_mask
from emulator.imaging.layout import Box, arrange

Paint = Image.Image | Color
"""A picture in RGB or RGBA, or one colour."""


def new_canvas(size: tuple[int, int], ground: Paint | None) -> Image.Image:
    """A canvas of this size in RGB, full of paint; without a `ground` it is transparent, in RGBA."""
    if isinstance(ground, Image.Image):
        canvas = stretched(ground, size)
        return canvas.copy() if canvas is ground else canvas
    return Image.new("RGBA", size) if ground is None else Image.new("RGB", size, ground)


def paint(canvas: Image.Image, paint: Paint, box: Box, mask: Image.Image | None = None) -> None:
    """Paint what lies within the canvas, which is in RGB or RGBA: a picture, stretched into a box, or a colour there.

    `mask` (L) is what it is seen through; by itself that is the picture's own transparency.
    """
    left, top = round(box.left), round(box.top)
    width, height = max(1, round(box.width)), max(1, round(box.height))
    seen = (max(0, left), max(0, top), min(canvas.width, left + width), min(canvas.height, top + height))
    if seen[0] >= seen[2] or seen[1] >= seen[3]:
        return
    part = (seen[0] - left, seen[1] - top, seen[2] - left, seen[3] - top)
    if isinstance(paint, Image.Image):
        piece = _stretched_part(paint, (width, height), part)
    else:
        piece = Image.new("RGB", (part[2] - part[0], part[3] - part[1]), paint)
    if mask is not None:
        piece = piece.copy()
        piece.putalpha(_stretched_part(mask, (width, height), part))
    if canvas.mode == "RGB":
        canvas.paste(piece, seen, piece if piece.mode == "RGBA" else None)
    else:
        canvas.alpha_composite(piece.convert("RGBA"), seen[:2])


def _stretched_part(image: Image.Image, size: tuple[int, int], part: tuple[int, int, int, int]) -> Image.Image:
    """A part, in pixels, of an image at a size."""
    if part == (0, 0, *size):
        return stretched(image, size)
    across, down = image.width / size[0], image.height / size[1]
    source = (part[0] * across, part[1] * down, part[2] * across, part[3] * down)
    return image.resize((part[2] - part[0], part[3] - part[1]), Image.Resampling.BILINEAR, source)


def paint_all(canvas: Image.Image, images: Sequence[Image.Image], room: Box, down: float = 0.5) -> None:
    """Paint pictures side by side: as they are if they are cut out, with a shadow, else with white borders."""
    gap = min(canvas.size) * 0.03
    boxes = arrange([image.width / image.height for image in images], room, gap, down)
    for image, box in zip(images, boxes, strict=True):
        if image.mode == "RGBA":
            paint_shadow(canvas, box)
            paint(canvas, image, box)
        else:
            paint(canvas, WHITE, box)
            paint(canvas, image, box.grown(-gap * 0.3))


def paint_shadow(canvas: Image.Image, box: Box) -> None:
    """Paint the shadow on the floor of what stands in a box; a transparent canvas has no floor."""
    if canvas.mode == "RGB":
        height = min(box.width, box.height) * 0.22
        spread = Box(box.left - box.width * 0.14, box.top + box.height - height * 0.55, box.width * 1.28, height)
        paint(canvas, BLACK, spread, soft_mask(90))


def stretched(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The image at this size; itself if it has it."""
    if image.size == size:
        return image
    if image.width == 1:  # a gradient needs no arithmetic from left to right
        image = image.resize((1, size[1]), Image.Resampling.BILINEAR)
        return image.resize(size, Image.Resampling.NEAREST)
    if image.width > 2 * size[0] and image.height > 2 * size[1]:
        image = image.reduce(min(image.width // size[0], image.height // size[1]))
    return image.resize(size, Image.Resampling.BILINEAR)
