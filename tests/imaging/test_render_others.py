from itertools import combinations

import pytest
from PIL import Image, ImageChops

from image_workflow_emulator.domain.recipes import CardRecipe, EditRecipe, IngredientKind, PictureFormat, PremadeRecipe
from image_workflow_emulator.imaging.render import render
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    corner_colors,
    count_of,
    difference,
    encoded,
    four_corners,
    is_near,
    pixel,
    product,
    upscaled,
)
from tests.support.pictures import decode

SOURCE = four_corners(200, 120)


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_upscaling_shows_the_same_picture_larger(target: PictureFormat) -> None:
    found = upscaled(SOURCE, 2048, 1229, target)
    unmarked = (0, SOURCE.height // 4, *SOURCE.size)
    assert difference(SOURCE.crop(unmarked), found.resize(SOURCE.size, Image.Resampling.BOX).crop(unmarked)) < 2


def test_an_upscale_is_marked_in_its_upper_right_corner() -> None:
    plain = SOURCE.resize((2048, 1229), Image.Resampling.BICUBIC)
    box = ImageChops.difference(plain, upscaled(SOURCE, 2048, 1229, "png").convert("RGB")).getbbox()
    assert box is not None
    left, _, right, bottom = box
    assert 1400 < left < right < 2048
    assert bottom < 1229 * 0.2


@pytest.mark.parametrize("target", ["png", "webp"])
def test_upscaling_keeps_transparency_and_lays_it_on_white_in_jpeg(target: PictureFormat) -> None:
    source = Image.new("RGBA", (40, 40), (250, 20, 20, 0))
    source.paste((20, 20, 200, 255), (10, 10, 30, 30))
    found = upscaled(source, 400, 400, target)
    assert (0, 255) == (pixel(found, 2, 2)[3], pixel(found, 200, 200)[3])
    edge = next(pixel(found, x, 200) for x in range(80, 130) if pixel(found, x, 200)[3] > 60)
    assert edge[2] > edge[0], "a hidden colour shines through at the edge"
    found = upscaled(Image.new("RGBA", (20, 20), (0, 0, 0, 0)), 80, 80, "jpeg")
    assert (255, 255, 255) == pixel(found, 40, 40)


def edited(*sources: Image.Image, instructions: str = "Make it so.") -> Image.Image:
    keys = tuple(f"key {number}" for number in range(len(sources)))
    recipe = EditRecipe(width=512, height=512, format="png", inputs=keys, instructions=instructions)
    return decode(render(recipe, [encoded(source, "PNG") for source in sources]))


@pytest.mark.parametrize("count", range(1, 9))
def test_an_edit_shows_every_input(count: int) -> None:
    colors = [(25 * number + 20, 240 - 30 * number, (number * 97) % 200) for number in range(count)]
    image = edited(*(Image.new("RGB", (90, 120), color) for color in colors))
    found = [color for _, color in image.getcolors(512 * 512) or []]
    assert set(colors) <= set(found)


@pytest.mark.parametrize(("width", "height"), [(512, 218), (512, 512), (288, 512)])
def test_long_instructions_cover_no_input(width: int, height: int) -> None:
    words = "every word of this matters " * 400
    recipe = EditRecipe(width=width, height=height, format="png", inputs=("one",), instructions=words)
    image = decode(render(recipe, [encoded(Image.new("RGB", (90, 60), RED), "PNG")]))
    assert count_of(image, RED, 6) > 0.04 * width * height


def test_an_edit_shows_what_was_and_what_became_of_it() -> None:
    image = edited(product(RED), instructions="Make it lime.")
    assert count_of(image, RED, 12) > 500
    assert count_of(image.crop((200, 0, 512, 400)), RED, 12) == 0


@pytest.mark.parametrize(
    ("words", "wall", "subject"),
    [
        ("make the mug blue", None, (0, 0, 255)),
        ("put it on a pink wall", (255, 192, 203), RED),
        ("a lime mug, with the background in navy", (0, 0, 128), (0, 255, 0)),
    ],
)
def test_a_colour_is_the_walls_beside_its_word_and_else_the_subjects(
    words: str, wall: tuple[int, int, int] | None, subject: tuple[int, int, int]
) -> None:
    image = edited(product(RED), instructions=words)
    assert (is_near(wall, pixel(image, -4, 4), 12)) if wall else min(pixel(image, -4, 4)) > 180
    assert count_of(image.crop((160, 0, 512, 400)), subject, 30) > 5000


def test_a_removed_background_looks_transparent() -> None:
    image = edited(product(RED), instructions="Remove the background.")
    assert {(255, 255, 255), (214, 214, 214)} == {pixel(image, x, 4) for x in range(4, 512, 8)}


def premade(kind: IngredientKind, name: str, *attributes: str, index: int = 0) -> Image.Image:
    recipe = PremadeRecipe(
        width=256, height=320, format="png", kind=kind, name=name, attributes=attributes, index=index
    )
    return decode(render(recipe, []))


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("photography_style", ["Soft daylight", "Hard studio flash", "Golden hour", "Moody low key"]),
        ("background", ["Seamless white", "Warm grey gradient", "Sandy beach", "Brick street"]),
        ("pose", ["Standing front", "Three-quarter turn", "Walking", "Hand on hip"]),
        ("fashion_model", ["Ava", "Ben", "Cleo", "Dora"]),
    ],
)
def test_premade_pictures_of_one_kind_differ(kind: IngredientKind, names: list[str]) -> None:
    pictures = [premade(kind, name, index=index) for index, name in enumerate(names)]
    assert all(difference(first, second) > 1.5 for first, second in combinations(pictures, 2))


def card(kind: IngredientKind, *sources: Image.Image, index: int = 0, name: str = "Mine") -> Image.Image:
    keys = tuple(f"key {number}" for number in range(len(sources)))
    recipe = CardRecipe(width=256, height=320, format="png", kind=kind, name=name, inputs=keys, index=index)
    return decode(render(recipe, [encoded(source, "PNG") for source in sources]))


def test_a_background_card_is_its_source_without_words() -> None:
    image = card("background", SOURCE)
    assert all(is_near(a, b) for a, b in zip((RED, GREEN, BLUE, WHITE), corner_colors(image), strict=True))
    assert difference(image, card("background", SOURCE, name="Another name")) == 0


def test_previews_of_a_style_show_one_source_large_and_the_others_small() -> None:
    colors = (RED, GREEN, BLUE)
    sources = [Image.new("RGB", (50, 50), color) for color in colors]
    for index in range(3):
        counts = [count_of(card("photography_style", *sources, index=index), color, 6) for color in colors]
        assert counts[index] == max(counts) > 20_000
        assert min(counts) > 100
