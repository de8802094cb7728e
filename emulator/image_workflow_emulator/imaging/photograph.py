"""A Product Photography output: the products, alone or with people, and every choice of
the request.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct
from PIL import Image

from image_workflow_emulator.domain.recipes import PhotographRecipe
from image_workflow_emulator.imaging.canvas import Canvas, Ground, Size, backdrop
from image_workflow_emulator.imaging.cards import PICTURE_SHARE
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import (
    Color,
    chance,
    color_of,
    color_of_hue,
    named_color,
    opaque,
)
from image_workflow_emulator.imaging.cutouts import HELD_EDGE, SUBJECT_EDGE, subject_of
from image_workflow_emulator.imaging.figures import (
    FIGURE_ASPECT,
    Figure,
    draw_figure,
    stance_of,
)
from image_workflow_emulator.imaging.garments import is_worn
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.heads import head_in, person_of, skin_of
from image_workflow_emulator.imaging.looks import Look, filtered, look_of, named_look
from image_workflow_emulator.imaging.memo import remembered
from image_workflow_emulator.imaging.plaque import Chip, Plaque, with_plaque
from image_workflow_emulator.imaging.views import view_of

_SCENE_EDGE = 1024
_MODEL_EDGE = 480
_SWATCH_EDGE = 160
"""Pixels; more makes no visible difference."""
_PERSON_WIDTH = 0.4
"""A share of a figure's height."""
_FLOOR = 0.86
"""Where things stand, as a share of the picture's height."""
_PEOPLE_SHARE = 0.7
"""A share of the width, where there are products beside people."""


class _Inputs(Struct, frozen=True):
    """The pictures that a recipe names."""

    subjects: Sequence[Image.Image]
    scene: Image.Image | None
    heads: Sequence[Image.Image]
    style: Image.Image | None
    pose: Image.Image | None


def photograph(recipe: PhotographRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture of a Product Photography slot; `inputs` as in the recipe."""
    color = _colorway(recipe)
    pictures = _read_inputs(recipe, inputs, color)
    shot = _Shot(recipe, pictures)
    return with_plaque(recipe, _plaque(recipe, pictures, color), shot.draw)


# Inputs -------------------------------------------------------------------------------


def _read_inputs(
    recipe: PhotographRecipe, inputs: Sequence[bytes], color: Color | None
) -> _Inputs:
    files = iter(inputs)
    is_held = recipe.people > 0 and not view_of(recipe).is_detail
    enough = HELD_EDGE if is_held else SUBJECT_EDGE
    subject_files = islice(files, recipe.subject_count)
    subjects = [subject_of(file, enough, color) for file in subject_files]
    scene = None
    if recipe.background_kind == "picture":
        scene = _picture_of(next(files), _SCENE_EDGE)
    heads = [_head_of(file) for file in islice(files, recipe.model_input_count)]
    style = None
    if recipe.photography_style is not None:
        style = _preview_of(next(files))
    pose = None
    if recipe.pose is not None:
        pose = _preview_of(next(files))
    return _Inputs(subjects, scene, heads, style, pose)


@remembered
def _picture_of(data: bytes, enough: int) -> Image.Image:
    return opaque(load(data, enough))


@remembered
def _preview_of(data: bytes) -> Image.Image:
    return _above_plaque(opaque(load(data, _SWATCH_EDGE)))


@remembered
def _head_of(data: bytes) -> Image.Image:
    return head_in(_above_plaque(opaque(load(data, _MODEL_EDGE))))


def _above_plaque(card: Image.Image) -> Image.Image:
    """The part of an ingredient's card that is a picture."""
    return card.crop((0, 0, card.width, max(1, round(card.height * PICTURE_SHARE))))


def _colorway(recipe: PhotographRecipe) -> Color | None:
    """The colorway's colour: its value, else the one that its name contains, else
    any.
    """
    if recipe.colorway is None:
        return None
    if recipe.colorway_hex is not None:
        return color_of(recipe.colorway_hex)
    name = recipe.colorway.casefold()
    color = named_color((name.replace(" ", ""), *reversed(name.split())))
    if color is not None:
        return color
    return color_of_hue(chance(name), 0.6, 0.7)


# Words --------------------------------------------------------------------------------


def _plaque(recipe: PhotographRecipe, pictures: _Inputs, color: Color | None) -> Plaque:
    return Plaque(
        sign=f"{recipe.slot}/{recipe.slot_count}",
        accent=color_of_hue(recipe.slot * 0.38, 0.5, 1.0),
        title=", ".join(recipe.product_names)
        or _counted(recipe.subject_count, "photo"),
        facts=" · ".join(filter(None, _facts(recipe))),
        chips=list(_chips(recipe, pictures, color)),
        quotation=recipe.directions,
    )


def _counted(number: int, noun: str, plural: str = "") -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {plural or noun + 's'}"


def _facts(recipe: PhotographRecipe) -> Iterator[str | None]:
    """What is written small: other options of the order, and the form of the file."""
    if recipe.people:
        yield _counted(recipe.people, "person", "people")
    yield recipe.camera_distance
    yield recipe.aspect_ratio
    yield recipe.resolution.upper()
    yield recipe.format.upper()


def _chips(
    recipe: PhotographRecipe, pictures: _Inputs, color: Color | None
) -> Iterator[Chip]:
    for name, head in zip(recipe.model_names, pictures.heads, strict=False):
        yield Chip(name, head)
    if recipe.background_name is not None and pictures.scene is not None:
        yield Chip(recipe.background_name, pictures.scene)
    if recipe.photography_style is not None and pictures.style is not None:
        yield Chip(recipe.photography_style, pictures.style)
    if recipe.pose is not None and pictures.pose is not None:
        yield Chip(recipe.pose, pictures.pose)
    if recipe.colorway is not None and color is not None:
        yield Chip(recipe.colorway, color)


# Scene --------------------------------------------------------------------------------


class _Shot:
    """What is seen in one picture."""

    def __init__(self, recipe: PhotographRecipe, pictures: _Inputs) -> None:
        self._recipe = recipe
        self._pictures = pictures
        self._view = view_of(recipe)

    def draw(self, size: Size, room: Box) -> Image.Image:
        """The scene, of this width and height, with all that matters in `room`."""
        canvas = Canvas.of(size, self._ground())
        stage = room.above(min(room.bottom, size[1] * _FLOOR))
        if self._recipe.people and not self._view.is_detail:
            self._paint_people(canvas, room, stage)
        else:
            self._paint_products(canvas, stage)
        look = self._look()
        if look is None:
            return canvas.image
        return filtered(canvas.image, look)

    def _chance(self, *words: object) -> float:
        """A number from 0 to 1: one for all of a photoshoot, and another for each
        single shot.
        """
        scene = "" if self._recipe.is_photoshoot else self._recipe.slot
        return chance(*words, *self._recipe.inputs, scene)

    def _ground(self) -> Ground:
        if self._pictures.scene is not None:
            return self._pictures.scene
        if self._recipe.background_kind == "transparent":
            return None
        if self._recipe.background_kind == "color":
            return color_of(self._recipe.background_hex or "")
        return backdrop(self._chance("backdrop"))

    def _look(self) -> Look | None:
        if self._recipe.photography_style is None or self._pictures.style is None:
            return None
        named = named_look(self._recipe.photography_style)
        return named or look_of(self._pictures.style)

    def _paint_products(self, canvas: Canvas, stage: Box) -> None:
        view = self._view
        products = [self._turned(subject) for subject in self._pictures.subjects]
        if not view.is_detail:
            canvas.paint_all(products, stage, view.share, view.across)
            return
        across = view.across
        if len(products) > 1:
            across = 0.0  # a detail of the first, not of the gap
        width = stage.width * view.share
        height = stage.height * view.share
        canvas.paint_all(products, stage.place(width, height, across, 1.0))

    def _turned(self, subject: Image.Image) -> Image.Image:
        """A product seen from the side is narrower."""
        width = round(subject.width * (1 - 0.16 * abs(self._view.turn)))
        turned = subject.resize((max(1, width), subject.height))
        turned.info = dict(subject.info)
        return turned

    def _paint_people(self, canvas: Canvas, room: Box, stage: Box) -> None:
        """Paint people, each with a product, and other products beside them."""
        people = self._recipe.people
        others = self._pictures.subjects[people:]
        across = self._view.across
        if others:
            width = stage.width * _PEOPLE_SHARE
            aside = stage.right_of(stage.left + width + canvas.gap)
            canvas.paint_all(others, aside)
            stage = stage.from_left(width)
            across = 0.5
        height = self._figure_height(stage)
        left = stage.left + (stage.width - people * _PERSON_WIDTH * height) * across
        top = stage.bottom - height * min(self._view.bottom, 1.02)
        for number in range(people):
            middle = left + (number + 0.5) * _PERSON_WIDTH * height
            width = height * FIGURE_ASPECT
            place = Box(middle - width / 2, top, width, height)
            canvas.paint_shadow(
                place._replace(left=middle - width / 4, width=width / 2)
            )
            canvas.paint(draw_figure(self._figure(number)), place)

    def _figure_height(self, stage: Box) -> float:
        """As high as the view has it, and no wider than the stage; a group is smaller
        from afar.
        """
        by_height = stage.height / self._view.bottom
        by_width = stage.width / (self._recipe.people * _PERSON_WIDTH)
        if self._recipe.people > 1:
            by_width *= self._view.share
        return min(by_height, by_width)

    def _figure(self, number: int) -> Figure:
        heads = self._pictures.heads
        head = heads[number] if number < len(heads) else None
        skin = None if head is None else skin_of(head)
        look = round(self._chance("person", number) * 255)
        subject_number = number % len(self._pictures.subjects)
        product = self._pictures.subjects[subject_number]
        return Figure(
            person=person_of(look, skin=skin),
            stance=stance_of(self._recipe.pose),
            head=head,
            product=product,
            is_worn=is_worn(product, self._name_of(subject_number)),
            turn=self._view.turn,
        )

    def _name_of(self, number: int) -> str:
        """The name of the Product whose main photo a subject is, if it is one."""
        names = self._recipe.product_names
        return names[number] if number < len(names) else ""
