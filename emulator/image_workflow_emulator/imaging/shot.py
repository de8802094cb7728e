"""The scene of a Product Photography: products, alone or with people."""

from image_workflow_emulator.domain.recipes import PhotographRecipe
from image_workflow_emulator.imaging.canvas import Canvas
from image_workflow_emulator.imaging.colors import chance, color_of
from image_workflow_emulator.imaging.figures import (
    FIGURE_ASPECT,
    Figure,
    draw_figure,
)
from image_workflow_emulator.imaging.garments import is_worn
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.grounds import Ground, backdrop
from image_workflow_emulator.imaging.looks import Look, filtered, look_of, named_look
from image_workflow_emulator.imaging.people import person_of
from image_workflow_emulator.imaging.photographed_heads import skin_of
from image_workflow_emulator.imaging.pictures import Picture, Size
from image_workflow_emulator.imaging.shot_inputs import ShotInputs
from image_workflow_emulator.imaging.stances import stance_of
from image_workflow_emulator.imaging.views import view_of

_PERSON_WIDTH = 0.4
"""A share of a figure's height."""
_WHOLE_FIGURE = 1.02
"""How much of a figure's height a stage shows at most."""
_FLOOR = 0.86
"""Where things stand, as a share of the picture's height."""
_NARROWER_PRODUCT = 0.16
"""By which share a product is narrower in a full turn."""
_PEOPLE_SHARE = 0.7
"""A share of the width, where there are products beside people."""


class Shot:
    """What is seen in one picture."""

    def __init__(self, recipe: PhotographRecipe, pictures: ShotInputs) -> None:
        self._recipe = recipe
        self._pictures = pictures
        self._view = view_of(recipe)

    def draw(self, size: Size, room: Box) -> Picture:
        """The scene, of this width and height, with all that matters in `room`."""
        canvas = Canvas.of(size, self._ground())
        _, height = size
        floor = min(room.bottom, height * _FLOOR)
        stage = room.above(floor)
        if self._recipe.people and not self._view.is_detail:
            self._paint_people(canvas, stage)
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
        scene: object = self._recipe.slot
        if self._recipe.is_photoshoot:
            scene = ""
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
        style_name = self._recipe.photography_style
        preview = self._pictures.style
        if style_name is None or preview is None:
            return None
        return named_look(style_name) or look_of(preview)

    def _paint_products(self, canvas: Canvas, stage: Box) -> None:
        products = [self._turned(subject) for subject in self._pictures.subjects]
        if self._view.is_detail:
            canvas.paint_all(products, self._room_of_detail(stage))
            return
        canvas.paint_all(
            products,
            stage,
            share=self._view.share,
            across=self._view.across,
        )

    def _room_of_detail(self, stage: Box) -> Box:
        """The room for the whole of what the stage shows a part of."""
        across = self._view.across
        if len(self._pictures.subjects) > 1:
            across = 0.0  # a detail of the first, not of the gap
        width = stage.width * self._view.share
        height = stage.height * self._view.share
        return stage.place(width, height, across=across, down=1.0)

    def _turned(self, subject: Picture) -> Picture:
        """A product seen from the side is narrower."""
        narrowed = 1 - _NARROWER_PRODUCT * abs(self._view.turn)
        width = max(1, round(subject.width * narrowed))
        turned = subject.resize((width, subject.height))
        turned.info = dict(subject.info)
        return turned

    def _paint_people(self, canvas: Canvas, stage: Box) -> None:
        """Paint people, each with a product, and other products beside them."""
        products_alone = self._pictures.subjects[self._recipe.people :]
        if not products_alone:
            self._paint_group(canvas, stage, self._view.across)
            return
        width = stage.width * _PEOPLE_SHARE
        aside = stage.right_of(stage.left + width + canvas.gap)
        canvas.paint_all(products_alone, aside)
        self._paint_group(canvas, stage.from_left(width), across=0.5)

    def _paint_group(
        self,
        canvas: Canvas,
        stage: Box,
        across: float,
    ) -> None:
        """Paint people side by side; `across` is as in a view."""
        people = self._recipe.people
        height = self._figure_height(stage)
        width = height * _PERSON_WIDTH
        group = stage.place(
            width=people * width,
            height=height * min(self._view.bottom, _WHOLE_FIGURE),
            across=across,
            down=1.0,
        )
        first_room = Box(
            left=group.left,
            top=group.top,
            width=width,
            height=height,
        )
        for number in range(people):
            room = first_room.moved(across=number * width)
            self._paint_figure(canvas, number, room)

    def _paint_figure(
        self,
        canvas: Canvas,
        number: int,
        room: Box,
    ) -> None:
        width = room.height * FIGURE_ASPECT
        on_floor = room.place(width / 2, room.height)
        canvas.paint_shadow(on_floor)
        place = room.place(width, room.height)
        figure = draw_figure(self._figure(number))
        canvas.paint(figure, place)

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
        head = None
        skin = None
        if number < len(heads):
            head = heads[number]
            skin = skin_of(head)
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
        if number < len(names):
            return names[number]
        return ""
