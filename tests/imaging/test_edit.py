"""An edit shows its inputs unchanged, and the instructions large and whole."""

import pytest
from PIL import Image

from image_workflow_emulator.domain.recipes import EditRecipe
from image_workflow_emulator.imaging.colors import INK
from image_workflow_emulator.imaging.render import render
from tests.imaging.pictures import (
    BLUE,
    RED,
    box_of,
    count_of,
    difference,
    encoded,
    four_corners,
    product,
)
from tests.support.pictures import decode

EDGE = 512


def edited(
    *sources: Image.Image,
    instructions: str = "Make it so.",
    width: int = EDGE,
    height: int = EDGE,
) -> Image.Image:
    keys = tuple(f"key {number}" for number in range(len(sources)))
    recipe = EditRecipe(
        width=width,
        height=height,
        format="png",
        inputs=keys,
        instructions=instructions,
    )
    return decode(render(recipe, [encoded(source, "PNG") for source in sources]))


def panel_of(image: Image.Image) -> Image.Image:
    """The part of a picture around what is as dark as a panel."""
    return image.crop(box_of(image, INK, 2))


def letter_count(image: Image.Image) -> int:
    return count_of(panel_of(image), (255, 255, 255), 60)


@pytest.mark.parametrize(
    "instructions",
    [
        "Make it black and white",
        "make the mug green",
        "remove the background",
        "put it on a pink wall",
    ],
)
def test_words_are_not_obeyed(instructions: str) -> None:
    source = product(RED)

    image = edited(source, instructions=instructions)

    shown = image.crop(box_of(image, RED, 6)).resize((60, 60))
    original = source.crop(box_of(source, RED, 6)).resize((60, 60))
    assert difference(shown, original) < 3


def test_two_instructions_change_no_pixel_of_the_input() -> None:
    source = four_corners(200, 200)

    first = edited(source, instructions="Paint it black")
    second = edited(source, instructions="Paint it white")

    place = box_of(first, RED, 2)
    assert box_of(second, RED, 2) == place
    assert first.crop(place).tobytes() == second.crop(place).tobytes()


def test_an_input_is_shown_with_its_ground() -> None:
    source = product(RED, BLUE)

    image = edited(source)

    assert count_of(image, BLUE, 6) > 2 * count_of(image, RED, 6)


@pytest.mark.parametrize("count", range(1, 9))
def test_every_input_is_shown(count: int) -> None:
    colors = []
    for number in range(count):
        color = (25 * number + 20, 240 - 30 * number, (number * 97) % 200)
        colors.append(color)

    image = edited(*(Image.new("RGB", (90, 120), color) for color in colors))

    shown = {color for _, color in image.getcolors(EDGE * EDGE) or []}
    assert shown.issuperset(colors)


@pytest.mark.parametrize(
    ("width", "height"),
    [(512, 218), (512, 512), (288, 512), (218, 512)],
)
def test_long_instructions_cover_no_input(width: int, height: int) -> None:
    words = "every word of this matters " * 400
    source = Image.new("RGB", (90, 60), RED)

    image = edited(source, instructions=words, width=width, height=height)

    assert count_of(image, RED, 6) > 0.04 * width * height


@pytest.mark.parametrize(("width", "height"), [(1024, 438), (1024, 1024), (438, 1024)])
def test_the_last_word_of_long_instructions_is_shown(width: int, height: int) -> None:
    source = Image.new("RGB", (90, 60), RED)
    sentence = "Keep the label readable and the light soft. "

    without = edited(source, instructions=sentence * 12, width=width, height=height)
    image = edited(
        source,
        instructions=sentence * 12 + "End.",
        width=width,
        height=height,
    )

    assert letter_count(image) != letter_count(without)


def test_short_instructions_are_larger_than_long_ones() -> None:
    source = Image.new("RGB", (90, 60), RED)

    short = edited(source, instructions="Oo")
    long = edited(source, instructions="Oo " * 200)

    assert letter_count(short) / 2 > 4 * letter_count(long) / 400


def test_instructions_can_be_read_at_200_pixels() -> None:
    image = edited(product(RED), instructions="Make it blue", width=1024, height=1024)

    image.thumbnail((200, 200))

    panel = panel_of(image)
    letters = count_of(panel, (255, 255, 255), 120)
    assert letters > 0.03 * panel.width * panel.height
