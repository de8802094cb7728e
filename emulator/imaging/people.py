"""People as pictograms: heads and shoulders, and whole figures in a pose.

Must not know any picture that they appear in.
"""

from collections.abc import Mapping

from PIL import Image, ImageDraw

from emulator.imaging.drawing import BLACK, WHITE, Color, mix

Point = tuple[float, float]

_SMOOTHING = 2  # people are drawn this much larger, then reduced
_FIGURE_HEIGHT = 640  # pixels
FIGURE_ASPECT = 0.5  # width by height

_SKINS: tuple[Color, ...] = ((224, 178, 144), (136, 90, 64), (244, 213, 190), (188, 134, 98), (98, 62, 46))
_HAIRS: tuple[Color, ...] = ((58, 42, 34), (30, 28, 30), (120, 78, 44), (92, 56, 40), (70, 44, 40))
_CLOTHES: tuple[Color, ...] = ((92, 112, 138), (168, 110, 96), (104, 128, 108), (198, 164, 112), (120, 104, 140))
_GREY: Mapping[str, float] = {"45-55": 0.55, "55+": 1.0}
"""How grey the hair is, by age range."""

_STANCES: Mapping[str, tuple[Point, ...]] = {
    "stand": ((-0.135, 0.34), (-0.14, 0.50), (0.135, 0.34), (0.14, 0.50), (-0.06, 0.71), (-0.065, 0.96), (0.06, 0.71), (0.065, 0.96)),
    "turn": ((-0.10, 0.34), (-0.04, 0.47), (0.14, 0.33), (0.12, 0.49), (-0.045, 0.71), (-0.03, 0.96), (0.085, 0.70), (0.14, 0.94)),
    "walk": ((-0.15, 0.32), (-0.20, 0.45), (0.13, 0.34), (0.19, 0.45), (-0.09, 0.70), (-0.19, 0.93), (0.09, 0.69), (0.13, 0.96)),
    "hip": ((-0.135, 0.34), (-0.15, 0.50), (0.205, 0.34), (0.085, 0.45), (-0.06, 0.71), (-0.05, 0.96), (0.085, 0.70), (0.12, 0.95)),
}  # fmt: skip
"""By a part of a Pose's name: elbow and wrist of each arm, knee and ankle of each leg, x from the middle line."""


def draw_portrait(gender: str, age_range: str, index: int, edge: int) -> Image.Image:
    """A square portrait; `index` chooses the colours."""
    unit = edge * _SMOOTHING
    skin, cloth = _SKINS[index % len(_SKINS)], _CLOTHES[index % len(_CLOTHES)]
    hair = mix(_HAIRS[index % len(_HAIRS)], (196, 194, 194), _GREY.get(age_range, 0.0))
    image = Image.new("RGB", (unit, unit), mix(cloth, WHITE, 0.66))
    draw = ImageDraw.Draw(image)

    def box(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        return left * unit, top * unit, right * unit, bottom * unit

    if gender == "female":
        draw.rounded_rectangle(box(0.28, 0.16, 0.72, 0.80), unit * 0.21, fill=mix(hair, BLACK, 0.15))
    elif gender == "neutral":
        draw.rounded_rectangle(box(0.29, 0.16, 0.71, 0.60), unit * 0.18, fill=mix(hair, BLACK, 0.15))
    half = 0.37 if gender == "male" else 0.32
    draw.rounded_rectangle(box(0.5 - half, 0.76, 0.5 + half, 1.3), unit * 0.17, fill=cloth)
    draw.rounded_rectangle(box(0.43, 0.55, 0.57, 0.81), unit * 0.07, fill=mix(skin, BLACK, 0.14))
    draw.rounded_rectangle(box(0.345, 0.22, 0.655, 0.66), unit * 0.155, fill=skin)
    draw.chord(box(0.32, 0.155, 0.68, 0.60), *((196, 344) if gender == "male" else (182, 358)), fill=hair)
    if gender != "male":
        draw.chord(box(0.36, 0.27, 0.78, 0.66), 180, 270, fill=skin)
    for x in (0.435, 0.565):
        draw.ellipse(box(x - 0.014, 0.43, x + 0.014, 0.458), fill=(44, 36, 36))
    draw.arc(box(0.44, 0.47, 0.56, 0.565), 25, 155, fill=mix(skin, (140, 40, 40), 0.55), width=max(1, unit // 70))
    return image.reduce(_SMOOTHING)


def draw_figure(name: str) -> Image.Image:
    """The mask of a figure in the stance that the name of a Pose contains; else it stands."""
    joints = next((joints for word, joints in _STANCES.items() if word in name.casefold()), _STANCES["stand"])
    height = _FIGURE_HEIGHT * _SMOOTHING
    mask = Image.new("L", (round(height * FIGURE_ASPECT), height), 0)
    draw = ImageDraw.Draw(mask)

    def ball(point: Point, radius: float) -> None:
        x, y = mask.width / 2 + point[0] * height, point[1] * height
        draw.ellipse((x - radius * height, y - radius * height, x + radius * height, y + radius * height), fill=255)

    def limb(points: tuple[Point, ...], radius: float) -> None:
        line = [(mask.width / 2 + x * height, y * height) for x, y in points]
        draw.line(line, fill=255, width=round(2 * radius * height))
        for point in points:
            ball(point, radius)

    left_elbow, left_wrist, right_elbow, right_wrist, left_knee, left_ankle, right_knee, right_ankle = joints
    ball((0.0, 0.085), 0.062)
    limb(((-0.07, 0.22), (0.07, 0.22), (0.045, 0.48), (-0.045, 0.48), (-0.07, 0.22)), 0.036)
    limb(((0.0, 0.22), (0.0, 0.48)), 0.06)
    limb(((-0.085, 0.21), left_elbow, left_wrist), 0.025)
    limb(((0.085, 0.21), right_elbow, right_wrist), 0.025)
    limb(((-0.045, 0.48), left_knee, left_ankle), 0.034)
    limb(((0.045, 0.48), right_knee, right_ankle), 0.034)
    return mask.reduce(_SMOOTHING)
