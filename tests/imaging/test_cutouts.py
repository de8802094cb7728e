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
from tests.imaging.pictures import WHITE, box_of, count_of, encoded, is_near, pixel

GROUND = (0xC0, 0xD0, 0xC0)
BLUE: Color = (90, 120, 200)


def scene_with(upload: bytes) -> Image.Image:
    """The scene of a photograph of an upload, before a pale green."""
    image = photograph(upload, background_kind="color", background_hex="#c0d0c0")
    return scene_of(image)


def is_framed(scene: Image.Image, color: Color) -> bool:
    """Whether something else than the ground is beside what has a colour."""
    left, top, _, _ = box_of(scene, color, 30)
    return not is_near(GROUND, pixel(scene, left - 4, top + 10))


@pytest.mark.parametrize("upload", [cut_out_file(RED), plain_file(RED)])
def test_what_is_transparent_or_on_a_plain_ground_is_cut_out(upload: bytes) -> None:
    assert not is_framed(scene_with(upload), RED)


@pytest.mark.parametrize("upload", [busy_file(RED), print_file(RED)])
def test_any_other_upload_is_in_a_frame(upload: bytes) -> None:
    assert is_framed(scene_with(upload), RED)


def test_many_small_things_stay_in_a_frame_with_their_ground() -> None:
    scene = scene_with(bricks_file(RED, WHITE))

    assert is_framed(scene, RED)
    assert count_of(scene, WHITE, 6) > 0.2 * count_of(scene, RED, 6)


@pytest.mark.parametrize("ground", [WHITE, BLUE, (40, 40, 44)])
def test_a_hole_shows_the_ground_on_every_ground(ground: Color) -> None:
    scene = scene_with(ring_file(RED, ground, ground))

    left, top, right, bottom = box_of(scene, RED, 30)
    assert is_near(GROUND, pixel(scene, (left + right) // 2, (top + bottom) // 2))


def test_enclosed_ground_with_something_in_it_is_no_hole() -> None:
    scene = scene_with(ring_file(RED, WHITE, (0, 0, 0)))

    left, top, right, bottom = box_of(scene, RED, 30)
    beside = (left + right) // 2 + (right - left) // 8
    assert is_near(WHITE, pixel(scene, beside, (top + bottom) // 2))


def with_shadow(ground: Color) -> bytes:
    """A red thing with a soft shadow on a ground."""
    subject = Image.new("L", (480, 480))
    subject.paste(255, (120, 120, 360, 360))
    shadow = Image.new("L", (480, 480))
    shadow.paste(120, (100, 370, 400, 420))
    photo = Image.new("RGB", (480, 480), ground)
    photo.paste((0, 0, 0), mask=shadow.filter(ImageFilter.GaussianBlur(12)))
    photo.paste(RED, mask=subject)
    return encoded(photo, "PNG")


@pytest.mark.parametrize("ground", [WHITE, BLUE])
def test_a_shadow_becomes_black_with_alpha_on_any_ground(ground: Color) -> None:
    image = photograph(
        with_shadow(ground),
        background_kind="color",
        background_hex="#40c040",
    )

    scene = scene_of(image)
    shaded = mix(ground, (0, 0, 0), 0.2)
    assert count_of(scene, shaded, 24) == 0, "nothing of its own ground is left"
    assert count_of(image, (0x28, 0x78, 0x28), 24) > 300, "the new ground is darker"
