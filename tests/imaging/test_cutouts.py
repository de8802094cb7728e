"""What is cut out of an upload, and what stays in a frame."""

import pytest
from PIL import Image, ImageFilter

from image_workflow_emulator.imaging.colors import Color, mix
from tests.imaging.photographs import (
    RED,
    bricks_file,
    busy_file,
    cut_out_file,
    photograph,
    plain_file,
    print_file,
    ring_file,
    scene_of,
)
from tests.imaging.pictures import (
    WHITE,
    box_of,
    count_of,
    encoded,
    is_near,
    pixel,
)

GROUND = (0xC0, 0xD0, 0xC0)
BLUE: Color = (90, 120, 200)
BLACK: Color = (0, 0, 0)


def scene_with(upload: bytes) -> Image.Image:
    """The scene of a photograph of an upload, before a pale green."""
    image = photograph(
        upload,
        background_kind="color",
        background_hex="#c0d0c0",
    )
    return scene_of(image)


def middle_of(box: tuple[int, int, int, int]) -> tuple[int, int]:
    left, top, right, bottom = box
    return (left + right) // 2, (top + bottom) // 2


def is_framed(scene: Image.Image) -> bool:
    """Whether something else than the ground is beside what is red."""
    left, top, _, _ = box_of(scene, RED, 30)
    beside = pixel(scene, left - 4, top + 10)
    return not is_near(GROUND, beside)


@pytest.mark.parametrize(
    "upload",
    [
        pytest.param(cut_out_file(RED), id="transparent"),
        pytest.param(plain_file(RED), id="on a plain ground"),
    ],
)
def test_what_is_transparent_or_on_a_plain_ground_is_cut_out(upload: bytes) -> None:
    scene = scene_with(upload)

    assert not is_framed(scene)


@pytest.mark.parametrize(
    "upload",
    [
        pytest.param(busy_file(RED), id="before a texture"),
        pytest.param(print_file(RED), id="of one colour"),
    ],
)
def test_any_other_upload_is_in_a_frame(upload: bytes) -> None:
    scene = scene_with(upload)

    assert is_framed(scene)


def test_many_small_things_stay_in_a_frame_with_their_ground() -> None:
    bricks = bricks_file(RED, WHITE)

    scene = scene_with(bricks)

    white = count_of(scene, WHITE, 6)
    red = count_of(scene, RED, 6)
    assert is_framed(scene)
    assert white > 0.2 * red


@pytest.mark.parametrize("ground", [WHITE, BLUE, (40, 40, 44)])
def test_a_hole_shows_the_ground_on_every_ground(ground: Color) -> None:
    ring = ring_file(RED, ground, inside=ground)

    scene = scene_with(ring)

    box = box_of(scene, RED, 30)
    inside = pixel(scene, *middle_of(box))
    assert is_near(GROUND, inside)


def test_enclosed_ground_with_something_in_it_is_no_hole() -> None:
    ring = ring_file(RED, WHITE, inside=BLACK)

    scene = scene_with(ring)

    box = box_of(scene, RED, 30)
    left, _, right, _ = box
    x, y = middle_of(box)
    distance = (right - left) // 8
    beside_it = pixel(scene, x + distance, y)
    assert is_near(WHITE, beside_it)


def with_shadow(ground: Color) -> bytes:
    """A red thing with a soft shadow on a ground."""
    size = (480, 480)
    place_of_subject = (120, 120, 360, 360)
    place_of_shadow = (100, 370, 400, 420)
    subject = Image.new("L", size)
    subject.paste(255, place_of_subject)
    hard_shadow = Image.new("L", size)
    hard_shadow.paste(120, place_of_shadow)
    blur = ImageFilter.GaussianBlur(12)
    soft_shadow = hard_shadow.filter(blur)
    photo = Image.new("RGB", size, ground)
    photo.paste(BLACK, mask=soft_shadow)
    photo.paste(RED, mask=subject)
    return encoded(photo, "PNG")


@pytest.mark.parametrize("ground", [WHITE, BLUE])
def test_a_shadow_becomes_black_with_alpha_on_any_ground(ground: Color) -> None:
    upload = with_shadow(ground)
    shaded_old_ground = mix(ground, BLACK, 0.2)
    shaded_new_ground = (0x28, 0x78, 0x28)

    image = photograph(
        upload,
        background_kind="color",
        background_hex="#40c040",
    )

    scene = scene_of(image)
    assert count_of(scene, shaded_old_ground, 24) == 0
    assert count_of(image, shaded_new_ground, 24) > 300
