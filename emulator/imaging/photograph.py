"""A Product Photography output: products before a background, and every choice of the request as a picture or as text.

Owns the layout of such a picture: the plaque below or beside, people along an edge, the products in the middle.
"""

from collections.abc import Mapping, Sequence

from PIL import Image, ImageColor

from emulator.domain.recipes import PhotographRecipe
from emulator.imaging.captions import Chip, Plaque, captioned
from emulator.imaging.composition import Layer, Paint, compose, framed, place
from emulator.imaging.decoding import load
from emulator.imaging.drawing import (
    WHITE,
    Color,
    chance,
    color_of_hex,
    color_of_hue,
    cover,
    ellipse_mask,
    opaque,
    pale_wall,
    rounded_mask,
    trimmed,
)
from emulator.imaging.layout import Box, Edge, around, arrange
from emulator.imaging.people import draw_portrait

_SUBJECT_EDGE = 1280  # pixels; more makes no visible difference
_BACKGROUND_EDGE = 1024
_SWATCH_EDGE = 128
_PORTRAIT_EDGE = 320
_DISTANCES: Mapping[str | None, float] = {"close": 1.0, "medium": 0.82, "far": 0.6, None: 0.92}
_ACCENTS: Sequence[Color] = (
    (255, 196, 84), (110, 212, 190), (255, 146, 126), (150, 186, 255), (214, 164, 250), (178, 220, 106),
)  # fmt: skip
_ARRANGEMENTS = (
    (1.0, 0.5, 0.5), (0.93, 0.2, 0.5), (0.93, 0.8, 0.0), (0.86, 0.5, 1.0), (0.8, 0.3, 0.0), (0.8, 0.7, 1.0),
)  # fmt: skip
"""By slot: the share of the width for products, their place across it, and the place of people down it."""
_SHAPES = (0.5, 0.06, 0.3, 0.15)  # of the shape upon an automatic backdrop: how round its corners are


def photograph(recipe: PhotographRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """The picture of a Product Photography slot; `inputs` as in the recipe."""
    pictures = iter(inputs)
    subjects = [next(pictures) for _ in range(recipe.subject_count)]
    scene = next(pictures) if recipe.background_kind == "picture" else None
    models = [opaque(load(next(pictures), _PORTRAIT_EDGE)) for _ in range(recipe.model_input_count)]
    chips = _chips(recipe, [_without_words(load(data, _SWATCH_EDGE)) for data in pictures])

    room, words = captioned(recipe.width, recipe.height, _plaque(recipe, chips))
    share, across, down = _ARRANGEMENTS[(recipe.slot - 1) % len(_ARRANGEMENTS)]
    people, room = _people(recipe, models, room, down)
    room = room.part(share * _DISTANCES.get(recipe.camera_distance, 1.0), across)
    ground, layers = _background(recipe, scene, room)
    products = _products(recipe, subjects, room)
    return compose(recipe.width, recipe.height, ground, (*layers, *people, *products, *words))


# ---------------------------------------------------------------------------------------------------------------- words


def _plaque(recipe: PhotographRecipe, chips: tuple[Chip, ...]) -> Plaque:
    has_distance = recipe.camera_distance is not None
    detail = f"{recipe.camera_distance} distance" if has_distance else f"{recipe.width} x {recipe.height}"
    return Plaque(
        title="Product photography",
        facts=f"{recipe.resolution} · {detail}",
        words=recipe.directions,
        chips=chips,
        badge=f"{recipe.slot}/{recipe.slot_count}",
        accent=_ACCENTS[(recipe.slot - 1) % len(_ACCENTS)],
    )


def _chips(recipe: PhotographRecipe, swatches: Sequence[Image.Image]) -> tuple[Chip, ...]:
    pictures = iter(swatches)
    chips = [Chip(name, next(pictures)) for name in (recipe.photography_style, recipe.pose) if name is not None]
    if recipe.colorway is not None:
        chips.append(Chip(recipe.colorway, _colorway(recipe)))
    return tuple(chips)


def _without_words(card: Image.Image) -> Image.Image:
    """The upper part of an ingredient's card, above its plaque."""
    return opaque(card).crop((0, 0, card.width, max(1, round(card.height * 0.74))))


def _colorway(recipe: PhotographRecipe) -> Color | None:
    """The colorway's colour; without one, what its name says, if that is the name of a colour."""
    if recipe.colorway_hex is not None:
        return color_of_hex(recipe.colorway_hex)
    value = ImageColor.colormap.get((recipe.colorway or "").casefold().replace(" ", ""))
    return color_of_hex(value) if isinstance(value, str) else None


# ----------------------------------------------------------------------------------------------------------- background


def _background(recipe: PhotographRecipe, scene: bytes | None, room: Box) -> tuple[Paint | None, list[Layer]]:
    if scene is not None:
        return cover(opaque(load(scene, _BACKGROUND_EDGE)), recipe.width / recipe.height), []
    if recipe.background_kind == "transparent":
        return None, []
    if recipe.background_kind == "color":
        return color_of_hex(recipe.background_hex or ""), []
    hue = chance("backdrop", *recipe.inputs)
    edge = min(room.width, room.height)
    box = Box(room.left + (room.width - edge) / 2, room.top + (room.height - edge) / 2, edge, edge)
    roundness = _SHAPES[(recipe.slot - 1) % len(_SHAPES)] * edge
    return pale_wall(hue), [place(color_of_hue(hue, 0.05, 0.99), box, rounded_mask(edge, edge, roundness))]


# --------------------------------------------------------------------------------------------------------------- people


def _people(recipe: PhotographRecipe, models: Sequence[Image.Image], room: Box, down: float) -> tuple[list[Layer], Box]:
    """Portraits in a strip along an edge that depends on the slot, and the remaining box for the products.

    Chosen Fashion Models are pictures with white borders, automatic people are round.
    """
    people = max(recipe.people, len(models))
    if people == 0:
        return [], room
    short = min(recipe.width, recipe.height)
    gap, rim = short * 0.04, short * 0.008
    is_beside = room.width > room.height * 0.8
    edges: Sequence[Edge] = ("right", "left") if is_beside else ("top", "bottom")
    edge = edges[(recipe.slot - 1) % 2]
    aspects = [model.width / model.height for model in models] + [1.0] * (people - len(models))
    strip, _ = room.split(edge, (room.width if is_beside else room.height) * 0.32, gap)
    needed = around(arrange(aspects, strip, gap))
    strip, rest = room.split(edge, needed.width if is_beside else needed.height, gap)
    layers: list[Layer] = []
    for number, box in enumerate(arrange(aspects, strip, gap, down)):
        if number < len(models):
            layers += framed(models[number], box, rim, recipe.background_kind != "transparent")
        else:
            look = round(chance("person", number, *recipe.inputs) * 255)
            portrait = draw_portrait(("female", "male", "neutral")[look % 3], "25-35", look, _PORTRAIT_EDGE)
            layers += [place(WHITE, box, ellipse_mask()), place(portrait, box.grown(-rim), ellipse_mask())]
    return layers, rest


# ------------------------------------------------------------------------------------------------------------- products


def _products(recipe: PhotographRecipe, files: Sequence[bytes], room: Box) -> list[Layer]:
    """Products side by side, another one first in each slot; cut out where transparent, else with white borders."""
    first = (recipe.slot - 1) % len(files)
    longest = min(_SUBJECT_EDGE, round(max(room.width, room.height)))
    images = [trimmed(load(data, longest)) for data in (*files[first:], *files[:first])]
    short = min(recipe.width, recipe.height)
    boxes = arrange([image.width / image.height for image in images], room, short * 0.04)
    has_shadow = recipe.background_kind != "transparent"
    pairs = zip(images, boxes, strict=True)
    return [layer for image, box in pairs for layer in framed(image, box, short * 0.012, has_shadow)]
