"""Pictures of premade global ingredients, drawn from their names and attributes alone.

Owns which word of a name selects which drawing; without one of them it is the first of its kind.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct
from PIL import Image, ImageDraw, ImageOps

from emulator.domain.recipes import PremadeRecipe
from emulator.imaging.captions import CARD_LETTERS, Plaque, captioned
from emulator.imaging.composition import Layer, compose, place
from emulator.imaging.drawing import (
    BLACK,
    WHITE,
    Color,
    chance,
    color_of_hue,
    ellipse_mask,
    gradient_column,
    mix,
    pale_wall,
    soft_mask,
)
from emulator.imaging.layout import Box, arrange
from emulator.imaging.people import FIGURE_ASPECT, draw_figure, draw_portrait

_PORTRAIT_EDGE = 448  # pixels
_BALL_EDGE = 320
_HORIZON = 0.62


def premade(recipe: PremadeRecipe) -> Image.Image:
    """The picture of a premade ingredient of the recipe's kind."""
    if recipe.kind == "background":  # it appears behind subjects, so it has no caption
        return compose(recipe.width, recipe.height, _background(recipe.name), ())
    facts = (recipe.kind.replace("_", " ").capitalize(), *recipe.attributes)
    plaque = Plaque(recipe.name, " · ".join(facts))
    room, words = captioned(recipe.width, recipe.height, plaque, CARD_LETTERS)
    ground, layers = _DRAWINGS[recipe.kind](recipe, room)
    return compose(recipe.width, recipe.height, ground, (*layers, *words))


# ---------------------------------------------------------------------------------------------------------- backgrounds


def _background(name: str) -> Image.Image:
    for word, draw in _PLACES.items():
        if word in name.casefold():
            return draw()
    return gradient_column(((0, (234, 234, 232)), (0.55, (249, 249, 248)), (1, (226, 226, 224))))


def _vignette() -> Image.Image:
    return ImageOps.colorize(Image.radial_gradient("L"), (214, 209, 204), (112, 107, 102))


def _beach() -> Image.Image:
    """Sky, sea, surf and sand."""
    return gradient_column(
        ((0.0, (116, 178, 222)), (0.45, (236, 238, 226)), (0.45, (44, 128, 150)), (0.60, (150, 214, 204)),
         (0.60, (250, 252, 250)), (0.62, (250, 252, 250)), (0.62, (206, 178, 138)), (0.68, (222, 196, 154)),
         (0.70, (236, 214, 174)), (1.0, (214, 184, 138))), 1024,
    )  # fmt: skip


def _street() -> Image.Image:
    """A brick wall in daylight, and the pavement before it."""
    image = Image.new("RGB", (512, 512), (206, 196, 184))
    draw = ImageDraw.Draw(image)
    for row in range(16):
        for left in range(-32 * (row % 2), 512, 64):
            color = mix((158, 82, 62), (112, 54, 46), chance("brick", row, left))
            draw.rectangle((left + 2, row * 26 + 2, left + 61, row * 26 + 23), fill=color)
    draw.rectangle((0, 416, 512, 512), fill=(172, 170, 166))
    draw.rectangle((0, 416, 512, 424), fill=(140, 136, 132))
    return image


_PLACES: Mapping[str, Callable[[], Image.Image]] = {"gradient": _vignette, "beach": _beach, "street": _street}

# --------------------------------------------------------------------------------------------------- photography styles


class _Mood(Struct, frozen=True):
    """Colours and light: `side` is -1 for light from the left; `shade` is how dark the unlit parts are."""

    wall: Color
    body: Color
    light: Color
    side: int
    shade: float


_DAYLIGHT = _Mood((228, 231, 230), (186, 204, 190), (255, 255, 252), -1, 0.42)
_MOODS: Mapping[str, _Mood] = {
    "flash": _Mood((202, 205, 214), (206, 84, 70), WHITE, 1, 0.75),
    "golden": _Mood((236, 184, 122), (226, 132, 74), (255, 236, 190), 1, 0.6),
    "low key": _Mood((44, 46, 56), (110, 104, 130), (250, 226, 190), -1, 0.92),
}


def _still_life(recipe: PremadeRecipe, room: Box) -> tuple[Image.Image, list[Layer]]:
    """One to three balls under the style's light, by `index`."""
    mood = next((mood for word, mood in _MOODS.items() if word in recipe.name.casefold()), _DAYLIGHT)
    floor = mix(mood.wall, BLACK, 0.12)
    ground = gradient_column(
        ((0.0, mix(mood.wall, BLACK, 0.08)), (_HORIZON, mix(mood.wall, mood.light, 0.4)),
         (_HORIZON, mix(floor, mood.light, 0.1)), (1.0, mix(floor, BLACK, 0.14))),
    )  # fmt: skip
    sizes = ((1.0,), (1.0, 0.6), (0.55, 1.0, 0.55))[recipe.index % 3]
    gap = room.width * 0.04
    edge = min(room.width * 0.78 / sum(sizes), room.height * 0.56)
    left = room.left + (room.width - edge * sum(sizes) - gap * (len(sizes) - 1)) / 2
    layers: list[Layer] = []
    for size in sizes:
        box = Box(left, recipe.height * (_HORIZON + 0.06) - edge * size, edge * size, edge * size)
        layers += _ball(mood, box, mix(mood.body, mood.light, (1 - size) * 0.8))
        left += edge * size + gap
    return ground, layers


def _ball(mood: _Mood, box: Box, color: Color) -> list[Layer]:
    """Shaded by its distance from the lit spot, with its shadow on the floor."""
    spot = Image.radial_gradient("L").resize((_BALL_EDGE * 2, _BALL_EDGE * 2), Image.Resampling.BILINEAR)
    left, top = round(_BALL_EDGE * (0.5 - mood.side * 0.22)), round(_BALL_EDGE * 0.7)
    spot = spot.crop((left, top, left + _BALL_EDGE, top + _BALL_EDGE))
    dark = mix(color, mix(BLACK, mood.wall, 0.15), mood.shade)
    image = ImageOps.colorize(spot, mix(color, mood.light, 0.7), dark, color, midpoint=96)
    width, height = box.width * 1.5, box.width * 0.3
    middle = box.left + box.width * (0.5 - mood.side * 0.22)
    shadow = Box(middle - width / 2, box.top + box.height - height * 0.62, width, height)
    cast = soft_mask(is_round=True, opacity=round(80 + 130 * mood.shade))
    return [place(BLACK, shadow, cast), place(image, box, ellipse_mask())]


# ------------------------------------------------------------------------------------------------------ poses and people


def _pose(recipe: PremadeRecipe, room: Box) -> tuple[Image.Image, list[Layer]]:
    hue = chance("pose", recipe.name)
    [box] = arrange([FIGURE_ASPECT], room, 0)
    figure = place(color_of_hue(hue, 0.5, 0.56), box.part(0.94), draw_figure(recipe.name))
    return pale_wall(hue), [figure]


def _fashion_model(recipe: PremadeRecipe, room: Box) -> tuple[Image.Image, list[Layer]]:
    gender = next((word for word in recipe.attributes if word in ("female", "male", "neutral")), "neutral")
    age_range = next((word for word in recipe.attributes if word[:1].isdigit()), "25-35")
    [box] = arrange([1.0], room, 0)
    portrait = draw_portrait(gender, age_range, recipe.index, _PORTRAIT_EDGE)
    ring = place(WHITE, box.part(0.98), ellipse_mask())
    return pale_wall(chance("model", recipe.name)), [ring, place(portrait, box.part(0.94), ellipse_mask())]


_DRAWINGS = {"photography_style": _still_life, "pose": _pose, "fashion_model": _fashion_model}
