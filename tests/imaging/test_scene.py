"""Which pictures are empty scenes, and which have a subject (D30)."""

import pytest
from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import PremadeRecipe
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.scene import examine_scene
from tests.imaging.pictures import RED, WHITE, checkered, encoded, gradient, product
from tests.support.pictures import decode


def cut_out() -> Image.Image:
    image = Image.new("RGBA", (200, 200), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.ellipse((50, 50, 150, 150), fill=(200, 60, 40, 255))
    return image


def spotlight() -> Image.Image:
    darkness = Image.radial_gradient("L").resize((300, 300))
    light = darkness.point([230 - level // 4 for level in range(256)])
    return Image.merge("RGB", [light, light, light])


def premade(name: str) -> Image.Image:
    recipe = PremadeRecipe(
        kind="background",
        name=name,
        width=400,
        height=400,
        format="png",
    )
    return decode(render(recipe, []))


def someone_on_a_beach() -> Image.Image:
    image = premade("Sandy beach")
    somebody = (150, 100, 250, 400)
    draw = ImageDraw.Draw(image)
    draw.rectangle(somebody, fill=(160, 30, 60))
    return image


CLEAN = {
    "one colour": Image.new("RGB", (300, 200), (200, 210, 220)),
    "one pixel": Image.new("RGB", (1, 1)),
    "a line": Image.new("L", (3000, 1)),
    "nothing at all": Image.new("RGBA", (50, 50)),
    "a gradient": gradient(),
    "a gradient from the top": gradient().rotate(90, expand=True),
    "a spotlight": spotlight(),
    "a checkered texture": checkered(),
    "a paper roll": premade("Seamless white"),
    "a vignette": premade("Warm grey gradient"),
    "a beach": premade("Sandy beach"),
    "a brick wall": premade("Brick street"),
}
FOREGROUND = {
    "a product on white": product(),
    "a product on grey": product(RED, (150, 150, 150)),
    "a pale product on white": product((226, 226, 228), WHITE),
    "a product before a gradient": Image.blend(product(), gradient(240, 240), 0.3),
    "a small thing": product().resize((60, 60)),
    "a cut-out": cut_out(),
    "someone on a beach": someone_on_a_beach(),
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_scene_with_nothing_in_it_is_clean(name: str) -> None:
    image = CLEAN[name]

    assert examine_scene(image) == "clean"


@pytest.mark.parametrize("name", FOREGROUND)
def test_a_subject_that_stands_out_is_foreground(name: str) -> None:
    image = FOREGROUND[name]

    assert examine_scene(image) == "foreground"


@pytest.mark.parametrize("quality", [95, 40])
def test_a_compressed_subject_is_foreground(quality: int) -> None:
    image = decode(encoded(product(), "JPEG", quality=quality))

    assert examine_scene(image) == "foreground"


@pytest.mark.parametrize("quality", [95, 40])
def test_a_compressed_gradient_is_clean(quality: int) -> None:
    image = decode(encoded(gradient(), "JPEG", quality=quality))

    assert examine_scene(image) == "clean"
