"""An upscale shows its input, larger, with a mark."""

import pytest
from PIL import Image, ImageChops

from image_workflow_emulator.domain.recipes import PictureFormat
from tests.imaging.pictures import difference, four_corners, pixel, upscaled

SOURCE = four_corners(200, 120)


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_the_same_picture_is_shown_larger(target: PictureFormat) -> None:
    larger = upscaled(SOURCE, 2048, 1229, target)

    below_mark = (0, SOURCE.height // 4, SOURCE.width, SOURCE.height)
    reduced = larger.resize(SOURCE.size, Image.Resampling.BOX)
    assert difference(SOURCE.crop(below_mark), reduced.crop(below_mark)) < 2


def test_a_mark_is_in_the_upper_right_corner() -> None:
    plain = SOURCE.resize((2048, 1229), Image.Resampling.BICUBIC)

    marked = upscaled(SOURCE, 2048, 1229, "png").convert("RGB")

    box = ImageChops.difference(plain, marked).getbbox()
    assert box is not None
    left, _, right, bottom = box
    assert left > 1400
    assert right < 2048
    assert bottom < 1229 * 0.2


@pytest.mark.parametrize("target", ["png", "webp"])
def test_transparency_is_kept(target: PictureFormat) -> None:
    source = Image.new("RGBA", (40, 40), (250, 20, 20, 0))
    source.paste((20, 20, 200, 255), (10, 10, 30, 30))

    larger = upscaled(source, 400, 400, target)

    assert pixel(larger, 2, 2)[3] == 0
    assert pixel(larger, 200, 200)[3] == 255


def test_a_hidden_colour_does_not_shine_through_at_an_edge() -> None:
    source = Image.new("RGBA", (40, 40), (250, 20, 20, 0))
    source.paste((20, 20, 200, 255), (10, 10, 30, 30))

    larger = upscaled(source, 400, 400, "png")

    row = [pixel(larger, x, 200) for x in range(80, 130)]
    red, _, blue, _ = next(color for color in row if color[3] > 60)
    assert blue > red


def test_jpeg_has_white_where_the_input_is_transparent() -> None:
    clear = Image.new("RGBA", (20, 20), (0, 0, 0, 0))

    larger = upscaled(clear, 80, 80, "jpeg")

    assert set(pixel(larger, 40, 40)) == {255}
