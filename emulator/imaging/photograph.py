"""A Product Photography output: subjects, and people if asked for, on a background.

Owns the layout of such a picture, so that one sees at a glance what was asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image

from emulator.domain.recipes import PhotographRecipe
from emulator.imaging.captions import label
from emulator.imaging.composition import Composition, Layer
from emulator.imaging.decoding import load
from emulator.imaging.drawing import (
    BLACK,
    INK,
    WHITE,
    Color,
    Dice,
    arch_mask,
    color_of_hex,
    color_of_hue,
    cover,
    ellipse_mask,
    flat,
    gradient_column,
    mix,
    rounded_mask,
    soft_box_mask,
    soft_ellipse_mask,
)
from emulator.imaging.figures import FIGURE_ASPECT, STANCE_NAMES, STANCES, Dress, draw_figure, dress_of
from emulator.imaging.subjects import Subject, prepare

_SUBJECT_EDGE = 1280  # pixels; more is not seen
_BACKGROUND_EDGE = 512  # out of focus behind the subjects
_SHAPE_EDGE = 512
_DISTANCES: Mapping[str, float] = {"close": 1.38, "medium": 1.0, "far": 0.62}
_SHOT_SCALES = (1.0, 1.14, 0.88, 1.06)
_SHOT_SCALES_WITH_PEOPLE = (1.0, 0.92, 0.84, 0.96)
_SHOT_SHIFTS = (0.0, -0.05, 0.05, 0.02)
_FLOOR = 0.70  # height at which the wall of an automatic background meets its floor
_FEET = 0.86  # height at which subjects stand
_ROUGH_MASK = 360


@dataclass(frozen=True, slots=True)
class _Camera:
    """Where a place of the scene, in shares of its edges, falls in the picture."""

    width: int
    height: int
    scale: float
    shift: float

    def x(self, place: float) -> float:
        return (0.5 + (place - 0.5) * self.scale + self.shift) * self.width

    def y(self, place: float) -> float:
        return (0.62 + (place - 0.62) * self.scale) * self.height

    def layer(self, image: Image.Image, mask: Image.Image | None, box: tuple[float, float, float, float]) -> Layer:
        """A layer in a box of the scene: left, top, right, bottom."""
        left, top = round(self.x(box[0])), round(self.y(box[1]))
        width, height = max(1, round(self.x(box[2])) - left), max(1, round(self.y(box[3])) - top)
        return Layer(image, left, top, width, height, mask)


def photograph(recipe: PhotographRecipe, inputs: Sequence[bytes]) -> Composition:
    """The picture that a Product Photography slot asks for; `inputs` as in the recipe."""
    series = Dice("series", *recipe.inputs, recipe.background_hex)
    camera = _camera(recipe)
    tint = color_of_hex(recipe.colorway_hex) if recipe.colorway_hex else None
    longest = min(_SUBJECT_EDGE, round(max(recipe.width, recipe.height) * camera.scale * 0.65))
    subjects = [prepare(load(data, longest), tint) for data in inputs[: recipe.subject_count]]
    models = [load(data, _ROUGH_MASK) for data in inputs[len(inputs) - recipe.model_input_count :]]
    ground, layers = _background(recipe, inputs, camera, series)
    is_cut_out = recipe.background_kind == "transparent"
    people = max(recipe.people, len(models))
    layers += _people(people, models, camera, recipe, series, tint)
    layers += _subjects(subjects, camera, is_beside_people=people > 0, has_shadows=not is_cut_out)
    caption = recipe.caption or f"product photography · {recipe.slot}/{recipe.slot_count} · {recipe.resolution}"
    layers += label(caption, recipe.width, recipe.height)
    return Composition(recipe.width, recipe.height, ground, tuple(layers))


def _camera(recipe: PhotographRecipe) -> _Camera:
    shot = recipe.variation % len(_SHOT_SCALES)
    scales = _SHOT_SCALES_WITH_PEOPLE if recipe.people else _SHOT_SCALES
    distance = _DISTANCES.get(recipe.camera_distance or "medium", 1.0)
    return _Camera(recipe.width, recipe.height, distance * scales[shot], _SHOT_SHIFTS[shot])


# ----------------------------------------------------------------------------------------------------------- background


def _background(
    recipe: PhotographRecipe, inputs: Sequence[bytes], camera: _Camera, series: Dice
) -> tuple[Image.Image | None, list[Layer]]:
    if recipe.background_kind == "transparent":
        return None, []
    if recipe.background_kind == "color":
        return flat(color_of_hex(recipe.background_hex or "")), []
    if recipe.background_kind == "picture":
        scene = load(inputs[recipe.subject_count], _BACKGROUND_EDGE).convert("RGB")
        return _moved(cover(scene, recipe.width, recipe.height), recipe.variation), []
    return _studio(recipe, camera, series)


def _moved(scene: Image.Image, variation: int) -> Image.Image:
    """A little less of the scene, from another side for every variation."""
    spare_width, spare_height = scene.width // 12, scene.height // 12
    left = spare_width * (variation % 3) // 2
    top = spare_height * (variation % 2)
    return scene.crop((left, top, left + scene.width - spare_width, top + scene.height - spare_height))


def _studio(recipe: PhotographRecipe, camera: _Camera, series: Dice) -> tuple[Image.Image, list[Layer]]:
    """A coloured wall and floor, with a flat shape behind the subjects that changes from shot to shot."""
    hue, dusk = series.throw(), (recipe.variation % 3) * 0.03
    wall = color_of_hue(hue, 0.16, 0.93 - dusk)
    floor = color_of_hue(hue + 0.02, 0.22, 0.85 - dusk)
    horizon = min(0.95, max(0.3, camera.y(_FLOOR) / recipe.height))
    stops = (
        (0.0, mix(wall, BLACK, 0.06)), (horizon - 0.02, mix(wall, WHITE, 0.35)),
        (horizon, mix(floor, WHITE, 0.12)), (1.0, mix(floor, BLACK, 0.05)),
    )  # fmt: skip
    shape = color_of_hue(hue + (0.08, 0.5, 0.92, 0.04)[recipe.variation % 4], 0.28, 0.94 - dusk)
    return gradient_column(stops), [_shape(recipe, camera, shape)]


def _shape(recipe: PhotographRecipe, camera: _Camera, color: Color) -> Layer:
    """A disc, arch or panel upon the wall."""
    kind = recipe.variation % 3
    edge = min(recipe.width, recipe.height) / recipe.width, min(recipe.width, recipe.height) / recipe.height
    across, up = 0.36 * edge[0], 0.72 * edge[1]
    shade = gradient_column(((0, mix(color, WHITE, 0.25)), (1, color)), 64)
    if kind == 0:
        return camera.layer(
            shade, ellipse_mask(_SHAPE_EDGE, _SHAPE_EDGE), (0.5 - across, 0.08, 0.5 + across, 0.08 + up)
        )
    mask = arch_mask(_SHAPE_EDGE, _SHAPE_EDGE) if kind == 1 else rounded_mask(_SHAPE_EDGE, _SHAPE_EDGE, 24)
    across *= 0.9
    return camera.layer(shade, mask, (0.5 - across, _FLOOR - up * 0.86, 0.5 + across, _FLOOR))


# --------------------------------------------------------------------------------------------------------------- people


def _people(
    count: int,
    models: Sequence[Image.Image],
    camera: _Camera,
    recipe: PhotographRecipe,
    series: Dice,
    tint: Color | None,
) -> list[Layer]:
    """Figures in a row on the left; those of chosen Fashion Models with their picture beside the head."""
    layers: list[Layer] = []
    shadow = flat(mix(INK, BLACK, 0.4))
    height = 0.80 if count < 3 else 0.72
    across = height * FIGURE_ASPECT * recipe.height / recipe.width / 2
    for number in range(count):
        middle = _person_middle(number, count, across)
        stance = STANCES[STANCE_NAMES[(recipe.variation + number) % 4]]
        dress = dress_of(Dice("dress", number, series.throw()))
        if tint is not None:
            dress = Dress(dress.skin, dress.hair, tint, dress.trousers)
        image, mask = draw_figure(stance, dress)
        foot = _FEET + 0.02 * (number % 2)
        if recipe.background_kind != "transparent":
            box = (middle - across, foot - 0.055, middle + across, foot + 0.035)
            layers.append(camera.layer(shadow, soft_ellipse_mask(100), box))
        layers.append(camera.layer(image, mask, (middle - across, foot - height, middle + across, foot)))
        if number < len(models):
            layers += _model_badge(models[number], camera, recipe, middle, foot - height)
    return layers


def _person_middle(number: int, count: int, across: float) -> float:
    room = 0.5 if count > 1 else 0.0
    first = max(across * 0.62, 0.28 if count == 1 else 0.16)
    return first + (room / (count - 1) * number if count > 1 else 0.0)


def _model_badge(
    model: Image.Image, camera: _Camera, recipe: PhotographRecipe, middle: float, head: float
) -> list[Layer]:
    """The Fashion Model's picture as a round badge over the figure's head."""
    portrait = cover(model.convert("RGB"), 1, 1)
    edge = 0.15
    across = edge * recipe.height / recipe.width / 2
    ring = ellipse_mask(200, 200)
    box = (middle - across, head - 0.03, middle + across, head - 0.03 + edge)
    rim = 0.06 * edge
    rim_across = rim * recipe.height / recipe.width
    outer = (box[0] - rim_across, box[1] - rim, box[2] + rim_across, box[3] + rim)
    return [camera.layer(flat(WHITE), ring, outer), camera.layer(portrait, ring, box)]


# ------------------------------------------------------------------------------------------------------------- subjects


def _subjects(subjects: Sequence[Subject], camera: _Camera, is_beside_people: bool, has_shadows: bool) -> list[Layer]:
    """Subjects in one or two rows, all standing on the floor, each with its shadow."""
    left, right = (0.40, 0.96) if is_beside_people else (0.08, 0.92)
    tallest = 0.44 if is_beside_people else 0.60
    behind = len(subjects) // 2 if len(subjects) > 3 else 0
    layers: list[Layer] = []
    if behind:
        layers += _row(
            subjects[len(subjects) - behind :], camera, (left, right, _FEET - 0.13, tallest * 0.72), has_shadows
        )
    front_tallest = tallest * (0.72 if behind else 1)
    return layers + _row(subjects[: len(subjects) - behind], camera, (left, right, _FEET, front_tallest), has_shadows)


def _row(
    subjects: Sequence[Subject], camera: _Camera, room: tuple[float, float, float, float], has_shadows: bool
) -> list[Layer]:
    """Subjects side by side; `room` is left, right, the floor, and how tall they may be."""
    left, right, floor, tallest = room
    gap = 0.03
    aspects = [subject.image.width / subject.image.height * camera.height / camera.width for subject in subjects]
    free = right - left - gap * (len(subjects) - 1)
    # Heights differ, so that none is wider than its share and a small thing is not blown up beside a wide one.
    widest = free * min(1.0, 1.35 / len(subjects))
    heights = [min(tallest, widest / aspect) for aspect in aspects]
    widths = [height * aspect for height, aspect in zip(heights, aspects, strict=True)]
    shrink = min(1.0, free / sum(widths))
    place = (left + right - sum(widths) * shrink - gap * (len(subjects) - 1)) / 2
    layers: list[Layer] = []
    for subject, width, height in zip(subjects, widths, heights, strict=True):
        box = (place, floor - height * shrink, place + width * shrink, floor)
        layers += (_shadow(subject, camera, box) if has_shadows else []) + [
            camera.layer(subject.image, subject.mask, box)
        ]
        place = box[2] + gap
    return layers


def _shadow(subject: Subject, camera: _Camera, box: tuple[float, float, float, float]) -> list[Layer]:
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    dark = flat(BLACK)
    if subject.is_framed:
        spread = (left - width * 0.07, top - height * 0.05, right + width * 0.09, bottom + height * 0.1)
        return [camera.layer(dark, soft_box_mask(96), spread)]
    depth = min(0.10, height * 0.3)
    under = (left - width * 0.22, bottom - depth * 0.62, right + width * 0.30, bottom + depth * 0.5)
    return [camera.layer(dark, soft_ellipse_mask(115), under)]
