"""A Product Photography shows what was asked for: all of it, at every ratio."""

import pytest
from PIL import Image, ImageChops, ImageStat

from image_workflow_emulator.domain.orders import output_size
from image_workflow_emulator.domain.recipes import PictureFormat
from image_workflow_emulator.imaging import masks
from image_workflow_emulator.imaging.colors import Color, opaque
from tests.imaging import pictures
from tests.imaging.photographs import (
    EDGE,
    RED,
    cut_out_file,
    photograph,
    plain_file,
    premade,
    print_file,
    scene_of,
)
from tests.imaging.pictures import (
    WHITE,
    box_of,
    corner_colors,
    count_of,
    difference,
    encoded,
    four_corners,
    is_near,
    pixel,
)

RATIOS = ("21:9", "3:2", "1:1", "4:5", "9:16", "9:21")
COLORS: list[Color] = [
    RED,
    (20, 160, 20),
    (20, 20, 220),
    (200, 20, 200),
    (20, 170, 180),
]
MODELS: list[Color] = [
    (120, 60, 10),
    (60, 120, 10),
    (120, 10, 60),
]
BLACK: Color = (0, 0, 0)
PRODUCT = print_file(RED)
ON_PLAIN = plain_file(RED)
SHELF_TOP = (244, 242, 240)


# Grounds ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_a_colour_background_reaches_the_corners(target: PictureFormat) -> None:
    image = photograph(
        PRODUCT,
        background_kind="color",
        background_hex="#d0e0f0",
        format=target,
    )

    upper_edge = image.crop((0, 0, EDGE, EDGE // 8))
    for color in corner_colors(upper_edge):
        assert is_near((0xD0, 0xE0, 0xF0), color, 4)


def test_a_background_picture_fills_the_frame() -> None:
    scene = encoded(four_corners(400, 400), "PNG")

    image = photograph(PRODUCT, scene, background_kind="picture")

    assert pixel(image, 1, 1) == pictures.RED
    assert pixel(image, -2, 1) == pictures.GREEN
    assert pixel(image, 1, -2) == pictures.BLUE
    assert pixel(image, -2, -2) == pictures.WHITE


@pytest.mark.parametrize("target", ["png", "webp"])
@pytest.mark.parametrize("people", [0, 1])
def test_a_transparent_output_is_clear_around_what_is_cut_out(
    target: PictureFormat,
    people: int,
) -> None:
    image = photograph(
        ON_PLAIN,
        background_kind="transparent",
        people=people,
        format=target,
    )

    scene = scene_of(image)
    alpha = scene.getchannel("A")
    most_transparent, most_opaque = alpha.getextrema()
    assert most_transparent == 0
    assert most_opaque == 255
    mean_alpha = ImageStat.Stat(alpha).mean[0]
    on_black = opaque(scene, BLACK)
    assert 0.02 < mean_alpha / 255 < 0.6
    assert count_of(on_black, WHITE, 4) == 0, "its plain ground is gone"


@pytest.mark.parametrize("ratio", ["21:9", "1:1", "9:16"])
def test_a_product_is_on_the_ground_of_the_place(ratio: str) -> None:
    width, height = output_size(ratio, "1k")
    street = premade("background", "Brick street")

    image = photograph(
        ON_PLAIN,
        street,
        background_kind="picture",
        width=width,
        height=height,
    )

    _, _, _, floor = box_of(image, RED, 30)
    ground = pixel(image, -4, floor)
    assert is_near((172, 170, 166), ground), "it floats"


# Products -----------------------------------------------------------------------------


def with_everything(ratio: str, people: int) -> Image.Image:
    """A photograph with all that a plaque can say, and people with chosen heads."""
    width, height = output_size(ratio, "1k")
    heads = [print_file(color) for color in MODELS[:people]]
    swatch = print_file(BLACK)
    return photograph(
        PRODUCT,
        *heads,
        swatch,
        swatch,
        width=width // 2,
        height=height // 2,
        people=people,
        model_input_count=people,
        aspect_ratio=ratio,
        photography_style="Plain",
        pose="Walking",
        directions="Warm light. " * 20,
    )


def box_of_red(image: Image.Image) -> tuple[int, int, int, int]:
    """Where an image is red, whatever a style has made of it."""
    red, _, blue = image.split()
    redness = ImageChops.subtract(red, blue)
    box = masks.above(redness, 60).getbbox()
    assert box is not None
    return box


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_a_product_is_whole_at_any_ratio(ratio: str, people: int) -> None:
    image = with_everything(ratio, people)

    left, top, right, bottom = box_of_red(image)
    assert left > 0
    assert top > 0
    assert right < image.width
    assert bottom < image.height


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_a_product_can_be_seen_at_any_ratio(ratio: str, people: int) -> None:
    image = with_everything(ratio, people)

    left, top, right, bottom = box_of_red(image)
    shorter_edge = min(image.size)
    assert right - left > 0.07 * shorter_edge
    assert bottom - top > 0.07 * shorter_edge


@pytest.mark.parametrize("people", [0, 2])
@pytest.mark.parametrize("ratio", RATIOS)
def test_each_of_five_products_and_of_the_chosen_models_is_seen(
    ratio: str,
    people: int,
) -> None:
    width, height = output_size(ratio, "1k")
    colors = [*COLORS, *MODELS[:people]]
    files = [print_file(color) for color in colors]

    image = photograph(
        *files,
        width=width,
        height=height,
        subject_count=5,
        people=people,
        model_input_count=people,
    )

    for color in colors:
        assert count_of(image, color, 6) > 1000


def five_products(ratio: str, **fields: object) -> Image.Image:
    width, height = output_size(ratio, "1k")
    files = [cut_out_file(color) for color in COLORS]
    return photograph(
        *files,
        width=width,
        height=height,
        subject_count=5,
        **fields,
    )


def test_a_wide_picture_spreads_its_products() -> None:
    image = five_products("21:9")

    boxes = [box_of(image, color, 6) for color in COLORS]
    leftmost = min(left for left, _, _, _ in boxes)
    rightmost = max(right for _, _, right, _ in boxes)
    assert rightmost - leftmost > 0.4 * image.width


def test_an_upper_row_is_on_a_shelf() -> None:
    files = [print_file(color) for color in COLORS]

    image = photograph(
        *files,
        subject_count=5,
        background_hex="#406080",
    )

    left, _, right, bottom = box_of(image, COLORS[0], 6)
    shelf = image.crop((left, bottom, right, bottom + EDGE // 16))
    width = right - left
    assert count_of(shelf, SHELF_TOP, 4) >= width


def test_a_transparent_output_has_no_shelf() -> None:
    files = [print_file(color) for color in COLORS]

    image = photograph(
        *files,
        subject_count=5,
        background_kind="transparent",
    )

    scene = opaque(scene_of(image), BLACK)
    assert count_of(scene, SHELF_TOP, 2) == 0


DISTANCES = ("far", "medium", "close")


@pytest.mark.parametrize("people", [0, 1])
def test_a_nearer_camera_shows_a_product_larger(people: int) -> None:
    counts = []
    for distance in DISTANCES:
        image = photograph(
            PRODUCT,
            people=people,
            camera_distance=distance,
        )
        counts.append(count_of(image, RED))

    far, medium, close = counts
    assert far < medium < close
    assert close > 2 * far


@pytest.mark.parametrize("people", [0, 2, 3])
@pytest.mark.parametrize("ratio", ["1:1", "9:16"])
def test_a_nearer_camera_shows_a_group_larger(ratio: str, people: int) -> None:
    width, height = output_size(ratio, "1k")
    files = [cut_out_file(color) for color in COLORS[:3]]
    counts = []
    for distance in DISTANCES:
        image = photograph(
            *files,
            width=width,
            height=height,
            subject_count=3,
            people=people,
            camera_distance=distance,
        )
        counts.append(count_of(image, RED))

    far, medium, close = counts
    assert far < medium
    assert medium * 1.2 < close


# Colorway and style -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "color"),
    [
        ("Night", "#20c040", (0x20, 0xC0, 0x40)),
        ("Dark Orange", None, (255, 140, 0)),
        ("Soft teal", None, (0, 128, 128)),
    ],
)
@pytest.mark.parametrize(
    "upload",
    [
        pytest.param(ON_PLAIN, id="plain"),
        pytest.param(PRODUCT, id="print"),
    ],
)
def test_a_colorway_colours_the_product(
    name: str,
    value: str | None,
    color: Color,
    upload: bytes,
) -> None:
    image = photograph(
        upload,
        colorway=name,
        colorway_hex=value,
    )

    assert count_of(image, color, 12) > 5000
    assert count_of(image, RED, 12) < 50


def mean_of_style(name: str) -> list[float]:
    preview = print_file((40, 60, 200))
    image = photograph(
        PRODUCT,
        preview,
        background_kind="automatic",
        photography_style=name,
    )
    upper_half = image.crop((0, 0, EDGE, EDGE // 2))
    return ImageStat.Stat(upper_half.convert("RGB")).mean


def test_a_dark_style_is_darker() -> None:
    plain = mean_of_style("Soft daylight")
    dark = mean_of_style("Moody low key")

    assert sum(dark) < 0.6 * sum(plain)


def test_a_golden_style_is_warmer() -> None:
    red, _, blue = mean_of_style("Golden hour")
    plain_red, _, plain_blue = mean_of_style("Soft daylight")

    assert red - blue > plain_red - plain_blue + 40


def test_a_style_of_the_team_has_the_colour_of_its_preview() -> None:
    red, _, blue = mean_of_style("A Team's own")
    plain_red, _, plain_blue = mean_of_style("Soft daylight")

    assert blue - red > plain_blue - plain_red + 20


# Plaque -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice",
    [
        {"colorway": "Night"},
        {"directions": "Warm"},
        {"camera_distance": "far"},
        {"resolution": "2k"},
        {"slot_count": 6},
        {"aspect_ratio": "4:5"},
        {"product_names": ("Mug",)},
        {"product_names": ("マグ",)},
        {"background_name": "Lime"},
        {"model_names": ("Ava",)},
    ],
    ids=str,
)
def test_the_plaque_tells_what_was_asked_for(choice: dict[str, object]) -> None:
    ground = print_file(COLORS[1])
    head = print_file(COLORS[2])
    inputs = [PRODUCT, ground, head]
    fields = {
        "background_kind": "picture",
        "people": 1,
        "model_input_count": 1,
    }

    plain = photograph(*inputs, **fields)
    image = photograph(*inputs, **fields, **choice)

    assert difference(plain, image) > 0


@pytest.mark.parametrize("choice", ["photography_style", "pose"])
def test_a_chip_has_the_swatch_of_what_was_chosen(choice: str) -> None:
    color = COLORS[1]
    swatch = print_file(color)

    image = photograph(PRODUCT, swatch, **{choice: "Mine"})

    assert count_of(image, color, 12) > 50
