"""Layers on a background, painted band by band.

Owns how pictures are composed: a layer keeps its pixels small and is stretched into its box only where a band needs it,
so that a 4k picture costs little more than a small one. Must not know what the layers show.
"""

from msgspec import Struct
from PIL import Image

from emulator.imaging.drawing import BLACK, WHITE, flat, soft_mask
from emulator.imaging.encoding import Picture
from emulator.imaging.layout import Box

_DOUBLED_FROM = 3000  # pixels an edge


class Layer(Struct, frozen=True):
    """`image` (RGB) seen through `mask` (L; None is opaque), stretched into a box of the picture, in pixels."""

    image: Image.Image
    left: int
    top: int
    width: int
    height: int
    mask: Image.Image | None = None

    def paint(self, band: Image.Image, top: int, bottom: int, step: int) -> None:
        """Paint what lies in the rows from `top` to `bottom`, of which `band` holds every `step`-th."""
        first, last = max(top, _up(self.top, step)), min(bottom, _up(self.top + self.height, step))
        left, right = max(0, self.left), min(band.width, self.left + self.width)
        if first >= last or left >= right:
            return
        part = (left - self.left, first - self.top, right - self.left, last - self.top)
        size = (right - left, (last - first) // step)
        place = (left, (first - top) // step)
        piece = _stretch(self.image, self.width, self.height, part, size)
        mask = _stretch(self.mask, self.width, self.height, part, size) if self.mask else None
        if band.mode == "RGBA":
            piece.putalpha(mask or 255)
            band.alpha_composite(piece, place)
        else:
            band.paste(piece, place, mask)


class Composition(Struct, frozen=True):
    """A picture of `width` x `height` pixels: layers, the last in front. Without a `ground` it is transparent."""

    width: int
    height: int
    ground: Image.Image | None
    layers: tuple[Layer, ...]

    def picture(self) -> Picture:
        """The composition as rows to encode.

        From 4k on every row is painted for two: half the work, and invisible in a picture of this size.
        """
        step = 2 if max(self.width, self.height) >= _DOUBLED_FROM and self.height % 2 == 0 else 1

        def band(top: int, bottom: int) -> Image.Image:
            painted = self._paint(top, bottom, step)
            return painted if step == 1 else painted.resize((self.width, bottom - top), Image.Resampling.NEAREST)

        return Picture(self.width, self.height, "RGB" if self.ground else "RGBA", band)

    def _paint(self, top: int, bottom: int, step: int) -> Image.Image:
        size = (self.width, (bottom - top) // step)
        if self.ground is None:
            band = Image.new("RGBA", size)
        else:
            band = _stretch(self.ground, self.width, self.height, (0, top, self.width, bottom), size)
        for layer in self.layers:
            layer.paint(band, top, bottom, step)
        return band


def place(image: Image.Image, box: Box, mask: Image.Image | None = None) -> Layer:
    """A layer in a box, to the nearest pixel."""
    left, top = round(box.left), round(box.top)
    return Layer(image, left, top, max(1, round(box.width)), max(1, round(box.height)), mask)


def framed(image: Image.Image, box: Box, border: float, has_shadow: bool = True) -> list[Layer]:
    """A picture that fills a box: cut out if it is transparent, else with a white border within the box."""
    if image.mode == "RGBA":
        layers = [place(image.convert("RGB"), box, image.getchannel("A"))]
        height = min(box.width, box.height) * 0.26
        spread = Box(box.left - box.width * 0.18, box.top + box.height - height * 0.55, box.width * 1.36, height)
    else:
        layers = [place(flat(WHITE), box), place(image, box.grown(-border))]
        spread = Box(box.left - box.width * 0.1, box.top - box.height * 0.09, box.width * 1.2, box.height * 1.2)
    shadow = place(flat(BLACK), spread, soft_mask(is_round=image.mode == "RGBA", opacity=90))
    return [shadow, *layers] if has_shadow else layers


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _stretch(
    image: Image.Image, width: int, height: int, part: tuple[int, int, int, int], size: tuple[int, int]
) -> Image.Image:
    """This part of the image stretched to `width` x `height`, at the given size."""
    if image.size == (width, height) and size[1] == part[3] - part[1]:
        return image.crop(part)
    across, down = image.width / width, image.height / height
    left, top = part[0] * across, max(0.0, part[1] * down)
    right, bottom = min(image.width, part[2] * across), min(image.height, part[3] * down)
    if image.width == 1 or image.height == 1:  # colours of one direction need no arithmetic in the other
        across_size = (1, size[1]) if image.width == 1 else (size[0], 1)
        line = image.resize(across_size, Image.Resampling.BILINEAR, (left, top, right, bottom))
        return line.resize(size, Image.Resampling.NEAREST)
    return image.resize(size, Image.Resampling.BILINEAR, (left, top, right, bottom))
