"""The premade Backgrounds: places that are drawn, by a word of their names."""

from collections.abc import Callable, Mapping

from PIL import Image, ImageDraw, ImageOps

from image_workflow_emulator.imaging.colors import Color, chance, color_of_hue
from image_workflow_emulator.imaging.geometry import Point
from image_workflow_emulator.imaging.grounds import Stop, gradient_column
from image_workflow_emulator.imaging.pictures import Picture

_PAPER: Color = (246, 246, 244)
_PAPER_SHADE: Color = (234, 234, 232)
_PAPER_LIGHT: Color = (249, 249, 248)
_PAPER_FRONT: Color = (226, 226, 224)
_WALL_LIGHT: Color = (214, 209, 204)
_WALL_DARK: Color = (112, 107, 102)
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
_BRICK_WIDTH = 64
_BRICK_HEIGHT = 26
_BRICK_ROWS = 12
_SHIRT_EDGE = 1024
_HALF_SHIRT = (
    Point(x=120, y=120),
    Point(x=210, y=140),
    Point(x=360, y=330),
    Point(x=280, y=410),
    Point(x=200, y=330),
    Point(x=200, y=900),
)
"""The outline of half a shirt: across from its middle line, and down."""
_NECKLINE = (440, 84, 584, 156)


def draw_place(name: str) -> Picture:
    """The place that a name contains; else paper. A gradient is one pixel wide."""
    for word, draw in _PLACES.items():
        if word in name.casefold():
            return draw(name)
    return _draw_paper()


def _draw_paper() -> Picture:
    stops = (
        Stop(0.0, _PAPER_SHADE),
        Stop(0.55, _PAPER_LIGHT),
        Stop(1.0, _PAPER_FRONT),
    )
    return gradient_column(stops)


def _draw_vignette(_name: str) -> Picture:
    grey = Image.radial_gradient("L")
    return ImageOps.colorize(grey, _WALL_LIGHT, _WALL_DARK)


def _draw_beach(_name: str) -> Picture:
    stops = (
        Stop(0.0, _SKY),
        Stop(0.45, _HAZE),
        Stop(0.45, _SEA),
        Stop(0.6, _SHALLOWS),
        Stop(0.6, _SURF),
        Stop(0.62, _SURF),
        Stop(0.62, _WET_SAND),
        Stop(0.7, _SAND),
        Stop(1.0, _DARK_SAND),
    )
    return gradient_column(stops, length=1024)


def _draw_street(_name: str) -> Picture:
    """A brick wall in daylight, and the pavement before it."""
    image = Image.new("RGB", (_STREET_EDGE, _STREET_EDGE), _MORTAR)
    pen = ImageDraw.Draw(image)
    for row in range(_BRICK_ROWS):
        shift = 0
        if row % 2:
            shift = _BRICK_WIDTH // 2
        for left in range(-shift, _STREET_EDGE, _BRICK_WIDTH):
            _draw_brick(pen, row, left)
    kerb = _BRICK_ROWS * _BRICK_HEIGHT
    right = bottom = _STREET_EDGE
    pen.rectangle((0, kerb, right, bottom), fill=_PAVEMENT)
    pen.rectangle((0, kerb, right, kerb + 8), fill=_KERB)
    return image


def _draw_brick(
    pen: ImageDraw.ImageDraw,
    row: int,
    left: int,
) -> None:
    """Draw a brick of a shade of its own, with mortar around it."""
    top = row * _BRICK_HEIGHT
    right = left + _BRICK_WIDTH - 3
    bottom = top + _BRICK_HEIGHT - 3
    value = 0.44 + 0.18 * chance("brick", row, left)
    color = color_of_hue(
        hue=0.03,
        saturation=0.6,
        value=value,
    )
    pen.rectangle((left + 2, top + 2, right, bottom), fill=color)


def draw_shirt(name: str, number: int = 0) -> Picture:
    """A product before a plain ground, for where nobody has uploaded one."""
    hue = chance(name) + number * 0.31
    cloth = color_of_hue(
        hue=hue,
        saturation=0.7,
        value=0.66,
    )
    stripes = color_of_hue(
        hue=hue,
        saturation=0.7,
        value=0.54,
    )
    image = Image.new("RGB", (_SHIRT_EDGE, _SHIRT_EDGE), _PAPER)
    pen = ImageDraw.Draw(image)
    middle = _SHIRT_EDGE // 2
    left_side = []
    right_side = []
    for point in _HALF_SHIRT:
        left_side.append(Point(middle - point.x, point.y))
        right_side.append(Point(middle + point.x, point.y))
    right_side.reverse()
    pen.polygon(left_side + right_side, fill=cloth)
    for x in range(380, 680, 44):
        stripe = (x, 240, x, 896)
        pen.line(stripe, fill=stripes, width=8)
    pen.ellipse(_NECKLINE, fill=_PAPER)
    return image


_PLACES: Mapping[str, Callable[[str], Picture]] = {
    "gradient": _draw_vignette,
    "beach": _draw_beach,
    "street": _draw_street,
    "shirt": draw_shirt,
}
