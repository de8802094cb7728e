"""Stylised people: whole figures in a stance.

Owns how they look. Must not know in which picture they appear.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image, ImageChops, ImageDraw

from emulator.imaging.drawing import WHITE, Color, Dice, mix

Point = tuple[float, float]

FIGURE_ASPECT = 0.5  # width by height
_HEIGHT = 640  # pixels
_SMOOTHING = 2

SKINS: tuple[Color, ...] = ((244, 213, 190), (224, 178, 144), (188, 134, 98), (136, 90, 64), (98, 62, 46))
HAIRS: tuple[Color, ...] = ((58, 42, 34), (30, 28, 30), (120, 78, 44), (176, 128, 70), (142, 60, 38))
CLOTHES: tuple[Color, ...] = ((92, 112, 138), (168, 110, 96), (104, 128, 108), (198, 164, 112), (120, 104, 140))
_MANNEQUIN: Color = (226, 208, 188)


@dataclass(frozen=True, slots=True)
class Stance:
    """Joints of a figure in a box of width 0.5 and height 1, x from its middle line; limbs as (left, right)."""

    elbows: tuple[Point, Point]
    wrists: tuple[Point, Point]
    knees: tuple[Point, Point]
    ankles: tuple[Point, Point]
    lean: float = 0.0
    """How far the head and shoulders are aside of the hips."""


STANCES: Mapping[str, Stance] = {
    "standing": Stance(
        ((-0.135, 0.33), (0.135, 0.33)), ((-0.14, 0.48), (0.14, 0.48)), ((-0.06, 0.70), (0.06, 0.70)),
        ((-0.065, 0.93), (0.065, 0.93)),
    ),
    "turned": Stance(
        ((-0.10, 0.34), (0.14, 0.32)), ((-0.04, 0.47), (0.11, 0.47)), ((-0.045, 0.70), (0.075, 0.69)),
        ((-0.03, 0.93), (0.125, 0.92)), 0.015,
    ),
    "walking": Stance(
        ((-0.15, 0.32), (0.13, 0.33)), ((-0.19, 0.44), (0.17, 0.43)), ((-0.10, 0.69), (0.085, 0.68)),
        ((-0.185, 0.90), (0.12, 0.93)), 0.01,
    ),
    "hand on hip": Stance(
        ((-0.135, 0.33), (0.20, 0.34)), ((-0.15, 0.48), (0.085, 0.445)), ((-0.06, 0.70), (0.085, 0.70)),
        ((-0.05, 0.93), (0.12, 0.925)), -0.015,
    ),
    "arms raised": Stance(
        ((-0.175, 0.14), (0.175, 0.14)), ((-0.13, 0.045), (0.14, 0.05)), ((-0.06, 0.70), (0.06, 0.70)),
        ((-0.08, 0.93), (0.08, 0.93)),
    ),
    "leaning": Stance(
        ((-0.17, 0.30), (0.11, 0.35)), ((-0.20, 0.43), (0.04, 0.42)), ((-0.03, 0.70), (0.10, 0.68)),
        ((-0.02, 0.93), (0.04, 0.92)), -0.04,
    ),
}  # fmt: skip
STANCE_NAMES = tuple(STANCES)


@dataclass(frozen=True, slots=True)
class Dress:
    """The colours of a figure; `shirt` None is a bare mannequin."""

    skin: Color
    hair: Color | None
    shirt: Color | None
    trousers: Color | None


MANNEQUIN = Dress(_MANNEQUIN, None, None, None)


def dress_of(dice: Dice) -> Dress:
    """A dressed person, by throws of the dice."""
    shirt = pick(CLOTHES, dice)
    trousers = mix(pick(CLOTHES, dice), (30, 32, 40), 0.6)
    return Dress(pick(SKINS, dice), pick(HAIRS, dice), mix(shirt, WHITE, 0.25), trousers)


def pick(colors: tuple[Color, ...], dice: Dice) -> Color:
    """One of the colours, by the next throw."""
    return colors[min(len(colors) - 1, int(dice.throw() * len(colors)))]


def draw_figure(stance: Stance, dress: Dress) -> tuple[Image.Image, Image.Image]:
    """A figure as RGB pixels and its mask, lit from the left."""
    size = (int(_HEIGHT * FIGURE_ASPECT) * _SMOOTHING, _HEIGHT * _SMOOTHING)
    image, mask = Image.new("RGB", size, dress.skin), Image.new("L", size, 0)
    for canvas, is_mask in ((image, False), (mask, True)):
        _Pencil(ImageDraw.Draw(canvas), size, is_mask).figure(stance, dress)
    image, mask = image.reduce(_SMOOTHING), mask.reduce(_SMOOTHING)
    return _lit_from_left(image), mask


def _lit_from_left(image: Image.Image) -> Image.Image:
    light = Image.frombytes("L", (image.width, 1), bytes(255 - 55 * x // image.width for x in range(image.width)))
    return ImageChops.multiply(image, Image.merge("RGB", [light] * 3).resize(image.size, Image.Resampling.NEAREST))


class _Pencil:
    """Draws body parts in the units of a Stance; into a mask, everything is white."""

    def __init__(self, draw: ImageDraw.ImageDraw, size: tuple[int, int], is_mask: bool) -> None:
        self._draw, self._size, self._is_mask = draw, size, is_mask

    def figure(self, stance: Stance, dress: Dress) -> None:
        seam = mix(dress.skin, (90, 70, 60), 0.35) if dress.shirt is None else None
        sleeve, trousers = dress.shirt or dress.skin, dress.trousers or dress.skin
        lean = stance.lean
        shoulders = ((-0.1 + lean, 0.205), (0.1 + lean, 0.205))
        hips = ((-0.05, 0.49), (0.05, 0.49))
        shoe = mix(trousers, (20, 20, 24), 0.55) if dress.trousers else dress.skin
        for side in (0, 1):
            self._limb(hips[side], stance.knees[side], 0.054, 0.040, trousers)
            self._limb(stance.knees[side], stance.ankles[side], 0.040, 0.024, trousers)
            self._foot(stance.ankles[side], -1 if side == 0 else 1, shoe)
        self._limb((lean, 0.20), (lean, 0.12), 0.026, 0.024, mix(dress.skin, (90, 60, 50), 0.12))
        self._torso(shoulders, hips, mix(sleeve, (60, 50, 50), 0.1))
        for side in (0, 1):
            self._limb(shoulders[side], stance.elbows[side], 0.032, 0.026, sleeve)
            self._limb(stance.elbows[side], stance.wrists[side], 0.025, 0.017, dress.skin)
            self._ball(stance.wrists[side], 0.022, dress.skin)
        self._head(lean, dress)
        if seam:
            for joint in (*stance.knees, *stance.elbows, *shoulders, *hips):
                self._ring(joint, 0.018, seam)

    def _head(self, lean: float, dress: Dress) -> None:
        if dress.hair:
            self._ellipse((lean, 0.068), 0.052, 0.062, dress.hair)
        self._ellipse((lean, 0.082), 0.043, 0.058, dress.skin)
        if dress.hair:
            self._ellipse((lean, 0.034), 0.040, 0.020, dress.hair)

    def _torso(self, shoulders: tuple[Point, Point], hips: tuple[Point, Point], color: Color) -> None:
        middle = (shoulders[0][0] + shoulders[1][0]) / 4
        outline = [
            (shoulders[0][0] - 0.01, 0.19), (shoulders[0][0] + 0.06, 0.165), (shoulders[1][0] - 0.06, 0.165),
            (shoulders[1][0] + 0.01, 0.19), (middle + 0.08, 0.38), (hips[1][0] + 0.05, 0.50),
            (hips[0][0] - 0.05, 0.50), (middle - 0.08, 0.38),
        ]  # fmt: skip
        self._draw.polygon([self._at(point) for point in outline], fill=self._ink(color))
        self._limb(hips[0], hips[1], 0.05, 0.05, color)

    def _limb(self, start: Point, end: Point, start_radius: float, end_radius: float, color: Color) -> None:
        (x0, y0), (x1, y1) = start, end
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1.0
        across, down = (y0 - y1) / length, (x1 - x0) / length
        outline = [
            (x0 + across * start_radius, y0 + down * start_radius), (x1 + across * end_radius, y1 + down * end_radius),
            (x1 - across * end_radius, y1 - down * end_radius), (x0 - across * start_radius, y0 - down * start_radius),
        ]  # fmt: skip
        self._draw.polygon([self._at(point) for point in outline], fill=self._ink(color))
        self._ball(start, start_radius, color)
        self._ball(end, end_radius, color)

    def _foot(self, ankle: Point, direction: int, color: Color) -> None:
        self._ellipse((ankle[0] + direction * 0.012, ankle[1] + 0.022), 0.036, 0.020, color)

    def _ball(self, center: Point, radius: float, color: Color) -> None:
        self._ellipse(center, radius, radius, color)

    def _ellipse(self, center: Point, across: float, down: float, color: Color) -> None:
        box = [*self._at((center[0] - across, center[1] - down)), *self._at((center[0] + across, center[1] + down))]
        self._draw.ellipse(box, fill=self._ink(color))

    def _ring(self, center: Point, radius: float, color: Color) -> None:
        if self._is_mask:
            return
        box = [*self._at((center[0] - radius, center[1] - radius)), *self._at((center[0] + radius, center[1] + radius))]
        self._draw.ellipse(box, outline=color, width=3)

    def _at(self, point: Point) -> Point:
        return (point[0] / FIGURE_ASPECT + 0.5) * self._size[0], point[1] * self._size[1]

    def _ink(self, color: Color) -> Color | int:
        return 255 if self._is_mask else color
