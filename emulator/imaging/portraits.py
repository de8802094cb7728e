"""Stylised heads and shoulders: what a Fashion Model looks like.

Must not know in which picture they appear.
"""

from PIL import Image, ImageDraw

from emulator.imaging.drawing import WHITE, Color, Dice, mix
from emulator.imaging.figures import CLOTHES, HAIRS, SKINS, pick

_UNIT = 1200  # pixels an edge of the square that is drawn, then reduced
_GREY_HAIR: Color = (188, 186, 186)
_SHADE: Color = (70, 40, 40)


def draw_portrait(name: str, gender: str, age_range: str, index: int) -> Image.Image:
    """A square portrait, by the words of a Fashion Model; `index` turns the colours."""
    dice = Dice("portrait", name, index)
    skin, hair, top = SKINS[(index * 2 + 1) % len(SKINS)], HAIRS[index % len(HAIRS)], CLOTHES[index % len(CLOTHES)]
    if age_range == "55+":
        hair = _GREY_HAIR
    elif age_range == "45-55":
        hair = mix(hair, (128, 124, 122), 0.7)
    wall = mix(pick(CLOTHES, dice), WHITE, 0.72)
    image = Image.new("RGB", (_UNIT, _UNIT), wall)
    painter = _Painter(ImageDraw.Draw(image), skin, hair)
    painter.ellipse(0.5, 0.5, 0.42, 0.42, mix(wall, WHITE, 0.4))
    if gender == "female":
        painter.long_hair_behind()
    painter.shoulders(mix(top, WHITE, 0.1), broad=gender == "male")
    painter.face()
    {"female": painter.parted_hair, "male": painter.short_hair}.get(gender, painter.bob)()
    painter.features(lips=gender == "female", beard=gender == "male" and index % 2 == 1, lines=age_range in _LINED)
    return image.reduce(2)


_LINED = ("45-55", "55+")


class _Painter:
    """Draws in units of the square's edge."""

    def __init__(self, draw: ImageDraw.ImageDraw, skin: Color, hair: Color) -> None:
        self._draw, self._skin, self._hair = draw, skin, hair

    def ellipse(self, x: float, y: float, across: float, down: float, color: Color) -> None:
        self._draw.ellipse(_box(x, y, across, down), fill=color)

    def long_hair_behind(self) -> None:
        shadow = mix(self._hair, (0, 0, 0), 0.18)
        self.ellipse(0.5, 0.38, 0.215, 0.235, shadow)
        self._draw.rounded_rectangle(_box(0.5, 0.58, 0.215, 0.21), _UNIT // 14, fill=shadow)

    def shoulders(self, color: Color, broad: bool) -> None:
        half = 0.36 if broad else 0.31
        self._draw.rounded_rectangle(_box(0.5, 1.0, half, 0.235), _UNIT // 7, fill=color)
        neck = 0.078 if broad else 0.066
        shaded = mix(self._skin, _SHADE, 0.16)
        self._draw.rectangle(_box(0.5, 0.68, neck, 0.10), fill=shaded)
        self.ellipse(0.5, 0.775, neck * 1.55, 0.055, shaded)

    def face(self) -> None:
        for side in (-1, 1):
            self.ellipse(0.5 + side * 0.152, 0.455, 0.026, 0.042, mix(self._skin, _SHADE, 0.12))
        self.ellipse(0.5, 0.40, 0.152, 0.16, self._skin)
        self._draw.rounded_rectangle(_box(0.5, 0.49, 0.148, 0.135), _UNIT // 9, fill=self._skin)
        self.ellipse(0.5, 0.57, 0.105, 0.078, self._skin)

    def parted_hair(self) -> None:
        self._draw.pieslice(_box(0.5, 0.385, 0.178, 0.195), 180, 360, fill=self._hair)
        for side in (-1, 1):
            self._draw.rounded_rectangle(_box(0.5 + side * 0.165, 0.50, 0.03, 0.15), _UNIT // 40, fill=self._hair)
        self._draw.pieslice(_box(0.5, 0.42, 0.135, 0.15), 180, 360, fill=self._skin)
        self._draw.polygon(_points((0.43, 0.25), (0.60, 0.26), (0.645, 0.40), (0.585, 0.335)), fill=self._hair)

    def short_hair(self) -> None:
        self._draw.pieslice(_box(0.5, 0.36, 0.166, 0.165), 180, 360, fill=self._hair)
        self._draw.rounded_rectangle(_box(0.5, 0.335, 0.166, 0.035), _UNIT // 34, fill=self._hair)
        for side in (-1, 1):
            self._draw.rectangle(_box(0.5 + side * 0.154, 0.40, 0.011, 0.05), fill=self._hair)

    def bob(self) -> None:
        self._draw.pieslice(_box(0.5, 0.39, 0.182, 0.20), 180, 360, fill=self._hair)
        for side in (-1, 1):
            self._draw.rounded_rectangle(_box(0.5 + side * 0.162, 0.455, 0.032, 0.105), _UNIT // 36, fill=self._hair)
        self._draw.polygon(_points((0.42, 0.33), (0.37, 0.395), (0.375, 0.42), (0.55, 0.35)), fill=self._skin)

    def features(self, lips: bool, beard: bool, lines: bool) -> None:
        dark = mix(self._skin, (40, 26, 26), 0.8)
        if beard:
            self._draw.chord(_box(0.5, 0.53, 0.148, 0.122), 12, 168, fill=mix(self._hair, self._skin, 0.25))
        for side in (-1, 1):
            x = 0.5 + side * 0.067
            self.ellipse(x, 0.45, 0.026, 0.0135, (250, 248, 245))
            self.ellipse(x, 0.45, 0.0135, 0.0135, (58, 44, 40))
            self._draw.arc(_box(x, 0.452, 0.031, 0.021), 190, 350, fill=dark, width=7)
            self._draw.arc(_box(x, 0.432, 0.044, 0.030), 205, 335, fill=mix(self._hair, dark, 0.6), width=11)
            self.ellipse(0.5 + side * 0.095, 0.52, 0.028, 0.018, mix(self._skin, (226, 110, 100), 0.16))
            if lines:
                self._draw.arc(_box(0.5 + side * 0.052, 0.565, 0.03, 0.05), 250 if side > 0 else 200, 340 if side > 0 else 290,
                               fill=mix(self._skin, _SHADE, 0.3), width=4)  # fmt: skip
        self._draw.arc(_box(0.5, 0.50, 0.022, 0.024), 20, 160, fill=mix(self._skin, _SHADE, 0.45), width=7)
        mouth = (176, 74, 78) if lips else mix(self._skin, (140, 60, 60), 0.55)
        self._draw.chord(_box(0.5, 0.556, 0.046, 0.030), 10, 170, fill=mouth)


def _box(x: float, y: float, across: float, down: float) -> tuple[float, float, float, float]:
    return (x - across) * _UNIT, (y - down) * _UNIT, (x + across) * _UNIT, (y + down) * _UNIT


def _points(*points: tuple[float, float]) -> list[tuple[float, float]]:
    return [(x * _UNIT, y * _UNIT) for x, y in points]
