"""An Edit Images output: the inputs as they were, small, and what became of them, large; and the instructions."""

from collections.abc import Sequence

from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe
from image_workflow_emulator.imaging.captions import Plaque, signs_of, with_plaque
from image_workflow_emulator.imaging.cutouts import SUBJECT_EDGE, subject_in
from image_workflow_emulator.imaging.decoding import load
from image_workflow_emulator.imaging.drawing import BLACK, Canvas, chance, color_of_hue, gradient_column, mix, opaque
from image_workflow_emulator.imaging.layout import Box
from image_workflow_emulator.imaging.looks import filtered, named_color, named_look

_SEVERAL_EDGE = 480  # pixels of each of several inputs; more makes no visible difference


def edit(recipe: EditRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture that an Edit Images asks for: every input before, whole, and all of them together after."""

    def draw(size: tuple[int, int], room: Box) -> Image.Image:
        is_wide = room.width > room.height
        gap, share = min(room.width, room.height) * 0.05, 0.3 * max(room.width, room.height)
        before, after = room.split("left" if is_wide else "top", share, gap)
        canvas = Canvas.of(size, _wall(recipe))
        photos = [load(data, _SEVERAL_EDGE if len(inputs) > 1 else SUBJECT_EDGE) for data in inputs]
        canvas.paint_all([subject_in(photo) for photo in photos], after, 0.6)
        if look := named_look(recipe.instructions):
            canvas.image = filtered(canvas.image, look)
        canvas.paint_all([opaque(photo) for photo in photos], before)
        return canvas.image

    title = f"{len(inputs)} input{'s' * (len(inputs) > 1)}: before, after"
    plaque = Plaque(title, "", (), recipe.instructions, signs_of(recipe, "Edit", (150, 186, 255)))
    return with_plaque(recipe, plaque, draw)


def _wall(recipe: EditRecipe) -> Image.Image:
    """In the first colour that the instructions name, else in any."""
    words = recipe.instructions[:600].casefold().replace(",", " ").replace(".", " ").split()
    color = named_color(words) or color_of_hue(chance("edit", *words, *recipe.inputs), 0.3, 0.92)
    return gradient_column(((0.0, color), (1.0, mix(color, BLACK, 0.16))))
