"""An upscale shows its input, larger, with a mark."""

import pytest
from PIL import Image, ImageChops

from image_workflow_emulator.domain.recipes import PictureFormat
from tests.imaging.pictures import (
    alpha_at,
    difference,
    four_corners,
    pixel,
    upscaled,
)

SOURCE = four_corners(200, 120)
CLEAR_RED = (250, 20, 20, 0)
OPAQUE_BLUE = (20, 20, 200, 255)


def blue_square() -> Image.Image:
    """A blue square on a ground whose hidden colour is red."""
    middle = (10, 10, 30, 30)
    image = Image.new("RGBA", (40, 40), CLEAR_RED)
    image.paste(OPAQUE_BLUE, middle)
    return image


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_the_same_picture_is_shown_larger(target: PictureFormat) -> None:
    below_mark = (0, SOURCE.height // 4, SOURCE.width, SOURCE.height)

    larger = upscaled(SOURCE, 2048, 1229, target)

    reduced = larger.resize(SOURCE.size, Image.Resampling.BOX)
    expected = SOURCE.crop(below_mark)
    actual = reduced.crop(below_mark)
    assert difference(expected, actual) < 2


def test_a_mark_is_in_the_upper_right_corner() -> None:
    size = (2048, 1229)
    plain = SOURCE.resize(size, Image.Resampling.BICUBIC)

    marked = upscaled(SOURCE, *size, "png")

    opaque = marked.convert("RGB")
    differences = ImageChops.difference(plain, opaque)
    box = differences.getbbox()
    assert box is not None
    left, _, right, bottom = box
    assert left > 1400
    assert right < 2048
    assert bottom < 1229 * 0.2


@pytest.mark.parametrize("target", ["png", "webp"])
def test_transparency_is_kept(target: PictureFormat) -> None:
    larger = upscaled(blue_square(), 400, 400, target)

    assert alpha_at(larger, 2, 2) == 0
    assert alpha_at(larger, 200, 200) == 255


def test_a_hidden_colour_does_not_shine_through_at_an_edge() -> None:
    larger = upscaled(blue_square(), 400, 400, "png")

    row = [pixel(larger, x, 200) for x in range(80, 130)]
    first_visible = next(color for color in row if color[3] > 60)
    red, _, blue, _ = first_visible
    assert blue > red


def test_jpeg_has_white_where_the_input_is_transparent() -> None:
    clear = Image.new("RGBA", (20, 20))

    larger = upscaled(clear, 80, 80, "jpeg")

    middle = pixel(larger, 40, 40)
    assert set(middle) == {255}
