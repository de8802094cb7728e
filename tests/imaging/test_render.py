"""What every rendered picture owes, and what edits, upscales, cards and premade pictures show."""

import json
from importlib.util import find_spec
from typing import Any, get_args

import pytest
from msgspec import ValidationError, convert, to_builtins
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
from image_workflow_emulator.imaging.words import Face, plain_text
from tests.imaging.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    checkered,
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
from tests.support.pictures import decode, png_of

FORMATS: tuple[PictureFormat, ...] = ("jpeg", "png", "webp")
KINDS: tuple[IngredientKind, ...] = (
    "photography_style",
    "background",
    "pose",
    "fashion_model",
)
SIZES = (
    (64, 64),
    (320, 200),
    (201, 333),
    (17, 400),
    (1, 1),
    (1, 700),
    (700, 1),
    (4096, 2),
    (3, 4096),
)
MUG, TEXTURE = encoded(product(), "JPEG"), encoded(checkered(), "PNG")
CUT_OUT = four_corners(mode="RGBA")
CUT_OUT.putalpha(Image.radial_gradient("L").resize(CUT_OUT.size))
SEE_THROUGH = encoded(CUT_OUT, "WEBP", lossless=True)


def recipes(
    width: int, height: int, target: PictureFormat
) -> list[tuple[Recipe, list[bytes]]]:
    size: dict[str, Any] = {"width": width, "height": height, "format": target}
    one, two = ("one",), ("one", "two")
    chosen: dict[str, Any] = {"photography_style": "A style", "pose": "A pose"}
    chosen |= {"colorway": "Teal", "directions": "From above."}
    many = ("one", "two", "wall", "model", "style", "pose")
    plain: list[tuple[Recipe, list[bytes]]] = [
        (PhotographRecipe(**size, inputs=one, subject_count=1), [MUG]),
        (
            PhotographRecipe(
                **size,
                **chosen,
                inputs=many,
                subject_count=2,
                background_kind="picture",
                people=2,
                model_input_count=1,
            ),
            [MUG, SEE_THROUGH, TEXTURE, MUG, TEXTURE, SEE_THROUGH],
        ),
        (
            EditRecipe(**size, inputs=two, instructions="Put one before the other."),
            [SEE_THROUGH, TEXTURE],
        ),
        (UpscaleRecipe(**size, inputs=one), [SEE_THROUGH]),
    ]
    for kind in KINDS:
        plain.append((PremadeRecipe(**size, kind=kind, name="A name"), []))
        plain.append(
            (CardRecipe(**size, kind=kind, name="A name", inputs=two), [MUG, TEXTURE])
        )
    return plain


@pytest.mark.parametrize(
    ("size", "target"), [*zip(SIZES, FORMATS * 3, strict=True)], ids=str
)
def test_every_picture_has_the_size_and_format_asked_for_alone(
    size: tuple[int, int], target: PictureFormat
) -> None:
    for recipe, inputs in recipes(*size, target):
        image = decode(render(recipe, inputs))
        assert (target.upper(), size) == (image.format, image.size)
        assert set() == image.info.keys() & {
            "exif",
            "icc_profile",
            "comment",
            "dpi",
            "xmp",
        }


@pytest.mark.parametrize("target", FORMATS)
def test_the_same_recipe_and_inputs_give_the_same_bytes(target: PictureFormat) -> None:
    for recipe, inputs in recipes(160, 120, target):
        assert render(recipe, inputs) == render(recipe, inputs)


@pytest.mark.parametrize(
    "data", [b"", b"words", MUG[:200], png_of(1, 100_000)], ids=len
)
def test_where_an_input_is_no_picture_there_is_grey(data: bytes) -> None:
    recipe = UpscaleRecipe(width=20, height=20, format="png", inputs=("one",))
    assert [(400, (128, 128, 128))] == decode(render(recipe, [data])).getcolors()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\x01\x1b[31m\u202e\u200b\ufeff",
        "line\nafter\r\nline\ttab",
        "\ud800 lone surrogate",
        "日本語 العربية עברית हिन्दी ไทย 👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0301\u0301\u0301",
        "a" * 100_000 + "word " * 50_000,
        "\U0010ffff\ue000",
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_any_text_can_be_written(text: str) -> None:
    size: dict[str, Any] = {"width": 200, "height": 200, "format": "png"}
    names: dict[str, Any] = dict.fromkeys(
        ("photography_style", "pose", "colorway", "directions"), text
    )
    plain: list[tuple[Recipe, list[bytes]]] = [
        (
            PhotographRecipe(
                **size, **names, inputs=("one", "two", "three"), subject_count=1
            ),
            [MUG] * 3,
        ),
        (EditRecipe(**size, inputs=("one",), instructions=text), [MUG]),
        (CardRecipe(**size, inputs=("one",), kind="pose", name=text), [MUG]),
        *(
            (PremadeRecipe(**size, kind=kind, name=text, attributes=(text,)), [])
            for kind in KINDS
        ),
    ]
    for recipe, inputs in plain:
        assert (200, 200) == decode(render(recipe, inputs)).size


@pytest.mark.parametrize("size", [8, 11, 40])
def test_the_letters_of_a_line_are_whole(size: int) -> None:
    face = Face(size)
    line = Image.new("RGB", (size * 20, face.line_height))
    tall = Image.new("RGB", (size * 20, face.line_height * 3))
    face.draw(line, 0, face.line_height / 2, "Ågjpqy日", WHITE)
    face.draw(tall, 0, face.line_height * 1.5, "Ågjpqy日", WHITE)
    (left, top, right, bottom), whole = line.getbbox() or (0, 0, 0, 0), tall.getbbox()
    assert (left, top + face.line_height, right, bottom + face.line_height) == whole


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Zoë, Łódź, Ελλάδα, Київ, عربي, עברית, हिन्दी, ไทย, ქართული", None),
        ("👩\u200d👩\u200d👧 ✨", None),
        ("e\u0301", "é"),
        ("a\nb\x00\ud800\ufffe", "a b"),
        ("\U00013000\U00013001 a", "2 x Egyptian a"),
    ],
)
def test_text_is_written_in_its_script_and_never_as_boxes(
    text: str, written: str | None
) -> None:
    assert (text if written is None else written) == plain_text(text)


@pytest.mark.skipif(
    find_spec("manimgx_fonts_cjk") is not None,
    reason="the fonts that would be missing are here",
)
def test_without_its_fonts_chinese_is_counted_by_script() -> None:
    assert "2 x Han 1 x Hiragana 1 x Katakana cafe" == plain_text("日本あカcafe")


SOURCE = four_corners(200, 120)


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_upscaling_shows_the_same_picture_larger(target: PictureFormat) -> None:
    found = upscaled(SOURCE, 2048, 1229, target)
    unmarked = (0, SOURCE.height // 4, *SOURCE.size)
    assert (
        difference(
            SOURCE.crop(unmarked),
            found.resize(SOURCE.size, Image.Resampling.BOX).crop(unmarked),
        )
        < 2
    )


def test_an_upscale_is_marked_in_its_upper_right_corner() -> None:
    plain = SOURCE.resize((2048, 1229), Image.Resampling.BICUBIC)
    box = ImageChops.difference(
        plain, upscaled(SOURCE, 2048, 1229, "png").convert("RGB")
    ).getbbox()
    assert box is not None
    left, _, right, bottom = box
    assert 1400 < left < right < 2048
    assert bottom < 1229 * 0.2


@pytest.mark.parametrize("target", ["png", "webp"])
def test_upscaling_keeps_transparency_and_lays_it_on_white_in_jpeg(
    target: PictureFormat,
) -> None:
    source = Image.new("RGBA", (40, 40), (250, 20, 20, 0))
    source.paste((20, 20, 200, 255), (10, 10, 30, 30))
    found = upscaled(source, 400, 400, target)
    assert (0, 255) == (pixel(found, 2, 2)[3], pixel(found, 200, 200)[3])
    edge = next(
        pixel(found, x, 200) for x in range(80, 130) if pixel(found, x, 200)[3] > 60
    )
    assert edge[2] > edge[0], "a hidden colour shines through at the edge"
    found = upscaled(Image.new("RGBA", (20, 20), (0, 0, 0, 0)), 80, 80, "jpeg")
    assert (255, 255, 255) == pixel(found, 40, 40)


def edited(*sources: Image.Image, instructions: str = "Make it so.") -> Image.Image:
    keys = tuple(f"key {number}" for number in range(len(sources)))
    recipe = EditRecipe(
        width=512, height=512, format="png", inputs=keys, instructions=instructions
    )
    return decode(render(recipe, [encoded(source, "PNG") for source in sources]))


@pytest.mark.parametrize("count", range(1, 9))
def test_an_edit_shows_every_input(count: int) -> None:
    colors = [
        (25 * number + 20, 240 - 30 * number, (number * 97) % 200)
        for number in range(count)
    ]
    image = edited(*(Image.new("RGB", (90, 120), color) for color in colors))
    found = [color for _, color in image.getcolors(512 * 512) or []]
    assert set(colors) <= set(found)


@pytest.mark.parametrize(("width", "height"), [(512, 218), (512, 512), (288, 512)])
def test_long_instructions_cover_no_input(width: int, height: int) -> None:
    words = "every word of this matters " * 400
    recipe = EditRecipe(
        width=width, height=height, format="png", inputs=("one",), instructions=words
    )
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
def test_a_colour_is_the_walls_or_the_subjects(
    words: str, wall: tuple[int, int, int] | None, subject: tuple[int, int, int]
) -> None:
    image = edited(product(RED), instructions=words)
    assert (
        (is_near(wall, pixel(image, -4, 4), 12))
        if wall
        else min(pixel(image, -4, 4)) > 180
    )
    assert count_of(image.crop((160, 0, 512, 400)), subject, 30) > 5000


def test_a_removed_background_looks_transparent() -> None:
    image = edited(product(RED), instructions="Remove the background.")
    assert {(255, 255, 255), (214, 214, 214)} == {
        pixel(image, x, 4) for x in range(4, 512, 8)
    }


def card(
    kind: IngredientKind, *sources: Image.Image, index: int = 0, name: str = "Mine"
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


def test_a_background_card_is_its_source_without_words() -> None:
    image = card("background", SOURCE)
    assert all(
        is_near(a, b)
        for a, b in zip((RED, GREEN, BLUE, WHITE), corner_colors(image), strict=True)
    )
    assert difference(image, card("background", SOURCE, name="Another name")) == 0


def test_previews_of_a_style_show_one_source_large_and_the_others_small() -> None:
    colors = (RED, GREEN, BLUE)
    sources = [Image.new("RGB", (50, 50), color) for color in colors]
    for index in range(3):
        counts = [
            count_of(card("photography_style", *sources, index=index), color, 6)
            for color in colors
        ]
        assert counts[index] == max(counts) > 20_000
        assert min(counts) > 100


PHOTOGRAPH = {
    "recipe": "PhotographRecipe",
    "width": 20,
    "height": 10,
    "format": "png",
    "subject_count": 1,
}


def test_a_recipe_of_every_kind_is_drawn_here_and_survives_the_way_to_a_helper_process() -> (
    None
):
    drawn = [recipe for recipe, _ in recipes(64, 80, "png")]
    assert set(get_args(Recipe)) == {*map(type, drawn)}
    assert drawn == [
        convert(json.loads(json.dumps(to_builtins(recipe))), Recipe) for recipe in drawn
    ]


@pytest.mark.parametrize(
    "field", [*PHOTOGRAPH, "slot_count", "people", "model_input_count"]
)
def test_a_recipe_of_impossible_values_is_refused(field: str) -> None:
    for value in (-1, 20_000, "wide"):
        with pytest.raises(ValidationError, match=r"[Ee]xpected|Invalid"):
            convert(PHOTOGRAPH | {field: value}, Recipe)


@pytest.mark.parametrize("color", ["#12345", "orange"])
def test_a_background_of_a_recipe_is_a_hexadecimal_colour(color: str) -> None:
    with pytest.raises(ValidationError, match="Expected"):
        convert(PHOTOGRAPH | {"background_hex": color}, Recipe)
