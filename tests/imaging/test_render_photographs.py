"""A Product Photography shows what was asked for: all of it, at every ratio, and differently in each slot."""

from itertools import combinations

import pytest
from PIL import Image, ImageChops, ImageFilter, ImageStat

from image_workflow_emulator.domain.orders import output_size
from image_workflow_emulator.domain.recipes import (
    IngredientKind,
    PhotographRecipe,
    PictureFormat,
    PremadeRecipe,
)
from image_workflow_emulator.imaging.colors import opaque
from image_workflow_emulator.imaging.render import render
from tests.imaging.pictures import (
    WHITE,
    box_of,
    checkered,
    count_of,
    difference,
    encoded,
    four_corners,
    is_near,
    pixel,
    product,
)
from tests.support.pictures import decode

EDGE = 480
RATIOS = ("21:9", "3:2", "1:1", "4:5", "9:16")
COLORS = [(220, 20, 20), (20, 160, 20), (20, 20, 220), (200, 20, 200), (20, 170, 180)]
MODELS = [(120, 60, 10), (60, 120, 10), (120, 10, 60)]


def print_file(
    color: tuple[int, int, int], width: int = 90, height: int = 120
) -> bytes:
    return encoded(Image.new("RGB", (width, height), color), "PNG")


def cut_out_file(color: tuple[int, int, int]) -> bytes:
    subject = Image.new("RGBA", (200, 200))
    subject.paste((*color, 255), (80, 20, 120, 180))
    return encoded(subject, "PNG")


RED = COLORS[0]
PRODUCT, CUT_OUT, ON_PLAIN = (
    print_file(RED),
    cut_out_file(RED),
    encoded(product(RED, WHITE), "PNG"),
)
BUSY = encoded(
    Image.composite(
        product(RED), checkered(240), product((255, 255, 255), (0, 0, 0)).convert("L")
    ),
    "PNG",
)


def photograph(*inputs: bytes, **fields: object) -> Image.Image:
    """A photograph with one subject on white, decoded."""
    asked: dict[str, object] = {
        "width": EDGE,
        "height": EDGE,
        "format": "png",
        "subject_count": 1,
    }
    asked |= (
        {}
        if "background_kind" in fields
        else {"background_kind": "color", "background_hex": "#ffffff"}
    )
    keys = tuple(f"key {number}" for number in range(len(inputs)))
    return decode(
        render(
            PhotographRecipe(inputs=keys, **(asked | fields)),  # type: ignore[arg-type]
            list(inputs),
        )
    )


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_a_colour_background_reaches_the_corners(target: PictureFormat) -> None:
    image = photograph(
        PRODUCT, background_kind="color", background_hex="#d0e0f0", format=target
    ).convert("RGB")
    assert all(
        is_near((0xD0, 0xE0, 0xF0), pixel(image, x, y), 4)
        for x, y in ((0, 0), (-1, 0), (0, -1), (-1, -1))
    )


def test_a_background_picture_fills_the_frame() -> None:
    image = photograph(
        PRODUCT, encoded(four_corners(400, 400), "PNG"), background_kind="picture"
    )
    corners = [pixel(image, x, y) for x, y in ((1, 1), (-2, 1), (1, -2), (-2, -2))]
    assert [(200, 40, 40), (40, 160, 60), (30, 60, 200), (250, 250, 250)] == corners


@pytest.mark.parametrize("target", ["png", "webp"])
@pytest.mark.parametrize("people", [0, 1])
def test_a_transparent_output_has_alpha_zero_outside_of_what_is_cut_out(
    target: PictureFormat, people: int
) -> None:
    image = photograph(
        ON_PLAIN, background_kind="transparent", people=people, format=target
    )
    scene = image.crop((0, 0, EDGE, EDGE * 2 // 3))
    assert (0, 255) == scene.getchannel("A").getextrema()
    assert 0.02 < ImageStat.Stat(scene.getchannel("A")).mean[0] / 255 < 0.6
    assert count_of(opaque(scene, (0, 0, 0)), WHITE, 4) == 0, (
        "the plain ground is there no more"
    )


@pytest.mark.parametrize(
    ("upload", "is_cut_out"), [("CUT_OUT", True), ("ON_PLAIN", True), ("BUSY", False)]
)
def test_an_upload_that_is_transparent_or_on_a_plain_ground_is_cut_out(
    upload: str, is_cut_out: bool
) -> None:
    image = photograph(
        globals()[upload], background_kind="color", background_hex="#c0d0c0"
    )
    left, top, _, _ = box_of(image.crop((0, 0, EDGE, EDGE * 2 // 3)), RED, 30)
    assert is_near((0xC0, 0xD0, 0xC0), pixel(image, left - 4, top + 10)) is is_cut_out


def test_a_shadow_on_a_plain_ground_becomes_black_with_alpha_on_any_ground() -> None:
    photo = product(RED, WHITE, 480)
    shadow = Image.new("L", photo.size)
    shadow.paste(120, (100, 370, 400, 420))
    soft = shadow.filter(ImageFilter.GaussianBlur(12))
    photo.paste(
        (40, 40, 40),
        mask=ImageChops.subtract(
            soft, product((255, 255, 255), (0, 0, 0), 480).convert("L")
        ),
    )
    image = photograph(
        encoded(photo, "PNG"), background_kind="color", background_hex="#40c040"
    )
    assert (
        count_of(image.crop((0, 0, EDGE, EDGE * 3 // 4)), (200, 200, 200), 40) == 0
    ), "no grey patch is left"
    assert count_of(image, (0x28, 0x78, 0x28), 24) > 300, (
        "the ground is darker in the shadow"
    )


def premade(kind: IngredientKind, name: str, *attributes: str) -> bytes:
    return render(
        PremadeRecipe(
            width=512,
            height=640,
            format="png",
            kind=kind,
            name=name,
            attributes=attributes,
        ),
        [],
    )


@pytest.mark.parametrize("ratio", ["21:9", "1:1", "9:16"])
def test_a_product_stands_on_the_ground_of_the_place(ratio: str) -> None:
    width, height = output_size(ratio, "1k")
    street = premade("background", "Brick street")
    image = photograph(
        ON_PLAIN, street, background_kind="picture", width=width, height=height
    )
    floor = box_of(image, RED, 30)[3]
    assert is_near((172, 170, 166), pixel(image, -4, floor)), (
        "it floats before the wall"
    )


@pytest.mark.parametrize("name", ["Ava", "Ben", "Cleo", "Dora"])
def test_the_head_of_a_premade_model_is_whole_and_cut_out(name: str) -> None:
    card = premade("fashion_model", name, "female", "55+")
    image = photograph(
        PRODUCT, card, people=1, model_input_count=1, background_hex="#102080"
    ).convert("RGB")
    head = image.crop((EDGE * 3 // 8, 0, EDGE * 5 // 8, EDGE // 5))
    assert count_of(head, (0x10, 0x20, 0x80), 4) > 0.3 * head.width * head.height
    red, green, blue, *_ = pixel(decode(card), 4, 4)
    assert count_of(head, (red, green, blue), 4) == 0


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("ratio", RATIOS)
def test_a_product_is_whole_at_any_ratio(ratio: str, people: int) -> None:
    width, height = (edge // 2 for edge in output_size(ratio, "1k"))
    inputs = [
        PRODUCT,
        *(print_file(color) for color in (*MODELS[:people], (0, 0, 0), (0, 0, 0))),
    ]
    image = photograph(
        *inputs,
        width=width,
        height=height,
        people=people,
        model_input_count=people,
        aspect_ratio=ratio,
        photography_style="Plain",
        pose="Walking",
        directions="Warm light. " * 20,
    )
    red, _, blue = image.split()
    reddish = ImageChops.subtract(red, blue).point(
        [255 * (level > 60) for level in range(256)]
    )
    left, top, right, bottom = reddish.getbbox() or (0, 0, 0, 0)
    assert 0 < left < right < width
    assert 0 < top < bottom < height
    assert min(right - left, bottom - top) > 0.07 * min(width, height)


@pytest.mark.parametrize("people", [0, 2])
@pytest.mark.parametrize("ratio", RATIOS)
def test_each_of_five_products_and_of_the_chosen_models_is_seen(
    ratio: str, people: int
) -> None:
    width, height = output_size(ratio, "1k")
    colors = (*COLORS, *MODELS[:people])
    image = photograph(
        *map(print_file, colors),
        width=width,
        height=height,
        subject_count=5,
        people=people,
        model_input_count=people,
    )
    assert min(count_of(image, color, 6) for color in colors) > 1000


@pytest.mark.parametrize("people", [0, 1])
def test_a_nearer_camera_shows_the_product_larger(people: int) -> None:
    distances = ("far", "medium", "close")
    counts = [
        count_of(photograph(PRODUCT, people=people, camera_distance=distance), RED)
        for distance in distances
    ]
    assert counts == sorted(counts)
    assert counts[2] > 2 * counts[0]


def test_people_stand_as_the_pose_says() -> None:
    poses = ("Standing front", "Three-quarter turn", "Walking", "Hand on hip")
    shots = [
        photograph(PRODUCT, PRODUCT, people=1, pose=pose).crop(
            (0, 0, EDGE, EDGE * 3 // 4)
        )
        for pose in poses
    ]
    assert all(
        difference(first, second) > 0.3 for first, second in combinations(shots, 2)
    )


@pytest.mark.parametrize(
    "asked",
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
def test_the_plaque_tells_what_was_asked_for(asked: dict[str, object]) -> None:
    inputs = [PRODUCT, print_file(COLORS[1]), print_file(COLORS[2])]
    chosen = {"background_kind": "picture", "people": 1, "model_input_count": 1}
    assert (
        difference(
            photograph(*inputs, **chosen), photograph(*inputs, **chosen, **asked)
        )
        > 0
    )


@pytest.mark.parametrize("chosen", ["photography_style", "pose"])
def test_a_chip_has_the_swatch_of_what_was_chosen(chosen: str) -> None:
    assert (
        count_of(
            photograph(PRODUCT, print_file(COLORS[1]), **{chosen: "Mine"}),
            COLORS[1],
            12,
        )
        > 50
    )


@pytest.mark.parametrize(
    ("colorway", "color"),
    [
        ({"colorway": "Night", "colorway_hex": "#20c040"}, (0x20, 0xC0, 0x40)),
        ({"colorway": "Dark Orange"}, (255, 140, 0)),
        ({"colorway": "Soft teal"}, (0, 128, 128)),
    ],
    ids=str,
)
@pytest.mark.parametrize("upload", ["ON_PLAIN", "PRODUCT"])
def test_a_colorway_colours_the_product(
    colorway: dict[str, object], color: tuple[int, int, int], upload: str
) -> None:
    image = photograph(globals()[upload], **colorway)
    assert count_of(image, color, 12) > 5000
    assert count_of(image, RED, 12) < 50


def test_a_style_is_a_filter_that_one_sees() -> None:
    def mean(style: str) -> list[float]:
        image = photograph(
            PRODUCT,
            print_file((40, 60, 200)),
            background_kind="automatic",
            photography_style=style,
        )
        return ImageStat.Stat(image.crop((0, 0, EDGE, EDGE // 2)).convert("RGB")).mean

    plain, low_key, golden, blue = (
        mean(style)
        for style in ("Soft daylight", "Moody low key", "Golden hour", "A Team's own")
    )
    assert sum(low_key) < 0.6 * sum(plain)
    assert golden[0] - golden[2] > plain[0] - plain[2] + 40
    assert blue[2] - blue[0] > plain[2] - plain[0] + 20


@pytest.mark.parametrize("kind", ["automatic", "transparent"])
@pytest.mark.parametrize("people", [0, 1])
@pytest.mark.parametrize("is_photoshoot", [False, True])
def test_slots_of_one_generation_differ(
    kind: str, people: int, is_photoshoot: bool
) -> None:
    fields = {
        "background_kind": kind,
        "background_hex": "#e0d0c0",
        "people": people,
        "is_photoshoot": is_photoshoot,
    }
    shots = [
        photograph(ON_PLAIN, slot=slot, slot_count=6, **fields)
        for slot in range(1, 5 if is_photoshoot else 7)
    ]
    scenes = [shot.convert("RGB").crop((0, 0, EDGE, EDGE // 2)) for shot in shots]
    assert all(
        difference(first, second) > 0.8 for first, second in combinations(scenes, 2)
    )


@pytest.mark.parametrize("people", [0, 1])
def test_a_photoshoot_comes_nearer_from_full_to_close_to_detail(people: int) -> None:
    shots = [
        photograph(ON_PLAIN, slot=slot, slot_count=4, people=people, is_photoshoot=True)
        for slot in range(1, 5)
    ]
    full, close, _, detail = (count_of(shot, RED, 12) for shot in shots)
    assert full < close < detail
