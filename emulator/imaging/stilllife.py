"""A swatch of a Photography Style: simple bodies under its light, in its mood.

Owns what a style's name says about light and colour.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFilter

from emulator.domain.recipes import PremadeRecipe
from emulator.imaging.captions import label
from emulator.imaging.composition import Composition, Layer
from emulator.imaging.drawing import BLACK, WHITE, Color, Dice, color_of_hue, ellipse_mask, flat, gradient_column, mix

_EDGE = 512  # pixels of a drawn body


@dataclass(frozen=True, slots=True)
class Mood:
    """Colours and light: `side` is -1 for light from the left, `softness` from 0 to 1, `contrast` of the shaded side."""

    wall: Color
    floor: Color
    body: Color
    light: Color
    side: int
    softness: float
    contrast: float


_MOODS: Mapping[str, Mood] = {
    "daylight": Mood((226, 230, 230), (236, 234, 228), (196, 206, 196), (255, 255, 252), -1, 1.0, 0.38),
    "flash": Mood((208, 210, 216), (190, 192, 200), (206, 84, 70), WHITE, 1, 0.0, 0.72),
    "golden": Mood((240, 190, 128), (222, 158, 98), (226, 142, 84), (255, 236, 190), 1, 0.4, 0.62),
    "moody": Mood((40, 42, 50), (30, 31, 38), (96, 92, 112), (250, 226, 190), -1, 0.6, 0.92),
}


def still_life(recipe: PremadeRecipe) -> Composition:
    """A ball, a block and a drum; `index` arranges them."""
    mood = _mood_of(recipe.name)
    bodies = (("ball",), ("block", "ball"), ("drum", "block"))[recipe.index % 3]
    horizon = 0.62
    ground = gradient_column(
        ((0.0, mix(mood.wall, BLACK, 0.10)), (horizon - 0.002, mix(mood.wall, mood.light, 0.35)),
         (horizon + 0.002, mix(mood.floor, mood.light, 0.15)), (1.0, mix(mood.floor, BLACK, 0.12))),
    )  # fmt: skip
    short = min(recipe.width, recipe.height)
    layers = [_pool_of_light(mood, recipe, short)]
    for number, body in enumerate(bodies):
        size = round(short * (0.46 if len(bodies) == 1 else 0.36))
        middle = recipe.width // 2 + round((number - (len(bodies) - 1) / 2) * short * 0.40)
        floor = round(recipe.height * (0.74 + 0.03 * number))
        tone = mood.body if number == 0 else mix(mood.body, mood.light, 0.45)
        layers += _body(body, mood, tone, (middle, floor, size))
    layers += label(recipe.name, recipe.width, recipe.height)
    return Composition(recipe.width, recipe.height, ground, tuple(layers))


def _mood_of(name: str) -> Mood:
    words = name.casefold()
    for word, mood in (("low key", _MOODS["moody"]), ("studio", _MOODS["flash"]), *_MOODS.items()):
        if word in words:
            return mood
    dice = Dice("mood", name)
    hue = dice.throw()
    wall, body = color_of_hue(hue, 0.15, 0.9), color_of_hue(hue + 0.45, 0.5, 0.8)
    return Mood(wall, mix(wall, BLACK, 0.08), body, (255, 252, 244), -1 if dice.throw() < 0.5 else 1, dice.throw(), 0.6)


def _pool_of_light(mood: Mood, recipe: PremadeRecipe, short: int) -> Layer:
    """A bright place on the wall, where the light comes from."""
    glow = Image.radial_gradient("L").point([max(0, 255 - value * 3 // 2) * 3 // 5 for value in range(256)])
    edge = round(short * 1.5)
    left = round(recipe.width * (0.5 + mood.side * 0.30)) - edge // 2
    return Layer(flat(mood.light), left, round(recipe.height * 0.22) - edge // 2, edge, edge, glow)


def _body(kind: str, mood: Mood, tone: Color, place: tuple[int, int, int]) -> list[Layer]:
    middle, floor, size = place
    lit = mix(tone, mood.light, 0.55)
    dark = mix(tone, mix(BLACK, mood.wall, 0.15), mood.contrast)
    image, mask = {"ball": _ball, "block": _block, "drum": _drum}[kind](tone, lit, dark, mood.side)
    left = middle - size // 2
    return [_cast_shadow(mood, middle, floor, size), Layer(image, left, floor - size, size, size, mask)]


def _cast_shadow(mood: Mood, middle: int, floor: int, size: int) -> Layer:
    mask = Image.new("L", (256, 96), 0)
    ImageDraw.Draw(mask).ellipse((40, 28, 215, 67), fill=round(90 + 120 * mood.contrast))
    mask = mask.filter(ImageFilter.GaussianBlur(2 + 10 * mood.softness))
    width, height = round(size * 1.9), round(size * 0.42)
    return Layer(
        flat(BLACK), middle - width // 2 - mood.side * size // 3, floor - round(height * 0.62), width, height, mask
    )


def _ball(tone: Color, lit: Color, dark: Color, side: int) -> tuple[Image.Image, Image.Image]:
    """Shaded by its distance from the lit spot."""
    spot = Image.radial_gradient("L").resize((_EDGE * 2, _EDGE * 2), Image.Resampling.BILINEAR)
    left = round(_EDGE * (0.5 - side * 0.22))
    shade = spot.crop((left, round(_EDGE * 0.70), left + _EDGE, round(_EDGE * 0.70) + _EDGE))
    return _shaded(shade, tone, lit, dark, 0.9), ellipse_mask(_EDGE, _EDGE)


def _drum(tone: Color, lit: Color, dark: Color, side: int) -> tuple[Image.Image, Image.Image]:
    """A cylinder, shaded around its side, with its top seen."""
    shade = Image.linear_gradient("L").rotate(90 * side).resize((_EDGE, _EDGE))
    image = _shaded(shade, tone, lit, dark, 1.0)
    mask, rim = Image.new("L", (_EDGE, _EDGE), 0), (90, 105, _EDGE - 90, 195)
    draw = ImageDraw.Draw(mask)
    draw.rectangle((90, 150, _EDGE - 90, _EDGE - 45), fill=255)
    for ellipse in (rim, (90, _EDGE - 90, _EDGE - 90, _EDGE - 1)):
        draw.ellipse(ellipse, fill=255)
    ImageDraw.Draw(image).ellipse(rim, fill=mix(tone, lit, 0.8))
    return image, mask


def _block(tone: Color, lit: Color, dark: Color, side: int) -> tuple[Image.Image, Image.Image]:
    """A cube seen on an edge: one face lit, one dark."""
    image, mask = Image.new("RGB", (_EDGE, _EDGE), tone), Image.new("L", (_EDGE, _EDGE), 0)
    top = [(256, 90), (450, 165), (256, 250), (62, 165)]
    left_face = [(62, 165), (256, 250), (256, 510), (62, 410)]
    right_face = [(450, 165), (256, 250), (256, 510), (450, 410)]
    bright, shaded = mix(tone, lit, 0.35), mix(tone, dark, 0.8)
    colors = (mix(tone, lit, 0.95), bright if side < 0 else shaded, shaded if side < 0 else bright)
    for face, color in zip((top, left_face, right_face), colors, strict=True):
        ImageDraw.Draw(image).polygon(face, fill=color)
        ImageDraw.Draw(mask).polygon(face, fill=255)
    return image, mask


def _shaded(shade: Image.Image, tone: Color, lit: Color, dark: Color, reach: float) -> Image.Image:
    """A body's colours by how far (0 to 255) each place is from the light."""
    stops = gradient_column(((0.0, lit), (0.38 * reach, tone), (0.85 * reach, dark), (1.0, mix(dark, BLACK, 0.1))), 256)
    tables = [list(channel.tobytes()) for channel in stops.split()]
    return Image.merge("RGB", [shade.point(table) for table in tables])
