"""Heads: drawn ones, and those in the pictures of Fashion Models, with the colour of
their skin.
"""

from colorsys import rgb_to_hsv

from msgspec import Struct
from PIL import Image, ImageDraw, ImageStat

from image_workflow_emulator.imaging.canvas import Canvas, disc
from image_workflow_emulator.imaging.colors import BLACK, Color, mix
from image_workflow_emulator.imaging.cutouts import cut_out
from image_workflow_emulator.imaging.geometry import Box

_SMOOTHING = 2
"""Heads are drawn this much larger, in RGBa, of which Pillow reduces the fastest, then
reduced.
"""
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
_GENDERS = ("female", "neutral", "male")
_EYES: Color = (44, 36, 36)
_LIPS: Color = (140, 40, 40)

NEUTRAL_SKIN: Color = (190, 178, 168)
"""Where a picture shows no skin."""
_SKIN_EDGE = 24
"""Pixels of the small picture in which skin is looked for."""
_SKIN_HUE = 0.14
"""The hue of skin, from red up to here."""
_SKIN_SATURATION = (0.12, 0.75)
_SKIN_BRIGHTNESS = 0.3
_LEAST_SKIN = 0.08
"""Of a picture, that must be of the colours of skin."""

_HEAD_EDGE = 240
_HEAD_SHARE = 0.66
"""Of a model's picture, that is taken for the head."""


class Person(Struct, frozen=True):
    """How somebody looks: the shape of the hair, and colours."""

    gender: str
    hair: Color
    skin: Color
    cloth: Color


def person_of(
    number: int, gender: str | None = None, skin: Color | None = None
) -> Person:
    """Somebody; `number` chooses what is None, and the other colours."""
    return Person(
        gender=gender or _GENDERS[number % len(_GENDERS)],
        hair=_HAIRS[number % len(_HAIRS)],
        skin=skin or _SKINS[number % len(_SKINS)],
        cloth=_CLOTHES[number % len(_CLOTHES)],
    )


# Drawn --------------------------------------------------------------------------------


def draw_head(person: Person, edge: int, turn: float = 0.0) -> Image.Image:
    """A head with its neck, in RGBA, in a square; its face looks to the left below 0,
    to the right above.
    """
    return _HeadDrawing(person, edge * _SMOOTHING, turn).draw()


class _HeadDrawing:
    """A head in the making; places are shares of its edge."""

    def __init__(self, person: Person, edge: int, turn: float) -> None:
        self._person = person
        self._edge = edge
        self._aside = 0.09 * turn
        self._image = Image.new("RGBa", (edge, edge))
        self._pen = ImageDraw.Draw(self._image)

    def draw(self) -> Image.Image:
        is_long = self._person.gender != "male"
        if is_long:
            self._draw_long_hair()
        self._draw_face()
        self._draw_crown(is_long)
        self._draw_features()
        return self._image.reduce(_SMOOTHING).convert("RGBA")

    def _draw_long_hair(self) -> None:
        bottom = 0.94 if self._person.gender == "female" else 0.7
        color = mix(self._person.hair, BLACK, 0.15)
        self._draw_rounded((0.19, 0.04, 0.81, bottom), 0.28, color)

    def _draw_face(self) -> None:
        neck = mix(self._person.skin, BLACK, 0.14)
        self._draw_rounded((0.41, 0.6, 0.59, 1.05), 0.09, neck)
        self._draw_rounded((0.28, 0.13, 0.72, 0.76), 0.22, self._person.skin)

    def _draw_crown(self, is_long: bool) -> None:
        place = self._scaled((0.245, 0.035, 0.755, 0.67))
        if not is_long:
            self._pen.chord(place, 196, 344, fill=self._person.hair)
            return
        self._pen.chord(place, 182, 358, fill=self._person.hair)
        forehead = self._scaled((0.3, 0.2, 0.9, 0.76))
        self._pen.chord(forehead, 180, 270, fill=self._person.skin)

    def _draw_features(self) -> None:
        for eye in (0.41 + self._aside, 0.59 + self._aside):
            place = self._scaled((eye - 0.022, 0.42, eye + 0.022, 0.464))
            self._pen.ellipse(place, fill=_EYES)
        mouth = self._scaled((0.41 + self._aside, 0.47, 0.59 + self._aside, 0.62))
        color = mix(self._person.skin, _LIPS, 0.55)
        self._pen.arc(mouth, 25, 155, fill=color, width=max(1, self._edge // 48))

    def _draw_rounded(
        self, outline: tuple[float, float, float, float], radius: float, color: Color
    ) -> None:
        place = self._scaled(outline)
        self._pen.rounded_rectangle(place, self._edge * radius, fill=color)

    def _scaled(
        self, place: tuple[float, float, float, float]
    ) -> tuple[float, float, float, float]:
        left, top, right, bottom = (share * self._edge for share in place)
        return left, top, right, bottom


def paint_portrait(canvas: Canvas, person: Person, room: Box) -> None:
    """Paint head and shoulders into the largest square of a room; the shoulders end
    below it.
    """
    square = room.fit(1.0, down=0)
    edge = square.width * 0.655
    head = square.place(edge, edge, down=0.15)
    chest = Box(0, head.top + edge * 0.96, square.width * 0.68, square.height * 0.7)
    shoulders = chest._replace(left=square.middle - chest.width / 2)
    canvas.paint(disc(person.cloth), shoulders)
    canvas.paint(draw_head(person, round(edge)), head)


# Photographed -------------------------------------------------------------------------


def head_in(picture: Image.Image) -> Image.Image:
    """The head in a Fashion Model's picture: cut out if it has a plain ground, else in
    a circle.
    """
    edge = min(picture.size) * _HEAD_SHARE
    left = (picture.width - edge) / 2
    top = (picture.height - edge) * 0.2
    head = picture.resize(
        (_HEAD_EDGE, _HEAD_EDGE),
        Image.Resampling.BILINEAR,
        (left, top, left + edge, top + edge),
        reducing_gap=1.0,
    )
    return cut_out(head) or disc(head, _HEAD_EDGE)


def skin_of(head: Image.Image) -> Color:
    """The colour of the skin in a picture of a head; a neutral one if none is seen."""
    small = head.convert("RGB").resize((_SKIN_EDGE, _SKIN_EDGE), Image.Resampling.BOX)
    data = small.tobytes()
    levels = bytearray()
    for place in range(0, len(data), 3):
        is_skin = _is_skin(data[place], data[place + 1], data[place + 2])
        levels.append(255 if is_skin else 0)
    mask = Image.frombytes("L", small.size, bytes(levels))
    if ImageStat.Stat(mask).mean[0] < 255 * _LEAST_SKIN:
        return NEUTRAL_SKIN
    red, green, blue = ImageStat.Stat(small, mask).median
    return red, green, blue


def _is_skin(red: int, green: int, blue: int) -> bool:
    """Whether a colour is one that skin has: reddish to yellowish, neither grey nor
    gaudy.
    """
    hue, saturation, brightness = rgb_to_hsv(red / 255, green / 255, blue / 255)
    least, most = _SKIN_SATURATION
    if brightness < _SKIN_BRIGHTNESS or hue > _SKIN_HUE:
        return False
    return least < saturation < most
