"""Heads that are drawn, and portraits with their shoulders."""

from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.canvas import Canvas, disc
from image_workflow_emulator.imaging.colors import BLACK, Color, mix
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.people import Person
from image_workflow_emulator.imaging.pictures import Corners, Picture

_SMOOTHING = 2
"""Heads are drawn this much larger, in RGBa, of which Pillow reduces the fastest, then
reduced.
"""
_EYES: Color = (44, 36, 36)
_LIPS: Color = (140, 40, 40)

_LONG_HAIR = Box(
    left=0.19,
    top=0.04,
    width=0.62,
    height=0.9,
)
_HALF_LONG_HAIR = _LONG_HAIR._replace(height=0.66)
_NECK = Box(
    left=0.41,
    top=0.6,
    width=0.18,
    height=0.45,
)
_FACE = Box(
    left=0.28,
    top=0.13,
    width=0.44,
    height=0.63,
)
_CROWN = Box(
    left=0.245,
    top=0.035,
    width=0.51,
    height=0.635,
)
_FOREHEAD = Box(
    left=0.3,
    top=0.2,
    width=0.6,
    height=0.56,
)
_LEFT_EYE = Box(
    left=0.388,
    top=0.42,
    width=0.044,
    height=0.044,
)
_RIGHT_EYE = _LEFT_EYE._replace(left=0.568)
_MOUTH = Box(
    left=0.41,
    top=0.47,
    width=0.18,
    height=0.15,
)
"""Places in the square of a head."""
_MOST_ASIDE = 0.09
"""How far eyes and mouth move aside when the head is turned, as a share of its edge."""

_HEAD_EDGE = 0.655
_SHOULDERS_WIDTH = 0.68
_SHOULDERS_HEIGHT = 0.7
"""Shares of the edge of a portrait."""
_ABOVE_HEAD = 0.15
"""The share of what a head leaves free that is above it."""
_SHOULDERS_TOP = 0.96
"""A share of the head above it."""


def draw_head(
    person: Person,
    edge: int,
    turn: float = 0.0,
) -> Picture:
    """A head with its neck, in RGBA, in a square; its face looks to the left below 0,
    to the right above.
    """
    return _HeadDrawing(person, edge * _SMOOTHING, turn).draw()


class _HeadDrawing:
    """A head in the making; places are shares of its edge."""

    def __init__(
        self,
        person: Person,
        edge: int,
        turn: float,
    ) -> None:
        self._person = person
        self._edge = edge
        self._aside = _MOST_ASIDE * turn
        self._image = Image.new("RGBa", (edge, edge))
        self._pen = ImageDraw.Draw(self._image)

    def draw(self) -> Picture:
        """The head, reduced to its size, in RGBA."""
        if self._person.gender == "female":
            self._draw_hair(_LONG_HAIR)
        elif self._person.gender != "male":
            self._draw_hair(_HALF_LONG_HAIR)
        self._draw_face()
        self._draw_crown()
        self._draw_features()
        return self._image.reduce(_SMOOTHING).convert("RGBA")

    def _draw_hair(self, place: Box) -> None:
        color = mix(self._person.hair, BLACK, 0.15)
        self._draw_rounded(place, 0.28, color)

    def _draw_face(self) -> None:
        shaded = mix(self._person.skin, BLACK, 0.14)
        self._draw_rounded(_NECK, 0.09, shaded)
        self._draw_rounded(_FACE, 0.22, self._person.skin)

    def _draw_crown(self) -> None:
        """Draw the hair above; long hair shows a part of the forehead."""
        hair = self._person.hair
        place = self._corners(_CROWN)
        if self._person.gender == "male":
            self._pen.chord(
                place,
                start=196,
                end=344,
                fill=hair,
            )
            return
        self._pen.chord(
            place,
            start=182,
            end=358,
            fill=hair,
        )
        forehead = self._corners(_FOREHEAD)
        self._pen.chord(
            forehead,
            start=180,
            end=270,
            fill=self._person.skin,
        )

    def _draw_features(self) -> None:
        for eye in (_LEFT_EYE, _RIGHT_EYE):
            place = self._corners(self._turned(eye))
            self._pen.ellipse(place, fill=_EYES)
        mouth = self._corners(self._turned(_MOUTH))
        lips = mix(self._person.skin, _LIPS, 0.55)
        thickness = max(1, self._edge // 48)
        self._pen.arc(
            mouth,
            start=25,
            end=155,
            fill=lips,
            width=thickness,
        )

    def _turned(self, place: Box) -> Box:
        return place.moved(across=self._aside)

    def _draw_rounded(
        self,
        place: Box,
        radius: float,
        color: Color,
    ) -> None:
        corners = self._corners(place)
        self._pen.rounded_rectangle(corners, self._edge * radius, fill=color)

    def _corners(self, place: Box) -> Corners:
        return place.scaled(self._edge).corners


def paint_portrait(
    canvas: Canvas,
    person: Person,
    room: Box,
) -> None:
    """Paint head and shoulders into the largest square of a room; the shoulders end
    below it.
    """
    square = room.fit(1.0, down=0)
    edge = square.width * _HEAD_EDGE
    head = square.place(edge, edge, down=_ABOVE_HEAD)
    width = square.width * _SHOULDERS_WIDTH
    shoulders = Box(
        left=square.middle - width / 2,
        top=head.top + edge * _SHOULDERS_TOP,
        width=width,
        height=square.height * _SHOULDERS_HEIGHT,
    )
    canvas.paint(disc(person.cloth), shoulders)
    face = draw_head(person, round(edge))
    canvas.paint(face, head)
