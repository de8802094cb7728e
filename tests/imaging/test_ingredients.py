"""What the pictures of ingredients show: premade ones, and the cards of a Team's
own.
"""

from itertools import combinations

import pytest
from PIL import Image

from image_workflow_emulator.domain.recipes import (
    CardRecipe,
    IngredientKind,
    PremadeRecipe,
)
from image_workflow_emulator.imaging.colors import INK
from image_workflow_emulator.imaging.render import render
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    are_near,
    box_of,
    corner_colors,
    count_of,
    difference,
    encoded,
    four_corners,
)
from tests.support.pictures import decode

CARD_KINDS: tuple[IngredientKind, ...] = ("photography_style", "pose", "fashion_model")
SOURCE = four_corners(200, 120)


def card(
    kind: IngredientKind,
    *sources: Image.Image,
    index: int = 0,
    name: str = "Mine",
) -> Image.Image:
    keys = tuple(f"key {number}" for number in range(len(sources)))
    recipe = CardRecipe(
        width=256,
        height=320,
        format="png",
        kind=kind,
        name=name,
        inputs=keys,
        index=index,
    )
    return decode(render(recipe, [encoded(source, "PNG") for source in sources]))


def premade(kind: IngredientKind, name: str) -> Image.Image:
    recipe = PremadeRecipe(
        width=256,
        height=320,
        format="png",
        kind=kind,
        name=name,
    )
    return decode(render(recipe, []))


def plaque_of(image: Image.Image) -> tuple[int, int, int, int]:
    return box_of(image, INK, 2)


def test_a_background_card_is_its_source_without_words() -> None:
    image = card("background", SOURCE)

    other = card("background", SOURCE, name="Another name")
    assert are_near([RED, GREEN, BLUE, WHITE], corner_colors(image))
    assert difference(image, other) == 0


@pytest.mark.parametrize("kind", CARD_KINDS)
def test_every_card_has_one_plaque_of_one_size(kind: IngredientKind) -> None:
    reference = plaque_of(card("pose", SOURCE))

    cards = [
        card(kind, SOURCE),
        card(kind, SOURCE, name="A very long name that fits no line " * 3),
        card(kind, SOURCE, SOURCE, SOURCE),
        premade(kind, "A name"),
    ]

    assert {plaque_of(image) for image in cards} == {reference}


def test_previews_of_a_style_show_one_source_large_and_the_others_small() -> None:
    colors = (RED, GREEN, BLUE)
    sources = [Image.new("RGB", (50, 50), color) for color in colors]

    for index in range(3):
        image = card("photography_style", *sources, index=index)
        counts = [count_of(image, color, 6) for color in colors]
        assert counts[index] == max(counts)
        assert counts[index] > 20_000
        assert min(counts) > 100


def test_each_premade_pose_is_another() -> None:
    names = ("Standing front", "Three-quarter turn", "Walking", "Hand on hip")

    images = [premade("pose", name) for name in names]

    for first, second in combinations(images, 2):
        assert difference(first, second) > 0.5
