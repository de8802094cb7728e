"""Layers on a background.

Owns how pictures are composed: a layer keeps its pixels small, and is stretched into its box when it is painted. Must
not know what the layers show.
"""

from collections.abc import Iterable

from msgspec import Struct
from PIL import Image

from emulator.imaging.drawing import BLACK, WHITE, Color, soft_mask
from emulator.imaging.layout import Box

Paint = Image.Image | Color
"""A picture in RGB, or one colour."""


class Layer(Struct, frozen=True):
    """Paint seen through `mask` (L; None is opaque), stretched into a box of the picture, in pixels."""

    paint: Paint
    left: int
    top: int
    width: int
    height: int
    mask: Image.Image | None = None

    def paint_on(self, canvas: Image.Image) -> None:
        """Paint what lies within the canvas, which is in RGB or RGBA."""
        size = (self.width, self.height)
        mask = _stretched(self.mask, size) if self.mask else None
        if canvas.mode == "RGB":
            paint = _stretched(self.paint, size) if isinstance(self.paint, Image.Image) else self.paint
            canvas.paste(paint, (self.left, self.top, self.left + self.width, self.top + self.height), mask)
            return
        piece = _canvas(self.paint, size)
        piece.putalpha(mask or 255)
        left, top = max(0, self.left), max(0, self.top)
        canvas.alpha_composite(piece, (left, top), (left - self.left, top - self.top))


def compose(width: int, height: int, ground: Paint | None, layers: Iterable[Layer]) -> Image.Image:
    """A picture of `width` x `height` pixels: layers, the last in front. Without a `ground` it is transparent."""
    size = (width, height)
    canvas = Image.new("RGBA", size) if ground is None else _canvas(ground, size)
    for layer in layers:
        layer.paint_on(canvas)
    return canvas


def place(paint: Paint, box: Box, mask: Image.Image | None = None) -> Layer:
    """A layer in a box, to the nearest pixel."""
    left, top = round(box.left), round(box.top)
    return Layer(paint, left, top, max(1, round(box.width)), max(1, round(box.height)), mask)


def framed(image: Image.Image, box: Box, border: float, has_shadow: bool = True) -> list[Layer]:
    """A picture that fills a box: cut out if it is transparent, else with a white border within the box."""
    if image.mode == "RGBA":
        layers = [place(image.convert("RGB"), box, image.getchannel("A"))]
        height = min(box.width, box.height) * 0.26
        spread = Box(box.left - box.width * 0.18, box.top + box.height - height * 0.55, box.width * 1.36, height)
    else:
        layers = [place(WHITE, box), place(image, box.grown(-border))]
        spread = Box(box.left - box.width * 0.1, box.top - box.height * 0.09, box.width * 1.2, box.height * 1.2)
    shadow = place(BLACK, spread, soft_mask(is_round=image.mode == "RGBA", opacity=90))
    return [shadow, *layers] if has_shadow else layers


def _canvas(paint: Paint, size: tuple[int, int]) -> Image.Image:
    """A picture of its own, in RGB, full of paint."""
    if not isinstance(paint, Image.Image):
        return Image.new("RGB", size, paint)
    return paint.copy() if paint.size == size else _stretched(paint, size)


def _stretched(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The image at this size; itself if it has it."""
    if image.size == size:
        return image
    if image.width == 1:  # a gradient needs no arithmetic from left to right
        image = image.resize((1, size[1]), Image.Resampling.BILINEAR)
        return image.resize(size, Image.Resampling.NEAREST)
    return image.resize(size, Image.Resampling.BILINEAR)
