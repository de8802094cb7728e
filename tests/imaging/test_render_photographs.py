import colorsys

import pytest
from PIL import Image, ImageChops, ImageStat

from emulator.domain.recipes import PhotographRecipe, PictureFormat
from emulator.imaging.render import render
from tests.imaging.pictures import BLUE, GREEN, checkered, decoded, encoded, four_corners, is_near, pixel, product

MUG = encoded(product(), "JPEG", quality=95)
EDGE = 400


def photograph(*inputs: bytes, **fields: object) -> Image.Image:
    """A photograph with one subject, decoded."""
    asked: dict[str, object] = {"width": EDGE, "height": EDGE, "format": "png", "subject_count": 1, "caption": "shot"}
    keys = tuple(f"key {number}" for number in range(len(inputs)))
    recipe = PhotographRecipe(inputs=keys, **(asked | fields))  # type: ignore[arg-type]
    return decoded(render(recipe, list(inputs)))


def count_of(image: Image.Image, color: tuple[int, int, int], tolerance: int = 40) -> int:
    """How many pixels are nearly of a colour."""
    difference = ImageChops.difference(image.convert("RGB"), Image.new("RGB", image.size, color))
    red, green, blue = difference.split()
    worst = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return sum(worst.histogram()[: tolerance + 1])


def difference(first: Image.Image, second: Image.Image) -> float:
    """The mean difference of two pictures, in levels."""
    return sum(ImageStat.Stat(ImageChops.difference(first.convert("RGB"), second.convert("RGB"))).mean) / 3


@pytest.mark.parametrize("target", ["jpeg", "png", "webp"])
def test_a_colour_background_reaches_the_corners(target: PictureFormat) -> None:
    image = photograph(MUG, background_kind="color", background_hex="#d0e0f0", format=target).convert("RGB")
    assert all(is_near((0xD0, 0xE0, 0xF0), pixel(image, x, y), 4) for x, y in ((0, 0), (-1, 0), (0, -1), (-1, -1)))


@pytest.mark.parametrize("text", ["", "#12345", "#1234567", "orange"])
def test_a_colour_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"hex"):
        photograph(MUG, background_kind="color", background_hex=text)


def test_a_background_picture_is_seen_behind_the_subject() -> None:
    wall = encoded(four_corners(400, 400), "PNG")
    image = photograph(MUG, wall, background_kind="picture")
    assert is_near((200, 40, 40), pixel(image, 4, 4), 12)
    assert is_near((40, 160, 60), pixel(image, -5, 4), 12)


@pytest.mark.parametrize("target", ["png", "webp"])
def test_a_transparent_background_has_real_alpha_and_an_opaque_subject(target: PictureFormat) -> None:
    alpha = photograph(MUG, background_kind="transparent", format=target).getchannel("A")
    assert [0, 0, 255] == [alpha.getpixel(place) for place in ((0, 0), (EDGE - 1, 0), (EDGE // 2, EDGE * 6 // 10))]


@pytest.mark.parametrize("kind", ["automatic", "transparent"])
def test_a_subject_is_cut_out_of_its_plain_backdrop(kind: str) -> None:
    image = photograph(MUG, background_kind=kind)
    assert count_of(image, BLUE) > 8_000
    assert count_of(image, (250, 250, 250), 3) < 400


def test_a_cut_out_keeps_its_own_alpha() -> None:
    subject = Image.new("RGBA", (200, 200))
    subject.paste((*GREEN, 255), (80, 0, 120, 200))
    image = photograph(encoded(subject, "PNG"), background_kind="color", background_hex="#ffffff")
    assert 4_000 < count_of(image, GREEN) < 20_000


def test_a_subject_without_a_plain_backdrop_is_shown_whole_as_a_print() -> None:
    image = photograph(encoded(checkered(), "PNG"), background_kind="color", background_hex="#ffd0d0")
    assert count_of(image, (230, 220, 200)) > 10_000
    assert count_of(image, (255, 255, 255), 4) > 1_000


def test_the_colorway_tints_the_subject_and_not_the_background() -> None:
    fields = {"background_kind": "color", "background_hex": "#ffffff"}
    image = photograph(MUG, colorway_hex="#c02050", **fields)
    assert count_of(image, BLUE) < count_of(photograph(MUG, **fields), BLUE) / 20
    hue, _, _ = colorsys.rgb_to_hsv(*(value / 255 for value in pixel(image, EDGE // 2, EDGE * 6 // 10)))
    assert abs(hue - colorsys.rgb_to_hsv(0xC0 / 255, 0x20 / 255, 0x50 / 255)[0]) < 0.06
    assert (255, 255, 255) == pixel(image, 0, 0)


def test_a_tint_keeps_light_and_dark_apart() -> None:
    subject = product()
    subject.paste((160, 190, 250), (80, 80, 160, 100))
    image = photograph(encoded(subject, "PNG"), colorway_hex="#208040")
    shades = {value // 24 for value in image.convert("L").crop((120, 120, 280, 330)).tobytes()}
    assert len(shades) >= 3


def test_the_camera_distance_changes_how_large_the_subject_is() -> None:
    counts = [count_of(photograph(MUG, camera_distance=distance), BLUE) for distance in ("far", "medium", "close")]
    assert counts == sorted(counts)
    assert counts[2] > 3 * counts[0]


def test_every_subject_is_in_the_picture() -> None:
    colors = [(200, 30, 30), (30, 150, 40), (30, 60, 200), (200, 150, 20), (130, 30, 160)]
    inputs = [encoded(product(color), "PNG") for color in colors]
    image = photograph(*inputs, subject_count=5)
    assert all(count_of(image, color, 20) > 600 for color in colors)


@pytest.mark.parametrize("people", [1, 2, 3])
def test_people_appear_if_asked_for(people: int) -> None:
    fields = {"background_kind": "color", "background_hex": "#ffffff", "camera_distance": "medium"}
    fewer = photograph(MUG, people=people - 1, **fields)
    assert difference(fewer, photograph(MUG, people=people, **fields)) > 2


def test_a_chosen_fashion_model_is_seen() -> None:
    model = encoded(Image.new("RGB", (100, 120), (250, 10, 220)), "PNG")
    image = photograph(MUG, model, people=1, model_input_count=1)
    assert count_of(image, (250, 10, 220), 12) > 1_000


def test_slots_of_one_generation_differ() -> None:
    shots = [photograph(MUG, variation=number, slot=number + 1, slot_count=6) for number in range(6)]
    pairs = [(a, b) for a in range(6) for b in range(a)]
    assert all(difference(shots[a], shots[b]) > 1 for a, b in pairs)


def test_the_caption_tells_slots_apart() -> None:
    slots = [photograph(MUG, slot=slot, slot_count=4, caption="") for slot in (1, 2)]
    box = ImageChops.difference(*slots).getbbox()
    assert box is not None
    assert box[1] > EDGE * 0.9


@pytest.mark.parametrize("ratio", [(1024, 438), (438, 1024), (820, 1024), (1024, 576)], ids=str)
def test_the_whole_subject_stays_inside_at_every_ratio(ratio: tuple[int, int]) -> None:
    width, height = ratio
    image = photograph(MUG, width=width, height=height, background_kind="transparent", caption=" ")
    alpha = image.getchannel("A").crop((0, 0, width, round(height * 0.9)))
    box = alpha.getbbox()
    assert box is not None
    assert 0 < box[0] < box[2] < width
    assert 0 < box[1]


def test_large_pictures_are_drawn_at_their_full_size() -> None:
    image = photograph(MUG, width=4096, height=2304, format="jpeg", resolution="4k")
    assert (4096, 2304) == image.size
    assert count_of(image.reduce(8), BLUE) > 6_000
