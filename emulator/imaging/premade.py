"""Pictures of premade global ingredients, drawn from nothing but their words.

Owns which word leads to which drawing; an ingredient with other words still gets a drawing of its kind.
"""

from collections.abc import Callable, Mapping

from emulator.domain.recipes import PremadeRecipe
from emulator.imaging.captions import label
from emulator.imaging.composition import Composition, Layer
from emulator.imaging.drawing import (
    BLACK,
    WHITE,
    Color,
    Dice,
    color_of_hue,
    flat,
    gradient_column,
    mix,
    soft_ellipse_mask,
)
from emulator.imaging.figures import FIGURE_ASPECT, MANNEQUIN, STANCE_NAMES, STANCES, Stance, draw_figure
from emulator.imaging.locations import draw_backdrop, draw_beach, draw_bricks, draw_room
from emulator.imaging.portraits import draw_portrait
from emulator.imaging.stilllife import still_life

_STANCE_WORDS: Mapping[str, str] = {
    "walk": "walking", "stride": "walking", "hip": "hand on hip", "turn": "turned", "quarter": "turned",
    "rais": "arms raised", "jump": "arms raised", "lean": "leaning", "stand": "standing", "front": "standing",
}  # fmt: skip


def premade(recipe: PremadeRecipe) -> Composition:
    """The picture of a premade ingredient of the recipe's kind."""
    draw: Mapping[str, Callable[[PremadeRecipe], Composition]] = {
        "photography_style": still_life,
        "background": _background,
        "pose": _pose,
        "fashion_model": _fashion_model,
    }
    return draw[recipe.kind](recipe)


def stance_of(name: str, index: int) -> Stance:
    """The stance that a Pose's name speaks of, else the one at `index`."""
    for word, stance in _STANCE_WORDS.items():
        if word in name.casefold():
            return STANCES[stance]
    return STANCES[STANCE_NAMES[index % len(STANCE_NAMES)]]


def figure_layers(stance: Stance, box: tuple[int, int, int]) -> list[Layer]:
    """A mannequin and its shadow; `box` is the middle, the floor and the height, in pixels."""
    middle, floor, height = box
    width = max(1, round(height * FIGURE_ASPECT))
    image, mask = draw_figure(stance, MANNEQUIN)
    left = middle - width // 2
    shadow = Layer(flat(BLACK), left, floor - height // 14, width, max(1, height // 10), soft_ellipse_mask(100))
    return [shadow, Layer(image, left, floor - height, width, max(1, height), mask)]


def _background(recipe: PremadeRecipe) -> Composition:
    """Without a label, since it will stand behind subjects."""
    name = recipe.name.casefold()
    size = (recipe.width, recipe.height)
    if "beach" in name or "sea" in name.split():
        image = draw_beach(*size)
    elif "brick" in name or "street" in name:
        image = draw_bricks(*size)
    elif "location" in recipe.attributes:
        image = (draw_room, draw_beach, draw_bricks)[recipe.index % 3](*size)
    else:
        image = draw_backdrop(*size, _backdrop_color(name, recipe.index), is_vignetted="gradient" in name)
    return Composition(recipe.width, recipe.height, image, ())


def _backdrop_color(name: str, index: int) -> Color:
    known: Mapping[str, Color] = {
        "white": (246, 246, 244), "warm grey": (186, 178, 170), "grey": (176, 178, 180), "black": (44, 44, 48),
    }  # fmt: skip
    for word, color in known.items():
        if word in name:
            return color
    return color_of_hue(Dice("backdrop", name, index).throw(), 0.2, 0.9)


def _pose(recipe: PremadeRecipe) -> Composition:
    hue = Dice("pose", recipe.name).throw()
    wall, floor = color_of_hue(hue, 0.07, 0.96), color_of_hue(hue, 0.12, 0.87)
    ground = gradient_column(
        ((0.0, wall), (0.78, mix(wall, WHITE, 0.5)), (0.79, floor), (1.0, mix(floor, BLACK, 0.06)))
    )
    height = min(round(recipe.height * 0.80), round(recipe.width / FIGURE_ASPECT * 0.9))
    layers = figure_layers(
        stance_of(recipe.name, recipe.index), (recipe.width // 2, round(recipe.height * 0.89), height)
    )
    layers += label(recipe.name, recipe.width, recipe.height)
    return Composition(recipe.width, recipe.height, ground, tuple(layers))


def _fashion_model(recipe: PremadeRecipe) -> Composition:
    gender = next((word for word in recipe.attributes if word in ("female", "male", "neutral")), "neutral")
    age_range = next((word for word in recipe.attributes if word[:1].isdigit()), "25-35")
    portrait = draw_portrait(recipe.name, gender, age_range, recipe.index)
    wall = portrait.crop((0, 0, 1, 1))
    edge = min(recipe.width, recipe.height)
    left = (recipe.width - edge) // 2
    layers = [Layer(portrait, left, recipe.height - edge, edge, edge)]
    layers += label(f"{recipe.name} · {gender} · {age_range}", recipe.width, recipe.height)
    return Composition(recipe.width, recipe.height, wall, tuple(layers))
