"""Pictures of ingredients: premade ones, drawn from their names and attributes, and a Team's own, made from their
sources.

Owns which word of a name selects which drawing; a name without such a word has the first of its kind.
"""

from collections.abc import Callable, Sequence

from PIL import Image, ImageDraw, ImageOps

from image_workflow_emulator.domain.recipes import CardRecipe, PremadeRecipe
from image_workflow_emulator.imaging.captions import Plaque, with_plaque
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import chance, color_of_hue
from image_workflow_emulator.imaging.drawing import (
    Box,
    Canvas,
    backdrop,
    gradient_column,
)
from image_workflow_emulator.imaging.looks import filtered, named_look
from image_workflow_emulator.imaging.people import (
    draw_figure,
    paint_portrait,
    person_of,
    stance_of,
)


def ingredient(
    recipe: PremadeRecipe | CardRecipe, inputs: Sequence[bytes]
) -> Image.Image:
    """The picture of an ingredient above its name; of its own sources one is large, the others are swatches."""
    sources = [load(data, max(recipe.width, recipe.height)) for data in inputs]
    main = sources.pop(recipe.index % len(sources)) if sources else None
    if recipe.kind == "background":  # it appears behind subjects, so it has no caption
        place = next(
            (draw for word, draw in _PLACES.items() if word in recipe.name.casefold()),
            _paper,
        )
        ground = main or place(recipe.name)
        return Canvas.of((recipe.width, recipe.height), ground).image
    attributes = recipe.attributes if isinstance(recipe, PremadeRecipe) else ()
    facts = " · ".join((recipe.kind.replace("_", " ").capitalize(), *attributes))
    plaque = Plaque(recipe.name, facts, [("", source) for source in sources])

    def draw(size: tuple[int, int], room: Box) -> Image.Image:
        if isinstance(recipe, PremadeRecipe):
            return _DRAWINGS[recipe.kind](recipe, size, room)
        canvas = Canvas.of(size, backdrop(chance(recipe.name, *recipe.inputs)))
        canvas.paint_all([main] if main else (), room)
        return canvas.image

    return with_plaque(recipe, plaque, draw)


# ---------------------------------------------------------------------------------------------------------- backgrounds


def _paper(_: str) -> Image.Image:
    return gradient_column(
        ((0, (234, 234, 232)), (0.55, (249, 249, 248)), (1, (226, 226, 224)))
    )


def _vignette(_: str) -> Image.Image:
    return ImageOps.colorize(
        Image.radial_gradient("L"), (214, 209, 204), (112, 107, 102)
    )


def _beach(_: str) -> Image.Image:
    """Sky, sea, surf and sand."""
    sky, haze, sea, shallows = (
        (116, 178, 222),
        (236, 238, 226),
        (44, 128, 150),
        (150, 214, 204),
    )
    surf, wet, sand, dark = (
        (250, 252, 250),
        (206, 178, 138),
        (236, 214, 174),
        (214, 184, 138),
    )
    above = (0.0, sky), (0.45, haze), (0.45, sea), (0.6, shallows)
    return gradient_column(
        (*above, (0.6, surf), (0.62, surf), (0.62, wet), (0.7, sand), (1.0, dark)), 1024
    )


def _street(_: str) -> Image.Image:
    """A brick wall in daylight, and the pavement before it."""
    image = Image.new("RGB", (512, 512), (206, 196, 184))
    draw = ImageDraw.Draw(image)
    for row in range(12):
        for left in range(-32 * (row % 2), 512, 64):
            color = color_of_hue(0.03, 0.6, 0.44 + 0.18 * chance("brick", row, left))
            draw.rectangle(
                (left + 2, row * 26 + 2, left + 61, row * 26 + 23), fill=color
            )
    draw.rectangle((0, 312, 512, 512), fill=(172, 170, 166))
    draw.rectangle((0, 312, 512, 320), fill=(140, 136, 132))
    return image


def _shirt(name: str, index: int = 0) -> Image.Image:
    """A product before a plain ground, to be photographed where nobody has uploaded one."""
    image, hue = (
        Image.new("RGB", (1024, 1024), (246, 246, 244)),
        chance(name) + index * 0.31,
    )
    draw = ImageDraw.Draw(image)
    draw.polygon(
        [
            (512 + side * x * 2, y * 2)
            for side, outline in ((-1, _SLEEVE), (1, _SLEEVE[::-1]))
            for x, y in outline
        ],
        fill=color_of_hue(hue, 0.7, 0.66),
    )
    for x in range(380, 680, 44):
        draw.line((x, 240, x, 896), fill=color_of_hue(hue, 0.7, 0.54), width=8)
    draw.ellipse((440, 84, 584, 156), fill=(246, 246, 244))
    return image


_SLEEVE = ((60, 60), (105, 70), (180, 165), (140, 205), (100, 165), (100, 450))
"""The outline of half a shirt."""
_PLACES: dict[str, Callable[[str], Image.Image]] = {
    "gradient": _vignette,
    "beach": _beach,
    "street": _street,
    "shirt": _shirt,
}
"""What a word in the name of a Background draws."""

# ------------------------------------------------------------------------------------- styles, poses and people


def _style(recipe: PremadeRecipe, size: tuple[int, int], room: Box) -> Image.Image:
    """A photo that was taken in the style."""
    photo, look = _shirt(recipe.name, recipe.index), named_look(recipe.name)
    canvas = Canvas.of(size, backdrop(chance("style", recipe.name)))
    canvas.paint_all([filtered(photo, look) if look else photo], room)
    return canvas.image


def _pose(recipe: PremadeRecipe, size: tuple[int, int], room: Box) -> Image.Image:
    hue = chance("pose", recipe.name)
    canvas = Canvas.of(size, backdrop(hue))
    figure = draw_figure(stance_of(recipe.name), person_of(round(hue * 255)))
    canvas.paint_all([figure], room.part(0.98))
    return canvas.image


def _fashion_model(
    recipe: PremadeRecipe, size: tuple[int, int], room: Box
) -> Image.Image:
    canvas = Canvas.of(size, color_of_hue(chance("model", recipe.name), 0.12, 0.95))
    paint_portrait(
        canvas, person_of(recipe.index, next(iter(recipe.attributes), None)), room
    )
    return canvas.image


_DRAWINGS = {
    "photography_style": _style,
    "pose": _pose,
    "fashion_model": _fashion_model,
}
