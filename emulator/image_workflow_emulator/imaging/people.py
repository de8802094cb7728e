"""People: heads, and whole figures in a pose, which wear or hold a product in front of them.

Must not know any picture that they appear in. Lengths are in heights of the figure, from its middle line and its top.
"""

from functools import lru_cache
from math import dist

from msgspec import Struct
from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.colors import BLACK, Color, mix
from image_workflow_emulator.imaging.drawing import Box, Canvas, arrange, disc

Point = tuple[float, float]

_SMOOTHING = 2  # people are drawn this much larger, in RGBa, of which Pillow reduces the fastest, then reduced
FIGURE_HEIGHT = 720  # pixels
FIGURE_ASPECT = 0.56  # width by height
_PRODUCT = Box(-0.16, 0.195, 0.32, 0.29)
_HALF_ARM = 0.125
_HEAD = Box(-0.095, -0.008, 0.19, 0.19)

_SKINS: tuple[Color, ...] = (
    (224, 178, 144),
    (136, 90, 64),
    (244, 213, 190),
    (188, 134, 98),
    (98, 62, 46),
)
_HAIRS: tuple[Color, ...] = (
    (58, 42, 34),
    (30, 28, 30),
    (120, 78, 44),
    (182, 178, 174),
    (70, 44, 40),
)
_CLOTHES: tuple[Color, ...] = (
    (92, 112, 138),
    (168, 110, 96),
    (104, 128, 108),
    (198, 164, 112),
    (120, 104, 140),
)
_TOP: Color = (238, 234, 228)
_SHOES: Color = (52, 50, 54)


class Stance(Struct, frozen=True):
    """Where the wrists and ankles are; an arm holds a product if there is one and `holds` allows it."""

    wrists: tuple[Point, Point]
    ankles: tuple[Point, Point]
    holds: tuple[bool, bool] = (True, True)
    turn: float = 0.0
    """Draws head and shoulders, as in `draw_figure`."""


STANCES = {
    "stand": Stance(((-0.14, 0.48), (0.14, 0.48)), ((-0.06, 0.95), (0.06, 0.95))),
    "turn": Stance(
        ((-0.10, 0.46), (0.14, 0.47)), ((-0.02, 0.95), (0.12, 0.94)), turn=0.7
    ),
    "walk": Stance(
        ((-0.215, 0.45), (0.19, 0.45)),
        ((-0.18, 0.93), (0.125, 0.95)),
        holds=(False, True),
    ),
    "hip": Stance(
        ((-0.15, 0.48), (0.085, 0.42)),
        ((-0.045, 0.95), (0.115, 0.94)),
        holds=(True, False),
    ),
}
"""By a part of a Pose's name."""


class Person(Struct, frozen=True):
    """How somebody looks: the shape of the hair, and colours."""

    gender: str
    hair: Color
    skin: Color
    cloth: Color


def person_of(
    index: int, gender: str | None = None, skin: Color | None = None
) -> Person:
    """Somebody; `index` chooses what is None, and the other colours."""
    genders = ("female", "neutral", "male")
    skin = skin or _SKINS[index % len(_SKINS)]
    return Person(
        gender or genders[index % 3],
        _HAIRS[index % len(_HAIRS)],
        skin,
        _CLOTHES[index % len(_CLOTHES)],
    )


def stance_of(name: str | None) -> Stance:
    """The stance that the name of a Pose contains; else that of standing."""
    return next(
        (stance for word, stance in STANCES.items() if word in (name or "").casefold()),
        STANCES["stand"],
    )


@lru_cache(maxsize=8)
def draw_head(person: Person, edge: int, turn: float = 0.0) -> Image.Image:
    """A head with its neck, in RGBA, in a square; its face looks to the left below 0, to the right above."""
    unit = edge * _SMOOTHING
    image = Image.new("RGBa", (unit, unit))
    draw = ImageDraw.Draw(image)
    skin, hair, aside = person.skin, person.hair, 0.09 * turn

    def box(
        left: float, top: float, right: float, bottom: float
    ) -> tuple[float, float, float, float]:
        return left * unit, top * unit, right * unit, bottom * unit

    if person.gender != "male":
        length = 0.94 if person.gender == "female" else 0.7
        draw.rounded_rectangle(
            box(0.19, 0.04, 0.81, length), unit * 0.28, fill=mix(hair, BLACK, 0.15)
        )
    draw.rounded_rectangle(
        box(0.41, 0.6, 0.59, 1.05), unit * 0.09, fill=mix(skin, BLACK, 0.14)
    )
    draw.rounded_rectangle(box(0.28, 0.13, 0.72, 0.76), unit * 0.22, fill=skin)
    draw.chord(
        box(0.245, 0.035, 0.755, 0.67),
        *((196, 344) if person.gender == "male" else (182, 358)),
        fill=hair,
    )
    if person.gender != "male":
        draw.chord(box(0.3, 0.2, 0.9, 0.76), 180, 270, fill=skin)
    for x in (0.41 + aside, 0.59 + aside):
        draw.ellipse(box(x - 0.022, 0.42, x + 0.022, 0.464), fill=(44, 36, 36))
    mouth = box(0.41 + aside, 0.47, 0.59 + aside, 0.62)
    draw.arc(
        mouth, 25, 155, fill=mix(skin, (140, 40, 40), 0.55), width=max(1, unit // 48)
    )
    return image.reduce(_SMOOTHING).convert("RGBA")


def draw_figure(
    stance: Stance,
    person: Person,
    head: Image.Image | None = None,
    product: Image.Image | None = None,
    turn: float = 0.0,
) -> Image.Image:
    """A figure in RGBA, with another head and with a product if these are given, both in RGB or RGBA.

    `turn` is to the left below 0 and to the right above 0, by three quarters at 1: the farther side is narrower. At 0,
    the stance decides.
    """
    turn = turn or stance.turn
    held = (
        arrange([product.width / product.height], _in_pixels(_PRODUCT), 0)[0]
        if product
        else None
    )
    grip = (
        (
            held.width / 2 / FIGURE_HEIGHT,
            (held.top + held.height * 0.62) / FIGURE_HEIGHT,
        )
        if held
        else None
    )
    figure = Canvas(_draw_body(stance, person, grip, turn).copy())
    head = head or draw_head(person, 160, turn)
    place = _HEAD._replace(left=_HEAD.left + 0.02 * turn)
    figure.paint(
        head,
        arrange(
            [head.width / head.height * (1 - 0.2 * abs(turn))],
            _in_pixels(place),
            0,
            1.0,
        )[0],
    )
    if product and held and grip:
        figure.paint(product, held)
        for side, holds in zip((-1, 1), stance.holds, strict=True):
            if holds:
                hand = Box(side * grip[0] - 0.022, grip[1] - 0.022, 0.044, 0.05)
                figure.paint(disc(mix(person.skin, BLACK, 0.06), 64), _in_pixels(hand))
    return figure.image


@lru_cache(maxsize=8)
def _draw_body(
    stance: Stance, person: Person, grip: Point | None, turn: float
) -> Image.Image:
    """All of a figure but its head, in RGBA; `grip` is where its right hand holds something."""
    height = FIGURE_HEIGHT * _SMOOTHING
    image = Image.new("RGBa", (round(height * FIGURE_ASPECT), height))
    draw = ImageDraw.Draw(image)
    skin, trousers, far = (
        person.skin,
        mix(person.cloth, BLACK, 0.3),
        1 - 0.45 * abs(turn),
    )

    def limb(width: float, color: Color, *points: Point) -> None:
        line = [
            (image.width / 2 + x * height * (far if x * turn < 0 else 1.0), y * height)
            for x, y in points
        ]
        draw.line(line, fill=color, width=round(width * height))
        for x, y in line:
            radius = width * height / 2 - 1
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)

    for side, ankle in zip((-1, 1), stance.ankles, strict=True):
        limb(0.044, _SHOES, (ankle[0], 0.972), (ankle[0] + side * 0.03, 0.974))
        limb(0.062, trousers, (side * 0.042, 0.48), ankle)
    limb(0.075, trousers, (-0.045, 0.465), (0.045, 0.465))
    limb(
        0.07,
        _TOP,
        (-0.062, 0.22),
        (0.062, 0.22),
        (0.04, 0.42),
        (-0.04, 0.42),
        (-0.062, 0.22),
    )
    limb(0.1, _TOP, (0, 0.22), (0, 0.43))
    for side, wrist, holds in zip((-1, 1), stance.wrists, stance.holds, strict=True):
        shoulder, hand = (
            (side * 0.088, 0.222),
            (side * grip[0], grip[1]) if grip and holds else wrist,
        )
        elbow = _elbow(shoulder, hand, side)
        limb(0.038, skin, shoulder, elbow, hand)
        limb(
            0.056,
            mix(_TOP, BLACK, 0.05),
            shoulder,
            ((shoulder[0] + elbow[0]) / 2, (shoulder[1] + elbow[1]) / 2),
        )
    return image.reduce(_SMOOTHING).convert("RGBA")


def _elbow(shoulder: Point, wrist: Point, side: int) -> Point:
    """Outwards of the line between shoulder and wrist, as far as the length of an arm makes it."""
    across, down = wrist[0] - shoulder[0], wrist[1] - shoulder[1]
    reach = dist(shoulder, wrist)
    out = side * max(0.0, _HALF_ARM**2 - reach**2 / 4) ** 0.5 / reach
    return shoulder[0] + across / 2 + down * out, shoulder[1] + down / 2 - across * out


def _in_pixels(box: Box) -> Box:
    left, top, width, height = (length * FIGURE_HEIGHT for length in box)
    return Box(left + FIGURE_HEIGHT * FIGURE_ASPECT / 2, top, width, height)


def paint_portrait(canvas: Canvas, person: Person, room: Box) -> None:
    """Paint head and shoulders into the largest square of a room; the shoulders end below it."""
    box = arrange([1.0], room, 0)[0]
    head = box.part(0.655, 0.5, 0.15)
    shoulders = Box(
        box.left + box.width * 0.16,
        head.top + head.height * 0.96,
        box.width * 0.68,
        box.height * 0.7,
    )
    canvas.paint(disc(person.cloth), shoulders)
    canvas.paint(draw_head(person, round(head.width)), head)
