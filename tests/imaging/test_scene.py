"""Which pictures are empty scenes, and which have a subject (D30)."""

import pytest
from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import PremadeRecipe
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.scene import examine_scene
from tests.imaging.pictures import RED, WHITE, checkered, encoded, gradient, product
from tests.support.pictures import decode


def cut_out() -> Image.Image:
    thing = (50, 50, 150, 150)
    image = Image.new("RGBA", (200, 200))
    draw = ImageDraw.Draw(image)
    draw.ellipse(thing, fill=(*RED, 255))
    return image


def product_before_a_gradient() -> Image.Image:
    ground = gradient(240, 240)
    return Image.blend(product(), ground, 0.3)


def small_product() -> Image.Image:
    return product().resize((60, 60))


def gradient_from_the_top() -> Image.Image:
    return gradient().rotate(90, expand=True)


def spotlight() -> Image.Image:
    levels = [230 - level // 4 for level in range(256)]
    darkness = Image.radial_gradient("L")
    light = darkness.resize((300, 300)).point(levels)
    return Image.merge("RGB", [light, light, light])


def premade(name: str) -> Image.Image:
    recipe = PremadeRecipe(
        kind="background",
        name=name,
        width=400,
        height=400,
        format="png",
    )
    file = render(recipe, [])
    return decode(file)


def someone_on_a_beach() -> Image.Image:
    image = premade("Sandy beach")
    somebody = (150, 100, 250, 400)
    draw = ImageDraw.Draw(image)
    draw.rectangle(somebody, fill=(160, 30, 60))
    return image


GREY = (150, 150, 150)
PALE_GREY = (226, 226, 228)
PALE_BLUE = (200, 210, 220)
CLEAN = {
    "one colour": Image.new("RGB", (300, 200), PALE_BLUE),
    "one pixel": Image.new("RGB", (1, 1)),
    "a line": Image.new("L", (3000, 1)),
    "nothing at all": Image.new("RGBA", (50, 50)),
    "a gradient": gradient(),
    "a gradient from the top": gradient_from_the_top(),
    "a spotlight": spotlight(),
    "a checkered texture": checkered(),
    "a paper roll": premade("Seamless white"),
    "a vignette": premade("Warm grey gradient"),
    "a beach": premade("Sandy beach"),
    "a brick wall": premade("Brick street"),
}
FOREGROUND = {
    "a product on white": product(),
    "a product on grey": product(RED, GREY),
    "a pale product on white": product(PALE_GREY, WHITE),
    "a product before a gradient": product_before_a_gradient(),
    "a small thing": small_product(),
    "a cut-out": cut_out(),
    "someone on a beach": someone_on_a_beach(),
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_scene_with_nothing_in_it_is_clean(name: str) -> None:
    image = CLEAN[name]

    verdict = examine_scene(image)

    assert verdict == "clean"


@pytest.mark.parametrize("name", FOREGROUND)
def test_a_subject_that_stands_out_is_foreground(name: str) -> None:
    image = FOREGROUND[name]

    verdict = examine_scene(image)

    assert verdict == "foreground"


@pytest.mark.parametrize("quality", [95, 40])
def test_a_compressed_subject_is_foreground(quality: int) -> None:
    file = encoded(product(), "JPEG", quality=quality)
    image = decode(file)

    verdict = examine_scene(image)

    assert verdict == "foreground"


@pytest.mark.parametrize("quality", [95, 40])
def test_a_compressed_gradient_is_clean(quality: int) -> None:
    file = encoded(gradient(), "JPEG", quality=quality)
    image = decode(file)

    verdict = examine_scene(image)

    assert verdict == "clean"
