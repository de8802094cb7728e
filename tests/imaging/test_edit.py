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
    recipe = EditRecipe(
        width=width,
        height=height,
        format="png",
        inputs=tuple(f"key {number}" for number in range(len(sources))),
        instructions=instructions,
    )
    files = [encoded(source, "PNG") for source in sources]
    output = render(recipe, files)
    return decode(output)


def red_part_of(image: Image.Image) -> Image.Image:
    return image.crop(box_of(image, RED, 6))


def panel_of(image: Image.Image) -> Image.Image:
    """The part of a picture around what is as dark as a panel."""
    return image.crop(box_of(image, INK, 2))


def letter_count(image: Image.Image) -> int:
    """How many pixels of a panel belong to its letters."""
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

    size = (60, 60)
    expected = red_part_of(source).resize(size)
    actual = red_part_of(image).resize(size)
    assert difference(expected, actual) < 3


def test_two_instructions_change_no_pixel_of_the_input() -> None:
    source = four_corners(200, 200)

    first = edited(source, instructions="Paint it black")
    second = edited(source, instructions="Paint it white")

    first_place = box_of(first, RED, 2)
    second_place = box_of(second, RED, 2)
    first_pixels = first.crop(first_place).tobytes()
    second_pixels = second.crop(second_place).tobytes()
    assert second_place == first_place
    assert second_pixels == first_pixels


def test_an_input_is_shown_with_its_ground() -> None:
    source = product(RED, BLUE)

    image = edited(source)

    blue = count_of(image, BLUE, 6)
    red = count_of(image, RED, 6)
    assert blue > 2 * red


@pytest.mark.parametrize("count", range(1, 9))
def test_every_input_is_shown(count: int) -> None:
    colors = []
    for number in range(count):
        red = 20 + 25 * number
        green = 240 - 30 * number
        blue = (97 * number) % 200
        colors.append((red, green, blue))
    sources = [Image.new("RGB", (90, 120), color) for color in colors]

    image = edited(*sources)

    counted = image.getcolors(EDGE * EDGE) or []
    colors_of_image = {color for _, color in counted}
    assert colors_of_image.issuperset(colors)


@pytest.mark.parametrize(
    ("width", "height"),
    [(512, 218), (512, 512), (288, 512), (218, 512)],
)
def test_long_instructions_cover_no_input(width: int, height: int) -> None:
    words = "every word of this matters " * 400
    source = Image.new("RGB", (90, 60), RED)

    image = edited(
        source,
        instructions=words,
        width=width,
        height=height,
    )

    assert count_of(image, RED, 6) > 0.04 * width * height


@pytest.mark.parametrize(("width", "height"), [(1024, 438), (1024, 1024), (438, 1024)])
def test_the_last_word_of_long_instructions_is_shown(width: int, height: int) -> None:
    source = Image.new("RGB", (90, 60), RED)
    long = "Keep the label readable and the light soft. " * 12
    longer = f"{long}End."

    image = edited(
        source,
        instructions=long,
        width=width,
        height=height,
    )
    other = edited(
        source,
        instructions=longer,
        width=width,
        height=height,
    )

    assert letter_count(other) != letter_count(image)


def test_short_instructions_are_larger_than_long_ones() -> None:
    source = Image.new("RGB", (90, 60), RED)

    short = edited(source, instructions="Oo")
    long = edited(source, instructions="Oo " * 200)

    pixels_of_a_large_letter = letter_count(short) / 2
    pixels_of_a_small_letter = letter_count(long) / 400
    assert pixels_of_a_large_letter > 4 * pixels_of_a_small_letter


def test_instructions_can_be_read_at_200_pixels() -> None:
    image = edited(
        product(RED),
        instructions="Make it blue",
        width=1024,
        height=1024,
    )

    image.thumbnail((200, 200))

    panel = panel_of(image)
    letters = count_of(panel, (255, 255, 255), 120)
    assert letters > 0.03 * panel.width * panel.height
