"""What every rendered picture owes: its exact size, its format, the same bytes each time, and any text."""

from importlib.util import find_spec
from typing import Any

import pytest
from PIL import Image

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
from image_workflow_emulator.imaging.drawing import WHITE
from image_workflow_emulator.imaging.render import render
from image_workflow_emulator.imaging.words import Face, plain_text
from tests.imaging.pictures import checkered, encoded, four_corners, product
from tests.support.pictures import decode, png_of

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FORMATS: tuple[PictureFormat, ...] = ("jpeg", "png", "webp")
KINDS: tuple[IngredientKind, ...] = ("photography_style", "background", "pose", "fashion_model")
SIZES = ((64, 64), (320, 200), (201, 333), (17, 400), (1, 1), (1, 700), (700, 1), (4096, 2), (3, 4096))
MUG, TEXTURE = encoded(product(), "JPEG"), encoded(checkered(), "PNG")
CUT_OUT = four_corners(mode="RGBA")
CUT_OUT.putalpha(Image.radial_gradient("L").resize(CUT_OUT.size))
SEE_THROUGH = encoded(CUT_OUT, "WEBP", lossless=True)


def recipes(width: int, height: int, target: PictureFormat) -> list[tuple[Recipe, list[bytes]]]:
    """A recipe of every kind, with its input pictures."""
    size: dict[str, Any] = {"width": width, "height": height, "format": target}
    one, two = ("one",), ("one", "two")
    chosen: dict[str, Any] = {"photography_style": "A style", "pose": "A pose"}
    chosen |= {"colorway": "Teal", "directions": "From above."}
    many = ("one", "two", "wall", "model", "style", "pose")
    plain: list[tuple[Recipe, list[bytes]]] = [
        (PhotographRecipe(**size, inputs=one, subject_count=1), [MUG]),
        (
            PhotographRecipe(
                **size, **chosen, inputs=many, subject_count=2, background_kind="picture", people=2, model_input_count=1
            ),
            [MUG, SEE_THROUGH, TEXTURE, MUG, TEXTURE, SEE_THROUGH],
        ),
        (EditRecipe(**size, inputs=two, instructions="Put one before the other."), [SEE_THROUGH, TEXTURE]),
        (UpscaleRecipe(**size, inputs=one), [SEE_THROUGH]),
    ]
    for kind in KINDS:
        plain.append((PremadeRecipe(**size, kind=kind, name="A name"), []))
        plain.append((CardRecipe(**size, kind=kind, name="A name", inputs=two), [MUG, TEXTURE]))
    return plain


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_picture_has_exactly_the_size_and_format_asked_for_and_no_metadata(
    size: tuple[int, int], target: PictureFormat
) -> None:
    for recipe, inputs in recipes(*size, target):
        image = decode(render(recipe, inputs))
        assert (target.upper(), size) == (image.format, image.size)
        assert set() == image.info.keys() & {"exif", "icc_profile", "comment", "dpi", "xmp"}


@pytest.mark.parametrize("target", FORMATS)
def test_the_same_recipe_and_inputs_give_the_same_bytes(target: PictureFormat) -> None:
    for recipe, inputs in recipes(160, 120, target):
        assert render(recipe, inputs) == render(recipe, inputs)


def test_inputs_must_be_as_many_as_the_recipe_names() -> None:
    with pytest.raises(ValueError, match="0 input pictures: the recipe names 1"):
        render(UpscaleRecipe(width=20, height=20, format="png", inputs=("one",)), [])


@pytest.mark.parametrize("data", [b"", b"words", MUG[:200], png_of(1, 100_000)], ids=len)
def test_where_an_input_is_no_picture_there_is_grey(data: bytes) -> None:
    recipe = UpscaleRecipe(width=20, height=20, format="png", inputs=("one",))
    assert [(400, (128, 128, 128))] == decode(render(recipe, [data])).getcolors()


TEXTS = [
    "", " ", "\0\x01\x1b[31m\u202e\u200b\ufeff", "line\nafter\r\nline\ttab", "\ud800 lone surrogate",
    "日本語 العربية עברית हिन्दी ไทย", "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301\u0301\u0301\u0301", "a" * 100_000, "word " * 50_000,
    "\U0010ffff\ue000",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_any_text_can_be_written(text: str) -> None:
    size: dict[str, Any] = {"width": 200, "height": 200, "format": "png"}
    names: dict[str, Any] = dict.fromkeys(("photography_style", "pose", "colorway", "directions"), text)
    plain: list[tuple[Recipe, list[bytes]]] = [
        (PhotographRecipe(**size, **names, inputs=("one", "two", "three"), subject_count=1), [MUG] * 3),
        (EditRecipe(**size, inputs=("one",), instructions=text), [MUG]),
        (CardRecipe(**size, inputs=("one",), kind="pose", name=text), [MUG]),
        *((PremadeRecipe(**size, kind=kind, name=text, attributes=(text,)), []) for kind in KINDS),
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
def test_text_is_written_in_its_script_and_never_as_boxes(text: str, written: str | None) -> None:
    assert (text if written is None else written) == plain_text(text)


@pytest.mark.skipif(find_spec("manimgx_fonts_cjk") is not None, reason="the fonts that would be missing are here")
def test_without_its_fonts_chinese_is_counted_by_script() -> None:
    assert "2 x Han 1 x Hiragana 1 x Katakana cafe" == plain_text("日本あカcafe")
