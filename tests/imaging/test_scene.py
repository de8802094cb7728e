import pytest
from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import PremadeRecipe
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.scene import examine_scene
from tests.imaging.pictures import RED, WHITE, checkered, encoded, gradient, product
from tests.support.pictures import decode

RADIAL = Image.radial_gradient("L").resize((300, 300))


def cut_out() -> Image.Image:
    image = Image.new("RGBA", (200, 200), (0, 0, 0, 0))
    ImageDraw.Draw(image).ellipse((50, 50, 150, 150), fill=(200, 60, 40, 255))
    return image


def premade(name: str) -> Image.Image:
    recipe = PremadeRecipe(
        kind="background", name=name, width=400, height=400, format="png"
    )
    return decode(render(recipe, []))


def someone_on_a_beach() -> Image.Image:
    image = premade("Sandy beach")
    ImageDraw.Draw(image).rectangle((150, 100, 250, 400), fill=(160, 30, 60))
    return image


CLEAN = {
    "one colour": Image.new("RGB", (300, 200), (200, 210, 220)),
    "one pixel": Image.new("RGB", (1, 1)),
    "a line": Image.new("L", (3000, 1)),
    "nothing at all": Image.new("RGBA", (50, 50)),
    "a gradient": gradient(),
    "a gradient from the top": gradient().rotate(90, expand=True),
    "a spotlight": Image.merge(
        "RGB", [RADIAL.point([230 - value // 4 for value in range(256)])] * 3
    ),
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
    assert "clean" == examine_scene(CLEAN[name])


@pytest.mark.parametrize("name", FOREGROUND)
def test_a_subject_that_stands_out_is_foreground(name: str) -> None:
    assert "foreground" == examine_scene(FOREGROUND[name])


@pytest.mark.parametrize("quality", [95, 40])
def test_compression_does_not_change_what_is_seen(quality: int) -> None:
    shown = (
        decode(encoded(image, "JPEG", quality=quality))
        for image in (product(), gradient())
    )
    assert ["foreground", "clean"] == [examine_scene(image) for image in shown]
