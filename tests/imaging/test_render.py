"""What every rendered picture owes: its size, its format, the same bytes, and any
text.
"""

import json
from typing import Any, get_args

import pytest
from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace
from PIL import Image, ImageChops

from image_workflow_emulator.domain.recipes import (
    CardRecipe,
    EditRecipe,
    IngredientKind,
    PhotographRecipe,
    PictureFormat,
    PremadeRecipe,
    Recipe,
    UpscaleRecipe,
)
from image_workflow_emulator.imaging.render import render
from tests.imaging.pictures import checkered, encoded, four_corners, product
from tests.support.pictures import decode, png_of

FORMATS: tuple[PictureFormat, ...] = ("jpeg", "png", "webp")
KINDS: tuple[IngredientKind, ...] = (
    "photography_style",
    "background",
    "pose",
    "fashion_model",
)
MUG = encoded(product(), "JPEG")
TEXTURE = encoded(checkered(), "PNG")
Order = tuple[Recipe, list[bytes]]
"""A recipe and its inputs."""


def see_through() -> bytes:
    image = four_corners(mode="RGBA")
    image.putalpha(Image.radial_gradient("L").resize(image.size))
    return encoded(image, "WEBP", lossless=True)


def full_photograph(size: dict[str, Any]) -> Order:
    recipe = PhotographRecipe(
        **size,
        inputs=("one", "two", "wall", "model", "style", "pose"),
        subject_count=2,
        background_kind="picture",
        people=2,
        model_input_count=1,
        photography_style="A style",
        pose="A pose",
        colorway="Teal",
        directions="From above.",
    )
    return recipe, [MUG, see_through(), TEXTURE, MUG, TEXTURE, see_through()]


def orders(
    width: int,
    height: int,
    target: PictureFormat,
) -> list[Order]:
    """An order of each kind."""
    size: dict[str, Any] = {"width": width, "height": height, "format": target}
    plain: list[Order] = [
        (
            PhotographRecipe(
                **size,
                inputs=("one",),
                subject_count=1,
            ),
            [MUG],
        ),
        full_photograph(size),
        (
            EditRecipe(
                **size,
                inputs=("one", "two"),
                instructions="Put one before two.",
            ),
            [see_through(), TEXTURE],
        ),
        (
            UpscaleRecipe(**size, inputs=("one",)),
            [see_through()],
        ),
    ]
    for kind in KINDS:
        plain.append(
            (
                PremadeRecipe(
                    **size,
                    kind=kind,
                    name="A name",
                ),
                [],
            )
        )
        own = CardRecipe(
            **size,
            kind=kind,
            name="A name",
            inputs=("one", "two"),
        )
        plain.append((own, [MUG, TEXTURE]))
    return plain


SIZES = [
    (64, 64, "jpeg"),
    (320, 200, "png"),
    (201, 333, "webp"),
    (17, 400, "jpeg"),
    (1, 1, "png"),
    (1, 700, "webp"),
    (700, 1, "jpeg"),
    (4096, 2, "png"),
    (3, 4096, "webp"),
]


@pytest.mark.parametrize(("width", "height", "target"), SIZES)
def test_every_picture_has_the_size_and_format_asked_for_alone(
    width: int,
    height: int,
    target: PictureFormat,
) -> None:
    for recipe, inputs in orders(width, height, target):
        image = decode(render(recipe, inputs))

        assert image.format == target.upper()
        assert image.width == width
        assert image.height == height
        metadata = {"exif", "icc_profile", "comment", "dpi", "xmp"}
        assert metadata & image.info.keys() == set()


@pytest.mark.parametrize("target", FORMATS)
def test_the_same_recipe_and_inputs_give_the_same_bytes(target: PictureFormat) -> None:
    for recipe, inputs in orders(320, 240, target):
        assert render(recipe, inputs) == render(recipe, inputs)


@pytest.mark.parametrize(
    "recipe",
    [
        PhotographRecipe(
            width=4096,
            height=2730,
            format="png",
            subject_count=0,
        ),
        EditRecipe(
            width=4096,
            height=2730,
            format="png",
            instructions="Brighten.",
        ),
    ],
)
def test_a_picture_of_4k_has_each_pixel_of_2k_twice(recipe: Recipe) -> None:
    half = replace(recipe, width=2048, height=1365)

    image = decode(render(recipe, []))

    doubled = decode(render(half, [])).resize(image.size, Image.Resampling.NEAREST)
    assert ImageChops.difference(image, doubled).getbbox() is None


@pytest.mark.parametrize(
    "data",
    [b"", b"words", MUG[:200], png_of(1, 100_000)],
    ids=len,
)
def test_where_an_input_is_no_picture_there_is_grey(data: bytes) -> None:
    recipe = UpscaleRecipe(
        width=20,
        height=20,
        format="png",
        inputs=("one",),
    )

    image = decode(render(recipe, [data]))

    assert image.getcolors() == [(400, (128, 128, 128))]


TEXTS = [
    "",
    "\0\x01\x1b[31m\u202e\u200b\ufeff",
    "line\nafter\r\nline\ttab",
    "\ud800 lone surrogate",
    "日本語 العربية עברית हिन्दी ไทย 👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0301\u0301\u0301",
    "a" * 100_000 + "word " * 50_000,
    "\U0010ffff\ue000",
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_any_text_can_be_written(text: str) -> None:
    size: dict[str, Any] = {"width": 200, "height": 200, "format": "png"}
    photograph = PhotographRecipe(
        **size,
        inputs=("one", "two", "three"),
        subject_count=1,
        photography_style=text,
        pose=text,
        colorway=text,
        directions=text,
        product_names=(text,),
    )
    plain: list[Order] = [
        (photograph, [MUG] * 3),
        (
            EditRecipe(
                **size,
                inputs=("one",),
                instructions=text,
            ),
            [MUG],
        ),
        (
            CardRecipe(
                **size,
                inputs=("one",),
                kind="pose",
                name=text,
            ),
            [MUG],
        ),
    ]
    for kind in KINDS:
        premade = PremadeRecipe(
            **size,
            kind=kind,
            name=text,
            attributes=(text,),
        )
        plain.append((premade, []))

    for recipe, inputs in plain:
        image = decode(render(recipe, inputs))
        assert image.width == 200
        assert image.height == 200


# Recipes ------------------------------------------------------------------------------

PHOTOGRAPH = {
    "recipe": "PhotographRecipe",
    "width": 20,
    "height": 10,
    "format": "png",
    "subject_count": 1,
}


def test_a_recipe_of_every_kind_is_drawn_here() -> None:
    kinds = {type(recipe) for recipe, _ in orders(64, 80, "png")}

    assert kinds == set(get_args(Recipe))


def test_a_recipe_survives_the_way_to_a_helper_process() -> None:
    for recipe, _ in orders(64, 80, "png"):
        message = json.dumps(to_builtins(recipe))

        assert convert(json.loads(message), Recipe) == recipe


@pytest.mark.parametrize(
    "field",
    [*PHOTOGRAPH, "slot_count", "people", "model_input_count"],
)
@pytest.mark.parametrize("value", [-1, 20_000, "wide"])
def test_a_recipe_of_impossible_values_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError, match=r"[Ee]xpected|Invalid"):
        convert(PHOTOGRAPH | {field: value}, Recipe)


@pytest.mark.parametrize("color", ["#12345", "orange"])
def test_a_background_of_a_recipe_is_a_hexadecimal_colour(color: str) -> None:
    with pytest.raises(ValidationError, match="Expected"):
        convert(PHOTOGRAPH | {"background_hex": color}, Recipe)
