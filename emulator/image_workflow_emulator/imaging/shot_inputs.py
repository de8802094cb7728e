"""The pictures from which a Product Photography is made."""

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from image_workflow_emulator.domain.recipes import PhotographRecipe
from image_workflow_emulator.imaging.cards import PICTURE_SHARE
from image_workflow_emulator.imaging.codecs import load
from image_workflow_emulator.imaging.colors import Color, opaque
from image_workflow_emulator.imaging.cutouts import HELD_EDGE, SUBJECT_EDGE, subject_of
from image_workflow_emulator.imaging.memo import remembered
from image_workflow_emulator.imaging.photographed_heads import head_in
from image_workflow_emulator.imaging.pictures import Picture
from image_workflow_emulator.imaging.views import view_of

_SCENE_EDGE = 1024
_MODEL_EDGE = 480
_SWATCH_EDGE = 160
"""Pixels; more makes no visible difference."""


class ShotInputs(Struct, frozen=True):
    """The pictures that a recipe names."""

    subjects: Sequence[Picture]
    scene: Picture | None
    heads: Sequence[Picture]
    style: Picture | None
    pose: Picture | None


def read_inputs(
    recipe: PhotographRecipe,
    inputs: Sequence[bytes],
    color: Color | None,
) -> ShotInputs:
    """Read the files of a recipe, with its subjects in a colour if one is given."""
    files = iter(inputs)
    has_figures = recipe.people > 0
    enough = SUBJECT_EDGE
    if has_figures and not view_of(recipe).is_detail:
        enough = HELD_EDGE
    subject_files = islice(files, recipe.subject_count)
    subjects = [subject_of(file, enough, color) for file in subject_files]
    scene = None
    if recipe.background_kind == "picture":
        scene = _picture_of(next(files), _SCENE_EDGE)
    model_files = islice(files, recipe.model_input_count)
    heads = [_head_of(file) for file in model_files]
    style = None
    if recipe.photography_style is not None:
        style = _preview_of(next(files))
    pose = None
    if recipe.pose is not None:
        pose = _preview_of(next(files))
    return ShotInputs(
        subjects=subjects,
        scene=scene,
        heads=heads,
        style=style,
        pose=pose,
    )


@remembered
def _picture_of(data: bytes, enough: int) -> Picture:
    return opaque(load(data, enough))


@remembered
def _preview_of(data: bytes) -> Picture:
    return _above_plaque(load(data, _SWATCH_EDGE))


@remembered
def _head_of(data: bytes) -> Picture:
    return head_in(_above_plaque(load(data, _MODEL_EDGE)))


def _above_plaque(card: Picture) -> Picture:
    """The part of an ingredient's card that is a picture, in RGB."""
    height = max(1, round(card.height * PICTURE_SHARE))
    above_plaque = (0, 0, card.width, height)
    return opaque(card).crop(above_plaque)
