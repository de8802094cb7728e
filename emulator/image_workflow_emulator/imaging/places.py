"""The premade Backgrounds: places that are drawn, by a word of their names."""

from collections.abc import Callable, Mapping

from PIL import Image, ImageDraw, ImageOps

from image_workflow_emulator.imaging.canvas import gradient_column
from image_workflow_emulator.imaging.colors import Color, chance, color_of_hue

_PAPER: Color = (246, 246, 244)
_SKY: Color = (116, 178, 222)
_HAZE: Color = (236, 238, 226)
_SEA: Color = (44, 128, 150)
_SHALLOWS: Color = (150, 214, 204)
_SURF: Color = (250, 252, 250)
_WET_SAND: Color = (206, 178, 138)
_SAND: Color = (236, 214, 174)
_DARK_SAND: Color = (214, 184, 138)
_MORTAR: Color = (206, 196, 184)
_PAVEMENT: Color = (172, 170, 166)
_KERB: Color = (140, 136, 132)
_STREET_EDGE = 512
_SHIRT_EDGE = 1024
_HALF_SHIRT = ((120, 120), (210, 140), (360, 330), (280, 410), (200, 330), (200, 900))
"""The outline of half a shirt: across from its middle line, and down."""


def draw_place(name: str) -> Image.Image:
    """The place that a name contains; else paper. A gradient is one pixel wide."""
    for word, draw in _PLACES.items():
        if word in name.casefold():
            return draw(name)
    return _draw_paper()


def _draw_paper() -> Image.Image:
    stops = ((0, (234, 234, 232)), (0.55, (249, 249, 248)), (1, (226, 226, 224)))
    return gradient_column(stops)


def _draw_vignette(_name: str) -> Image.Image:
    grey = Image.radial_gradient("L")
    return ImageOps.colorize(grey, (214, 209, 204), (112, 107, 102))


def _draw_beach(_name: str) -> Image.Image:
    stops = (
        (0.0, _SKY),
        (0.45, _HAZE),
        (0.45, _SEA),
        (0.6, _SHALLOWS),
        (0.6, _SURF),
        (0.62, _SURF),
        (0.62, _WET_SAND),
        (0.7, _SAND),
        (1.0, _DARK_SAND),
    )
    return gradient_column(stops, 1024)


def _draw_street(_name: str) -> Image.Image:
    """A brick wall in daylight, and the pavement before it."""
    image = Image.new("RGB", (_STREET_EDGE, _STREET_EDGE), _MORTAR)
    draw = ImageDraw.Draw(image)
    for row in range(12):
        top = row * 26
        for left in range(-32 * (row % 2), _STREET_EDGE, 64):
            color = color_of_hue(0.03, 0.6, 0.44 + 0.18 * chance("brick", row, left))
            draw.rectangle((left + 2, top + 2, left + 61, top + 23), fill=color)
    draw.rectangle((0, 312, _STREET_EDGE, _STREET_EDGE), fill=_PAVEMENT)
    draw.rectangle((0, 312, _STREET_EDGE, 320), fill=_KERB)
    return image


def draw_shirt(name: str, number: int = 0) -> Image.Image:
    """A product before a plain ground, to be photographed where nobody has uploaded
    one.
    """
    hue = chance(name) + number * 0.31
    image = Image.new("RGB", (_SHIRT_EDGE, _SHIRT_EDGE), _PAPER)
    draw = ImageDraw.Draw(image)
    middle = _SHIRT_EDGE // 2
    left_side = [(middle - x, y) for x, y in _HALF_SHIRT]
    right_side = [(middle + x, y) for x, y in reversed(_HALF_SHIRT)]
    draw.polygon([*left_side, *right_side], fill=color_of_hue(hue, 0.7, 0.66))
    for x in range(380, 680, 44):
        draw.line((x, 240, x, 896), fill=color_of_hue(hue, 0.7, 0.54), width=8)
    draw.ellipse((440, 84, 584, 156), fill=_PAPER)
    return image


_PLACES: Mapping[str, Callable[[str], Image.Image]] = {
    "gradient": _draw_vignette,
    "beach": _draw_beach,
    "street": _draw_street,
    "shirt": draw_shirt,
}
