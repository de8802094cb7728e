"""Whole figures in a pose, who wear or hold a product.

Must not know any picture that they appear in. Lengths are in heights of the figure,
from its middle line and its top.
"""

from math import dist, sqrt

from msgspec import Struct
from PIL import Image, ImageDraw, ImageStat

from image_workflow_emulator.imaging.canvas import Canvas, disc
from image_workflow_emulator.imaging.colors import BLACK, Color, mix, whole_color
from image_workflow_emulator.imaging.geometry import Box, Point
from image_workflow_emulator.imaging.heads import draw_head
from image_workflow_emulator.imaging.people import Person
from image_workflow_emulator.imaging.pictures import Picture, alpha_of, aspect_of
from image_workflow_emulator.imaging.stances import Stance

FIGURE_HEIGHT = 720
"""Pixels."""
_HEAD_EDGE = 160
_HAND_EDGE = 64
"""Pixels."""
FIGURE_ASPECT = 0.56
"""Width by height."""
_SMOOTHING = 2
"""Bodies are drawn this much larger, in RGBa, of which Pillow reduces the fastest, then
reduced.
"""

_LIGHT = 190
"""Levels; what has more, on the mean, is held before dark clothes."""
_LIGHT_TOP: Color = (238, 234, 228)
_DARK_TOP: Color = (70, 74, 84)
_SHOES: Color = (52, 50, 54)

_HEAD = Box(
    left=-0.095,
    top=-0.008,
    width=0.19,
    height=0.19,
)
_HELD = Box(
    left=-0.16,
    top=0.195,
    width=0.32,
    height=0.29,
)
"""Where a product is that is held."""
_WORN = Box(
    left=-0.17,
    top=0.19,
    width=0.34,
    height=0.56,
)
"""Where a garment is; it begins at the top."""
_HAND = Box(
    left=-0.022,
    top=-0.022,
    width=0.044,
    height=0.05,
)
"""Where a hand is, from its wrist."""
_GRIP = 0.62
"""How far down a product the hands are, as a share of its height."""
_HALF_ARM = 0.125
_SHOULDER = Point(0.088, 0.222)
_HIP = Point(0.042, 0.48)
_SOLE = 0.972
_TOE = 0.974
"""How far down a foot ends, at the heel and in front."""
_FOOT_LENGTH = 0.03

_HEAD_ASIDE = 0.02
"""How far a head moves aside in a full turn."""
_NARROWER_HEAD = 0.2
_NARROWER_GARMENT = 0.25
_NARROWER_SIDE = 0.45
"""By which share head, garment and the farther side are narrower then."""

_WAIST = (
    Point(-0.045, 0.465),
    Point(0.045, 0.465),
)
_CHEST = (
    Point(-0.062, 0.22),
    Point(0.062, 0.22),
    Point(0.04, 0.42),
    Point(-0.04, 0.42),
    Point(-0.062, 0.22),
)
_SPINE = (
    Point(0, 0.22),
    Point(0, 0.43),
)
"""Lines through the torso."""

_WAIST_WIDTH = 0.075
_CHEST_WIDTH = 0.07
_SPINE_WIDTH = 0.1
_LEG_WIDTH = 0.062
_FOOT_WIDTH = 0.044
_ARM_WIDTH = 0.038
_SLEEVE_WIDTH = 0.056
"""The widths of lines."""


class Figure(Struct, frozen=True):
    """Somebody in a stance, with another head and with a product if these are given,
    both in RGB or RGBA.

    `turn` is to the left below 0 and to the right above 0, by three quarters at 1: the
    farther side is narrower. At 0, the stance decides.
    """

    person: Person
    stance: Stance
    head: Picture | None = None
    product: Picture | None = None
    is_worn: bool = False
    turn: float = 0.0


def draw_figure(figure: Figure) -> Picture:
    """A figure in RGBA, `FIGURE_HEIGHT` high."""
    turn = figure.turn or figure.stance.turn
    body = _Body(figure, turn)
    body.draw_legs()
    body.draw_torso()
    if not figure.is_worn:
        body.draw_arms()
    canvas = Canvas(body.image())
    _paint_head(canvas, figure, turn)
    if figure.product is not None and figure.is_worn:
        _paint_garment(canvas, figure.product, turn)
        arms = _Body(figure, turn)
        arms.draw_arms()
        canvas.image.alpha_composite(arms.image())
    elif figure.product is not None:
        _paint_held(canvas, figure, figure.product)
    return canvas.image


def _in_pixels(box: Box) -> Box:
    """A place of a figure, in its picture."""
    middle = FIGURE_HEIGHT * FIGURE_ASPECT / 2
    return box.scaled(FIGURE_HEIGHT).moved(across=middle)


def _paint_head(
    canvas: Canvas,
    figure: Figure,
    turn: float,
) -> None:
    head = figure.head
    if head is None:
        head = draw_head(figure.person, _HEAD_EDGE, turn)
    moved = _HEAD.moved(across=_HEAD_ASIDE * turn)
    narrowed = 1 - _NARROWER_HEAD * abs(turn)
    aspect = aspect_of(head) * narrowed
    place = _in_pixels(moved).fit(aspect, down=1.0)
    canvas.paint(head, place)


def _paint_garment(
    canvas: Canvas,
    garment: Picture,
    turn: float,
) -> None:
    narrowed = 1 - _NARROWER_GARMENT * abs(turn)
    aspect = aspect_of(garment) * narrowed
    place = _in_pixels(_WORN).fit(aspect, down=0)
    canvas.paint(garment, place)


def _paint_held(
    canvas: Canvas,
    figure: Figure,
    product: Picture,
) -> None:
    place = _in_pixels(_held_place(product))
    canvas.paint(product, place)
    shaded = mix(figure.person.skin, BLACK, 0.06)
    hand = disc(shaded, _HAND_EDGE)
    for side in (-1, 1):
        if _grips(figure, side):
            wrist = _wrist(figure, side)
            around = _HAND.moved(across=wrist.x, down=wrist.y)
            canvas.paint(hand, _in_pixels(around))


def _held_place(product: Picture) -> Box:
    return _HELD.fit(aspect_of(product), down=0)


def _grips(figure: Figure, side: int) -> bool:
    """Whether the arm on a side (-1 is on the left) holds the product."""
    if figure.product is None or figure.is_worn:
        return False
    return figure.stance.limbs(side).holds


def _wrist(figure: Figure, side: int) -> Point:
    if _grips(figure, side) and figure.product is not None:
        place = _held_place(figure.product)
        x = side * place.width / 2
        y = place.top + place.height * _GRIP
        return Point(x, y)
    return figure.stance.limbs(side).wrist


def _elbow(
    shoulder: Point,
    wrist: Point,
    side: int,
) -> Point:
    """Outwards of the line between shoulder and wrist, as far as the length of an arm
    makes it.
    """
    reach = dist(shoulder, wrist)
    height_squared = _HALF_ARM**2 - reach**2 / 4
    height = sqrt(max(0.0, height_squared))
    outwards = side * height / reach
    across = wrist.x - shoulder.x
    down = wrist.y - shoulder.y
    middle = shoulder.towards(wrist, 0.5)
    return Point(
        x=middle.x + down * outwards,
        y=middle.y - across * outwards,
    )


class _Body:
    """The parts of a figure in the making, of which any may be left out."""

    def __init__(self, figure: Figure, turn: float) -> None:
        self._figure = figure
        self._skin = figure.person.skin
        self._trousers = mix(figure.person.cloth, BLACK, 0.3)
        self._turn = turn
        self._farther = 1 - _NARROWER_SIDE * abs(turn)
        self._height = FIGURE_HEIGHT * _SMOOTHING
        width = round(self._height * FIGURE_ASPECT)
        self._image = Image.new("RGBa", (width, self._height))
        self._pen = ImageDraw.Draw(self._image)
        self._top = _top_of(figure)

    def image(self) -> Picture:
        """What was drawn, in RGBA."""
        return self._image.reduce(_SMOOTHING).convert("RGBA")

    def draw_legs(self) -> None:
        for side in (-1, 1):
            ankle = self._figure.stance.limbs(side).ankle
            self._draw_leg(side, ankle)

    def _draw_leg(self, side: int, ankle: Point) -> None:
        heel = Point(ankle.x, _SOLE)
        toe = Point(ankle.x + side * _FOOT_LENGTH, _TOE)
        self._draw_limb(_FOOT_WIDTH, _SHOES, heel, toe)
        hip = _HIP.mirrored(side)
        self._draw_limb(_LEG_WIDTH, self._trousers, hip, ankle)

    def draw_torso(self) -> None:
        self._draw_limb(_WAIST_WIDTH, self._trousers, *_WAIST)
        color = self._top
        if self._figure.is_worn:
            color = self._skin
        self._draw_limb(_CHEST_WIDTH, color, *_CHEST)
        self._draw_limb(_SPINE_WIDTH, color, *_SPINE)

    def draw_arms(self) -> None:
        """Draw both arms; below a garment they have its sleeves already."""
        sleeve = mix(self._top, BLACK, 0.05)
        for side in (-1, 1):
            shoulder = _SHOULDER.mirrored(side)
            wrist = _wrist(self._figure, side)
            elbow = _elbow(shoulder, wrist, side)
            self._draw_limb(_ARM_WIDTH, self._skin, shoulder, elbow, wrist)
            sleeve_end = shoulder.towards(elbow, 0.5)
            self._draw_limb(_SLEEVE_WIDTH, sleeve, shoulder, sleeve_end)

    def _draw_limb(
        self,
        width: float,
        color: Color,
        *points: Point,
    ) -> None:
        """Draw a line with round ends through places of the figure."""
        places = [self._place_of(point) for point in points]
        thickness = width * self._height
        self._pen.line(places, fill=color, width=round(thickness))
        radius = thickness / 2 - 1
        for place in places:
            self._pen.circle(place, radius, fill=color)

    def _place_of(self, point: Point) -> Point:
        """A place in pixels; the farther side is narrower."""
        across = point.x * self._height
        if point.x * self._turn < 0:
            across *= self._farther
        middle = self._image.width / 2
        return Point(
            x=middle + across,
            y=point.y * self._height,
        )


def _top_of(figure: Figure) -> Color:
    """The colour of the clothes above: that of a garment, or one that parts from what
    is held.
    """
    if figure.product is None:
        return _LIGHT_TOP
    if figure.is_worn:
        return _mean_color(figure.product)
    if sum(_mean_color(figure.product)) > 3 * _LIGHT:
        return _DARK_TOP
    return _LIGHT_TOP


def _mean_color(product: Picture) -> Color:
    statistics = ImageStat.Stat(product, alpha_of(product))
    return whole_color(statistics.mean)
