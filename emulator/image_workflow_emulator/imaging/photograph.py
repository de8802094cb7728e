"""A Product Photography output: its scene, and a plaque with every choice."""

from collections.abc import Iterator, Sequence

from image_workflow_emulator.domain.recipes import PhotographRecipe
from image_workflow_emulator.imaging.colors import (
    Color,
    chance,
    color_of,
    color_of_hue,
    named_color,
)
from image_workflow_emulator.imaging.pictures import Picture
from image_workflow_emulator.imaging.plaque import Chip, Plaque, with_plaque
from image_workflow_emulator.imaging.shot import Shot
from image_workflow_emulator.imaging.shot_inputs import ShotInputs, read_inputs


def photograph(recipe: PhotographRecipe, inputs: Sequence[bytes]) -> Picture:
    """The picture of a Product Photography slot; `inputs` as in the recipe."""
    color = _colorway(recipe)
    pictures = read_inputs(recipe, inputs, color)
    shot = Shot(recipe, pictures)
    plaque = _plaque(recipe, pictures, color)
    return with_plaque(recipe, plaque, shot.draw)


def _colorway(recipe: PhotographRecipe) -> Color | None:
    """The colorway's colour: its value, else the one that its name contains, else
    any.
    """
    if recipe.colorway is None:
        return None
    if recipe.colorway_hex is not None:
        return color_of(recipe.colorway_hex)
    name = recipe.colorway.casefold()
    joined = name.replace(" ", "")
    last_word_first = reversed(name.split())
    color = named_color((joined, *last_word_first))
    if color is not None:
        return color
    return color_of_hue(
        hue=chance(name),
        saturation=0.6,
        value=0.7,
    )


def _plaque(
    recipe: PhotographRecipe,
    pictures: ShotInputs,
    color: Color | None,
) -> Plaque:
    title = ", ".join(recipe.product_names)
    if not title:
        title = _counted(recipe.subject_count, "photo")
    return Plaque(
        sign=f"{recipe.slot}/{recipe.slot_count}",
        accent=color_of_hue(
            hue=recipe.slot * 0.38,
            saturation=0.5,
            value=1.0,
        ),
        title=title,
        facts=" · ".join(filter(None, _facts(recipe))),
        chips=list(_chips(recipe, pictures, color)),
        quotation=recipe.directions,
    )


def _counted(
    number: int,
    noun: str,
    plural: str = "",
) -> str:
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
    recipe: PhotographRecipe,
    pictures: ShotInputs,
    color: Color | None,
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
