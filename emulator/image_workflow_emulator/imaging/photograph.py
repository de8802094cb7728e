"""A Product Photography output: the products, alone or with people who wear or hold them, and every choice of the
request.

Owns the scene, and the side from which a slot shows it. A photoshoot is one scene from four sides; each single shot is
a scene of its own.
"""

from collections.abc import Sequence

from msgspec import Struct
from PIL import Image, ImageStat

from image_workflow_emulator.domain.recipes import PhotographRecipe
from image_workflow_emulator.imaging.captions import Chip, Plaque, facts_of, with_plaque
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import (
    Color,
    chance,
    color_of,
    color_of_hue,
    named_color,
    opaque,
)
from image_workflow_emulator.imaging.cutouts import (
    HELD_EDGE,
    SUBJECT_EDGE,
    cut_out,
    subject_of,
)
from image_workflow_emulator.imaging.drawing import Box, Canvas, backdrop, disc
from image_workflow_emulator.imaging.looks import filtered, look_of, named_look
from image_workflow_emulator.imaging.memo import remembered
from image_workflow_emulator.imaging.people import (
    FIGURE_ASPECT,
    draw_figure,
    person_of,
    stance_of,
)

_SCENE_EDGE = 1024  # pixels; more makes no visible difference
_HEAD_EDGE, _SWATCH_EDGE = 240, 160
_PERSON_WIDTH = 0.46  # of a figure's height
_FLOOR = 0.78  # of the height: where things stand
_ABOVE_PLAQUE = 0.74  # of the height of an ingredient's card


class View(Struct, frozen=True):
    """The side from which a scene is seen; `bottom` is how much of a figure, from its top, is in the picture.

    `share` is how much of the room products take, and `across` the place of both, from 0 (left) to 1 (right). Above 1,
    products alone are seen, beyond the edges of the picture.
    """

    bottom: float
    share: float
    across: float = 0.5
    turn: float = 0.0
    """As in `draw_figure`."""


_DISTANCES = {
    "close": View(0.5, 1.0),
    "medium": View(0.6, 0.82),
    "far": View(1.5, 0.55),
}
_PHOTOSHOOT = (
    View(1.02, 0.74),
    View(0.5, 1.0),
    View(0.6, 0.84, 0.3, 1.0),
    View(0.5, 1.7),
)
"""By slot: full, close, three-quarter, detail."""
_PLACES = (0.5, 0.2, 0.8, 0.35, 0.65, 0.5)
"""Of single shots, by slot, as `across`; each shows less than the one before, and turned to the middle."""


def photograph(recipe: PhotographRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture of a Product Photography slot; `inputs` as in the recipe."""
    shot = _Shot(recipe, inputs)
    return with_plaque(recipe, shot.plaque(), shot.draw)


class _Shot:
    """What is seen in one picture, prepared from its inputs."""

    def __init__(self, recipe: PhotographRecipe, inputs: Sequence[bytes]) -> None:
        pictures, color = iter(inputs), _colorway(recipe)
        self._recipe, self._color, self._view = recipe, color, _view(recipe)
        enough = HELD_EDGE if recipe.people and self._view.share <= 1 else SUBJECT_EDGE
        self._subjects = [
            subject_of(next(pictures), enough, color)
            for _ in range(recipe.subject_count)
        ]
        self._scene = (
            _picture_of(next(pictures), _SCENE_EDGE)
            if recipe.background_kind == "picture"
            else None
        )
        self._heads = [
            _head_of(next(pictures)) for _ in range(recipe.model_input_count)
        ]
        self._previews = [
            _picture_of(data, _SWATCH_EDGE, _ABOVE_PLAQUE) for data in pictures
        ]

    def plaque(self) -> Plaque:
        recipe, count = self._recipe, len(self._subjects)
        chips: list[Chip] = (
            [("", subject) for subject in self._subjects] if count > 1 else []
        )
        names = (
            name for name in (recipe.photography_style, recipe.pose) if name is not None
        )
        chosen = [
            *zip(recipe.model_names, self._heads, strict=False),
            (recipe.background_name, self._scene),
            *zip(names, self._previews, strict=True),
            (recipe.colorway, self._color),
        ]
        chips += [
            (name, content)
            for name, content in chosen
            if name is not None and content is not None
        ]
        return Plaque(
            title=", ".join(recipe.product_names)
            or f"{count} photo{'s' * (count > 1)}",
            facts=facts_of(recipe, recipe.camera_distance),
            chips=chips,
            words=recipe.directions,
            sign=f"{recipe.slot}/{recipe.slot_count}",
            accent=color_of_hue(recipe.slot * 0.38, 0.5, 1.0),
            people=recipe.people,
        )

    def draw(self, size: tuple[int, int], room: Box) -> Image.Image:
        """The scene, of this width and height, with all that matters in `room`."""
        view, others = self._view, self._subjects
        canvas = Canvas.of(size, self._ground())
        room = Box(*room[:3], min(room.height, size[1] * _FLOOR - room.top))
        if self._recipe.people and view.share <= 1:
            others, room = self._paint_people(canvas, room)
        else:
            across = (
                0.0 if view.share > 1 and len(others) > 1 else view.across
            )  # a detail of the first, not of the gap
            room = room.part(view.share, across, 1.0)
        narrow = 1 - 0.16 * abs(view.turn)
        seen = [
            image.resize((max(1, round(image.width * narrow)), image.height))
            for image in others
        ]
        canvas.paint_all(seen, room, 1.0)
        style = self._recipe.photography_style
        look = (
            named_look(style) or look_of(self._previews[0])
            if style is not None
            else None
        )
        return filtered(canvas.image, look) if look else canvas.image

    def _chance(self, *words: object) -> float:
        """A pseudo-random number from 0 to 1: one for all of a photoshoot, and another for each single shot."""
        return chance(
            *words,
            *self._recipe.inputs,
            "" if self._recipe.is_photoshoot else self._recipe.slot,
        )

    def _ground(self) -> Image.Image | Color | None:
        recipe = self._recipe
        if self._scene is not None:
            return self._scene
        if recipe.background_kind == "transparent":
            return None
        if recipe.background_kind == "color":
            return color_of(recipe.background_hex or "")
        return backdrop(self._chance("backdrop"))

    def _paint_people(self, canvas: Canvas, room: Box) -> tuple[list[Image.Image], Box]:
        """Paint people, each with a product; return the other products, and the room for these."""
        recipe, view, people = self._recipe, self._view, self._recipe.people
        others, aside, across = self._subjects[people:], room, view.across
        if others:
            (room, aside), across = (
                room.split("left", room.width * 0.66, room.width * 0.02),
                0.5,
            )
        height = min(room.height / view.bottom, room.width / (people * _PERSON_WIDTH))
        left = room.left + (room.width - people * _PERSON_WIDTH * height) * across
        top = room.top + max(0.0, room.height - height * min(view.bottom, 1.02))
        for number in range(people):
            head = self._heads[number] if number < len(self._heads) else None
            look = round(self._chance("person", number) * 255)
            person = person_of(look, skin=_skin_of(head) if head else None)
            product = self._subjects[number % len(self._subjects)]
            figure = draw_figure(
                stance_of(recipe.pose), person, head, product, view.turn
            )
            middle = left + (number + 0.5) * _PERSON_WIDTH * height
            canvas.paint_shadow(Box(middle - height * 0.13, top, height * 0.26, height))
            width = height * FIGURE_ASPECT
            canvas.paint(figure, Box(middle - width / 2, top, width, height))
        return others, aside


def _view(recipe: PhotographRecipe) -> View:
    chosen = _DISTANCES[recipe.camera_distance or "medium"]
    if recipe.is_photoshoot:
        is_chosen = recipe.camera_distance is not None and recipe.slot == 1
        return (
            chosen if is_chosen else _PHOTOSHOOT[(recipe.slot - 1) % len(_PHOTOSHOOT)]
        )
    number = (recipe.slot - 1) % len(_PLACES)
    share, across = 1 - 0.05 * number, _PLACES[number]
    return View(chosen.bottom / share, chosen.share * share, across, 1.0 - 2 * across)


@remembered
def _picture_of(data: bytes, enough: int, share: float = 1.0) -> Image.Image:
    """The upper part of a picture, in RGB."""
    picture = opaque(load(data, enough))
    return picture.crop((0, 0, picture.width, max(1, round(picture.height * share))))


def _colorway(recipe: PhotographRecipe) -> Color | None:
    """The colorway's colour: without a value, the one that its name contains, else any."""
    if recipe.colorway is None:
        return None
    if recipe.colorway_hex is not None:
        return color_of(recipe.colorway_hex)
    name = recipe.colorway.casefold()
    named = named_color((name.replace(" ", ""), *reversed(name.split())))
    return named or color_of_hue(chance(name), 0.6, 0.7)


@remembered
def _head_of(card: bytes) -> Image.Image:
    """The head in a Fashion Model's picture: cut out if it has a plain ground, else in a circle."""
    picture = _picture_of(card, _HEAD_EDGE * 2, _ABOVE_PLAQUE)
    edge = min(picture.size) * 0.66
    left, top = (picture.width - edge) / 2, (picture.height - edge) * 0.2
    place = left, top, left + edge, top + edge
    head = picture.resize(
        (_HEAD_EDGE, _HEAD_EDGE), Image.Resampling.BILINEAR, place, reducing_gap=1.0
    )
    return cut_out(head) or disc(head, _HEAD_EDGE)


def _skin_of(head: Image.Image) -> Color:
    """The colour of the cheeks of a face, where no hair is."""
    cheeks = head.convert("RGB").resize((8, 8), Image.Resampling.BOX).crop((3, 4, 5, 6))
    red, green, blue = ImageStat.Stat(cheeks).median
    return red, green, blue
