"""A Product Photography output: products before a background, and all that was asked for to be seen or read.

Owns the layout of such a picture: the plaque below or beside, people along an edge, the products in the middle.
"""

from collections.abc import Mapping, Sequence

from PIL import Image, ImageColor

from emulator.domain.recipes import PhotographRecipe
from emulator.imaging.captions import Chip, Plaque
from emulator.imaging.composition import Composition, Layer, captioned, framed, place
from emulator.imaging.decoding import load
from emulator.imaging.drawing import (
    WHITE,
    Color,
    Dice,
    color_of_hex,
    color_of_hue,
    cover,
    ellipse_mask,
    flat,
    opaque,
    pale_wall,
    rounded_mask,
    trimmed,
)
from emulator.imaging.layout import Box, Edge, arrange
from emulator.imaging.people import draw_portrait

_SUBJECT_EDGE = 1280  # pixels; more is not seen
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
"""By slot: the share of its room that products take, where across it they are, and where down it people are."""
_SHAPES = (0.5, 0.06, 0.3, 0.15)  # of the shape upon an automatic backdrop: how round its corners are


def photograph(recipe: PhotographRecipe, inputs: Sequence[bytes]) -> Composition:
    """The picture that a Product Photography slot asks for; `inputs` as in the recipe."""
    pictures = iter(inputs)
    subjects = [next(pictures) for _ in range(recipe.subject_count)]
    scene = next(pictures) if recipe.background_kind == "picture" else None
    models = [opaque(load(next(pictures), _PORTRAIT_EDGE)) for _ in range(recipe.model_input_count)]
    chips = _chips(recipe, [opaque(load(data, _SWATCH_EDGE)) for data in pictures])

    is_solid = recipe.background_kind != "transparent"
    room, words = captioned(recipe.width, recipe.height, _plaque(recipe, chips))
    people_room, room = _split(recipe, room, models)
    share, across, down = _ARRANGEMENTS[(recipe.slot - 1) % len(_ARRANGEMENTS)]
    room = room.part(share * _DISTANCES.get(recipe.camera_distance, 1.0), across)
    ground, layers = _background(recipe, scene, room)
    layers += _people(recipe, models, people_room, down)
    layers += _subjects(recipe, subjects, room, is_solid)
    return Composition(recipe.width, recipe.height, ground, (*layers, *words))


# ---------------------------------------------------------------------------------------------------------------- words


def _plaque(recipe: PhotographRecipe, chips: tuple[Chip, ...]) -> Plaque:
    distance = recipe.camera_distance and f"{recipe.camera_distance} distance"
    facts = (recipe.resolution, f"{recipe.width} x {recipe.height}", distance)
    return Plaque(
        title="Product photography",
        facts=" · ".join(fact for fact in facts if fact),
        words=recipe.directions,
        chips=chips,
        badge=f"{recipe.slot}/{recipe.slot_count}",
        accent=_ACCENTS[(recipe.slot - 1) % len(_ACCENTS)],
    )


def _chips(recipe: PhotographRecipe, swatches: Sequence[Image.Image]) -> tuple[Chip, ...]:
    pictures = iter(swatches)
    chosen = (("Style", recipe.photography_style), ("Pose", recipe.pose))
    chips = [Chip(kind, name, next(pictures)) for kind, name in chosen if name is not None]
    if recipe.colorway is not None:
        chips.append(Chip("Colorway", recipe.colorway, _colorway(recipe)))
    return tuple(chips)


def _colorway(recipe: PhotographRecipe) -> Color | None:
    """The colorway's colour; without one, what its name says, if that is the name of a colour."""
    if recipe.colorway_hex is not None:
        return color_of_hex(recipe.colorway_hex)
    value = ImageColor.colormap.get((recipe.colorway or "").casefold().replace(" ", ""))
    return color_of_hex(value) if isinstance(value, str) else None


# ----------------------------------------------------------------------------------------------------------- background


def _background(recipe: PhotographRecipe, scene: bytes | None, room: Box) -> tuple[Image.Image | None, list[Layer]]:
    if scene is not None:
        return cover(opaque(load(scene, _BACKGROUND_EDGE)), recipe.width / recipe.height), []
    if recipe.background_kind == "transparent":
        return None, []
    if recipe.background_kind == "color":
        return flat(color_of_hex(recipe.background_hex or "")), []
    hue = Dice("backdrop", *recipe.inputs).throw()
    edge = min(room.width, room.height)
    box = Box(room.left + (room.width - edge) / 2, room.top + (room.height - edge) / 2, edge, edge)
    roundness = _SHAPES[(recipe.slot - 1) % len(_SHAPES)] * edge
    return pale_wall(hue), [place(flat(color_of_hue(hue, 0.05, 0.99)), box, rounded_mask(edge, edge, roundness))]


# --------------------------------------------------------------------------------------------------------------- people


def _split(recipe: PhotographRecipe, room: Box, models: Sequence[Image.Image]) -> tuple[Box, Box]:
    """A strip for people along an edge that depends on the slot, and the room for the products."""
    aspects = _aspects(recipe, models)
    if not aspects:
        return room, room
    gap = min(recipe.width, recipe.height) * 0.04
    gaps = gap * (len(aspects) - 1)
    edges: Sequence[Edge] = ("right", "left") if room.width > room.height * 0.95 else ("top", "bottom")
    edge = edges[(recipe.slot - 1) % len(edges)]
    if edge in ("left", "right"):
        size = min(room.width * 0.32, (room.height - gaps) / sum(1 / aspect for aspect in aspects))
    else:
        size = min(room.height * 0.32, (room.width - gaps) / sum(aspects))
    return room.split(edge, max(1.0, size), gap)


def _aspects(recipe: PhotographRecipe, models: Sequence[Image.Image]) -> list[float]:
    automatic = max(0, recipe.people - len(models))
    return [model.width / model.height for model in models] + [1.0] * automatic


def _people(recipe: PhotographRecipe, models: Sequence[Image.Image], room: Box, down: float) -> list[Layer]:
    """Chosen Fashion Models as prints, automatic ones as round portraits."""
    short = min(recipe.width, recipe.height)
    aspects = _aspects(recipe, models)
    is_solid = recipe.background_kind != "transparent"
    layers: list[Layer] = []
    for number, box in enumerate(arrange(aspects, room, short * 0.04, down) if aspects else ()):
        if number < len(models):
            layers += framed(models[number], box, short * 0.008, is_solid)
            continue
        dice = Dice("person", number, *recipe.inputs)
        gender = ("female", "male", "neutral")[round(dice.throw() * 255) % 3]
        portrait = draw_portrait(gender, "25-35", round(dice.throw() * 255), _PORTRAIT_EDGE)
        layers.append(place(flat(WHITE), box, ellipse_mask()))
        layers.append(place(portrait, box.grown(-short * 0.008), ellipse_mask()))
    return layers


# ------------------------------------------------------------------------------------------------------------- products


def _subjects(recipe: PhotographRecipe, files: Sequence[bytes], room: Box, is_solid: bool) -> list[Layer]:
    """Products side by side, beginning with another one in each slot; cut out where transparent, else as prints."""
    first = (recipe.slot - 1) % len(files)
    longest = min(_SUBJECT_EDGE, round(max(room.width, room.height)))
    images = [trimmed(load(data, longest)) for data in (*files[first:], *files[:first])]
    short = min(recipe.width, recipe.height)
    boxes = arrange([image.width / image.height for image in images], room, short * 0.04)
    pairs = zip(images, boxes, strict=True)
    return [layer for image, box in pairs for layer in framed(image, box, short * 0.012, is_solid)]
