"""People in photographs: how they stand, what they wear or hold, and whose skin they
have.
"""

from itertools import combinations

import pytest
from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import CardRecipe
from image_workflow_emulator.imaging.colors import Color
from image_workflow_emulator.imaging.garments import is_worn
from image_workflow_emulator.imaging.photographed_heads import NEUTRAL_SKIN, skin_of
from image_workflow_emulator.imaging.render import render
from tests.imaging.photographs import (
    EDGE,
    RED,
    cut_out_file,
    photograph,
    plain_file,
    premade,
    print_file,
    scene_of,
    shirt_file,
)
from tests.imaging.pictures import (
    box_of,
    count_of,
    difference,
    encoded,
    is_near,
    pixel,
    product,
)
from tests.support.pictures import decode

POSES = (
    "Standing front",
    "Three-quarter turn",
    "Walking",
    "Hand on hip",
)
SKIN: Color = (200, 140, 100)
SKIN_OF_AVA: Color = (224, 178, 144)
NIGHT: Color = (0x10, 0x20, 0x80)
BLUE_GREY: Color = (120, 140, 160)


# Poses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "upload",
    [
        pytest.param(print_file(RED), id="held"),
        pytest.param(shirt_file(RED), id="worn"),
    ],
)
def test_people_are_as_the_pose_says(upload: bytes) -> None:
    swatch = print_file(RED)
    above_plaque = (0, 0, EDGE, EDGE * 3 // 4)
    scenes = []
    for pose in POSES:
        image = photograph(upload, swatch, people=1, pose=pose)
        scenes.append(image.crop(above_plaque))

    for first, second in combinations(scenes, 2):
        assert difference(first, second) > 0.3


def hands_of(upload: bytes, **fields: object) -> Image.Image:
    """What is of the colour of a model's skin beside and below a product."""
    card = premade("fashion_model", "Ava", "female", "18-25")
    return photograph(
        upload,
        card,
        people=1,
        model_input_count=1,
        camera_distance="far",
        **fields,
    )


def test_the_arms_of_who_wears_a_garment_are_beside_it() -> None:
    worn = scene_of(hands_of(shirt_file(RED)))
    held = scene_of(hands_of(print_file(RED)))

    *_, lowest_of_hanging_arms = box_of(worn, SKIN_OF_AVA, 12)
    *_, lowest_of_holding_arms = box_of(held, SKIN_OF_AVA, 12)
    assert lowest_of_hanging_arms > lowest_of_holding_arms
    assert width_of_red(worn) > width_of_red(held)


def width_of_red(image: Image.Image) -> int:
    left, _, right, _ = box_of(image, RED, 30)
    return right - left


@pytest.mark.parametrize(
    "name",
    [
        "Linen shirt",
        "Shirts",
        "WINTER COAT",
        "Sweatshirt",
    ],
)
def test_a_garment_is_known_by_its_name(name: str) -> None:
    product_picture = decode(cut_out_file(RED))

    assert is_worn(product_picture, name)


@pytest.mark.parametrize("name", ["Mug", "", "Coaster"])
def test_a_thing_without_sleeves_is_held(name: str) -> None:
    product_picture = decode(cut_out_file(RED))

    assert not is_worn(product_picture, name)


def test_a_garment_is_known_by_its_sleeves() -> None:
    product_picture = decode(shirt_file(RED))

    assert is_worn(product_picture, "")


def test_a_garment_in_a_frame_is_held() -> None:
    assert not is_worn(product(RED), "Shirt")


# Heads --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Ava", "Ben", "Cleo", "Dora"])
def test_the_head_of_a_premade_model_is_whole_and_cut_out(name: str) -> None:
    card = premade("fashion_model", name, "female", "55+")

    image = photograph(
        print_file(RED),
        card,
        people=1,
        model_input_count=1,
        background_hex="#102080",
    )

    place_of_head = (EDGE * 3 // 8, 0, EDGE * 5 // 8, EDGE // 5)
    head = image.convert("RGB").crop(place_of_head)
    area = head.width * head.height
    red, green, blue, *_ = pixel(decode(card), 4, 4)
    ground_of_card = (red, green, blue)
    assert count_of(head, NIGHT, 4) > 0.3 * area
    assert count_of(head, ground_of_card, 4) == 0


def portrait(skin: Color, ground: Color) -> Image.Image:
    face = (50, 30, 150, 160)
    hair = (45, 20, 155, 150)
    shoulders = (30, 170, 170, 260)
    image = Image.new("RGB", (200, 260), ground)
    draw = ImageDraw.Draw(image)
    draw.ellipse(face, fill=skin)
    draw.pieslice(hair, 180, 360, fill=(30, 24, 20))
    draw.rectangle(shoulders, fill=(60, 60, 90))
    return image


def own_model(picture: Image.Image) -> bytes:
    recipe = CardRecipe(
        width=512,
        height=640,
        format="png",
        kind="fashion_model",
        name="Mine",
        inputs=("one",),
    )
    return render(recipe, [encoded(picture, "PNG")])


@pytest.mark.parametrize(
    "ground",
    [
        pytest.param(BLUE_GREY, id="blue grey"),
        pytest.param((240, 240, 240), id="pale grey"),
        pytest.param((30, 90, 40), id="green"),
    ],
)
@pytest.mark.parametrize(
    "skin",
    [
        pytest.param(SKIN, id="medium"),
        pytest.param((110, 72, 52), id="dark"),
        pytest.param((240, 205, 180), id="pale"),
    ],
)
def test_the_skin_of_an_own_model_is_that_of_the_picture(
    skin: Color,
    ground: Color,
) -> None:
    picture = portrait(skin, ground)

    measured = skin_of(picture)

    assert is_near(skin, measured, 12)


def test_a_picture_without_skin_gives_a_neutral_one() -> None:
    green = (40, 160, 60)
    picture = portrait(green, BLUE_GREY)

    measured = skin_of(picture)

    assert measured == NEUTRAL_SKIN


def test_somebody_has_the_skin_of_the_chosen_model() -> None:
    picture = portrait(SKIN, BLUE_GREY)
    card = own_model(picture)

    image = photograph(
        plain_file(RED),
        card,
        people=1,
        model_input_count=1,
    )

    middle = (0, EDGE // 3, EDGE, EDGE * 2 // 3)
    scene = image.crop(middle)
    assert count_of(scene, SKIN, 20) > 500
