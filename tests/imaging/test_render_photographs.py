"""A Product Photography shows what was asked for: all of it, whole, at every ratio, and differently in each slot."""

from itertools import combinations

import pytest
from PIL import Image

from emulator.domain.pixels import output_size
from emulator.domain.recipes import PhotographRecipe, PictureFormat
from emulator.imaging.render import render
from tests.imaging.pictures import box_of, count_of, difference, encoded, four_corners, is_near, pixel
from tests.support.pictures import decode

EDGE = 480
RATIOS = ("21:9", "16:9", "3:2", "4:3", "5:4", "1:1", "4:5", "3:4", "2:3", "9:16")
COLORS = [(220, 20, 20), (20, 160, 20), (20, 20, 220), (200, 20, 200), (20, 170, 180)]
MODELS = [(120, 60, 10), (60, 120, 10), (120, 10, 60)]


def print_file(color: tuple[int, int, int], width: int = 90, height: int = 120) -> bytes:
    return encoded(Image.new("RGB", (width, height), color), "PNG")


def cut_out_file(color: tuple[int, int, int]) -> bytes:
    subject = Image.new("RGBA", (200, 200))
    subject.paste((*color, 255), (80, 20, 120, 180))
    return encoded(subject, "PNG")


RED = COLORS[0]
PRODUCT, CUT_OUT = print_file(RED), cut_out_file(RED)


def photograph(*inputs: bytes, **fields: object) -> Image.Image:
    """A photograph with one subject on white, decoded."""
    asked: dict[str, object] = {"width": EDGE, "height": EDGE, "format": "png", "subject_count": 1}
    asked |= {} if "background_kind" in fields else {"background_kind": "color", "background_hex": "#ffffff"}
    keys = tuple(f"key {number}" for number in range(len(inputs)))
    return decode(render(PhotographRecipe(inputs=keys, **(asked | fields)), list(inputs)))  # type: ignore[arg-type]


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_a_colour_background_reaches_the_corners(target: PictureFormat) -> None:
    image = photograph(PRODUCT, background_kind="color", background_hex="#d0e0f0", format=target).convert("RGB")
    assert all(is_near((0xD0, 0xE0, 0xF0), pixel(image, x, y), 4) for x, y in ((0, 0), (-1, 0), (0, -1), (-1, -1)))


def test_a_background_picture_fills_the_frame() -> None:
    image = photograph(PRODUCT, encoded(four_corners(400, 400), "PNG"), background_kind="picture")
    corners = [pixel(image, x, y) for x, y in ((1, 1), (-2, 1), (1, -2), (-2, -2))]
    assert [(200, 40, 40), (40, 160, 60), (30, 60, 200), (250, 250, 250)] == corners


@pytest.mark.parametrize("target", ["png", "webp"])
def test_a_transparent_background_has_real_alpha_and_an_opaque_product(target: PictureFormat) -> None:
    image = photograph(PRODUCT, background_kind="transparent", people=1, format=target)
    assert (0, 255) == image.getchannel("A").getextrema()
    assert [0, 0] == [pixel(image, *place)[3] for place in ((0, 0), (-1, -1))]
    left, top, right, bottom = box_of(image, RED)
    assert 255 == pixel(image, (left + right) // 2, (top + bottom) // 2)[3]


def test_a_transparent_upload_is_cut_out_and_another_is_framed() -> None:
    white = {"background_kind": "color", "background_hex": "#c0d0c0"}
    cut_out, framed = photograph(CUT_OUT, **white), photograph(PRODUCT, **white)
    left, top, _, _ = box_of(framed, RED)
    assert (255, 255, 255) == pixel(framed, left - 3, top - 3)
    left, top, right, bottom = box_of(cut_out, RED)
    assert 0.2 < (right - left) / (bottom - top) < 0.3, "the transparent room around it counts for nothing"
    assert (0xC0, 0xD0, 0xC0) == pixel(cut_out, left - 3, top - 3)


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("slot", [1, 2])
@pytest.mark.parametrize("ratio", RATIOS)
def test_nothing_is_cut_off_or_covered_at_any_ratio(ratio: str, slot: int, people: int) -> None:
    width, height = (edge // 2 for edge in output_size(ratio, "1k"))
    inputs = [print_file(color) for color in (*COLORS, *MODELS[:people], (0, 0, 0), (0, 0, 0))]
    image = photograph(
        *inputs, width=width, height=height, slot=slot, subject_count=5, people=people, model_input_count=people,
        photography_style="Golden hour", pose="Walking", colorway="Night", directions="Warm light. " * 20,
    )  # fmt: skip
    sizes = []
    for color in (*COLORS, *MODELS[:people]):
        left, top, right, bottom = box_of(image, color)
        assert 0 < left < right < width
        assert 0 < top < bottom < height
        assert count_of(image, color, 6) > 0.97 * (right - left) * (bottom - top)
        assert 0.75 == pytest.approx((right - left) / (bottom - top), rel=0.1)
        sizes.append(bottom - top)
    assert min(sizes) > 0.07 * min(width, height)


def test_a_nearer_camera_shows_the_product_larger() -> None:
    counts = [count_of(photograph(PRODUCT, camera_distance=distance), RED) for distance in ("far", "medium", "close")]
    assert counts == sorted(counts)
    assert counts[2] > 2 * counts[0]


@pytest.mark.parametrize("people", [1, 2, 3])
def test_each_person_who_is_not_chosen_gets_a_portrait(people: int) -> None:
    fewer, more = (photograph(PRODUCT, people=count) for count in (people - 1, people))
    assert difference(fewer, more) > 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("colorway", "Night"), ("directions", "Warm"), ("camera_distance", "far"), ("resolution", "2k"),
        ("slot_count", 6),
    ],
)  # fmt: skip
def test_the_plaque_tells_what_was_asked_for(field: str, value: object) -> None:
    assert difference(photograph(PRODUCT), photograph(PRODUCT, **{field: value})) > 0


@pytest.mark.parametrize(
    ("fields", "color"),
    [
        ({"photography_style": "Golden hour"}, COLORS[1]),
        ({"pose": "Walking"}, COLORS[1]),
        ({"colorway": "Night", "colorway_hex": "#20c040"}, (0x20, 0xC0, 0x40)),
        ({"colorway": "Dark Orange"}, (255, 140, 0)),
    ],
    ids=str,
)
def test_a_chip_has_the_swatch_of_what_was_chosen(fields: dict[str, object], color: tuple[int, int, int]) -> None:
    inputs = [] if "colorway" in fields else [print_file(color)]
    assert count_of(photograph(PRODUCT, *inputs, **fields), color, 12) > 50


@pytest.mark.parametrize("kind", ["automatic", "color", "transparent"])
@pytest.mark.parametrize("people", [0, 1])
def test_slots_of_one_generation_differ(kind: str, people: int) -> None:
    fields = {"background_kind": kind, "background_hex": "#e0d0c0", "people": people, "slot_count": 6}
    shots = [photograph(PRODUCT, slot=slot, **fields).convert("RGB") for slot in range(1, 7)]
    assert all(difference(first, second) > 0.8 for first, second in combinations(shots, 2))
