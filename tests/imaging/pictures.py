"""Pictures that the tests of this folder make, and what is measured in pictures."""

from PIL import Image, ImageChops, ImageDraw, ImageStat

from image_workflow_emulator.domain.recipes import PictureFormat, UpscaleRecipe
from image_workflow_emulator.imaging.colors import Color
from image_workflow_emulator.imaging.render import render
from tests.support.pictures import decode, encode

RED = (200, 40, 40)
GREEN = (40, 160, 60)
BLUE = (30, 60, 200)
WHITE = (250, 250, 250)
SAND = (230, 220, 200)
BROWN = (120, 80, 60)


def encoded(
    image: Image.Image,
    kind: str,
    **options: object,
) -> bytes:
    return encode(image, f"image/{kind.lower()}", **options)


def four_corners(
    width: int = 48,
    height: int = 32,
    mode: str = "RGB",
) -> Image.Image:
    """Quarters of red, green over blue, white; so that every turn shows."""
    middle = width // 2
    center = height // 2
    image = Image.new("RGB", (width, height), RED)
    image.paste(GREEN, (middle, 0, width, center))
    image.paste(BLUE, (0, center, middle, height))
    image.paste(WHITE, (middle, center, width, height))
    return image.convert(mode)


def pixel(
    image: Image.Image,
    x: int,
    y: int,
) -> tuple[int, ...]:
    """The channels of one pixel; negative places count from the right and below."""
    from_left = x % image.width
    from_top = y % image.height
    channels = image.getpixel((from_left, from_top))
    assert isinstance(channels, tuple), f"mode {image.mode} has one channel"
    return channels


def alpha_at(
    image: Image.Image,
    x: int,
    y: int,
) -> int:
    return pixel(image, x, y)[3]


def corner_colors(image: Image.Image) -> list[tuple[int, ...]]:
    """The colours near the corners: upper left and right, lower left and right."""
    opaque = image.convert("RGB")
    left = image.width // 8
    top = image.height // 8
    right = -1 - left
    bottom = -1 - top
    return [
        pixel(opaque, left, top),
        pixel(opaque, right, top),
        pixel(opaque, left, bottom),
        pixel(opaque, right, bottom),
    ]


def is_near(
    expected: tuple[int, ...],
    actual: tuple[int, ...],
    tolerance: int = 6,
) -> bool:
    """Whether no channel differs by more than `tolerance` levels."""
    pairs = zip(expected, actual, strict=True)
    return all(abs(first - second) <= tolerance for first, second in pairs)


def are_near(
    expected: list[tuple[int, ...]],
    actual: list[tuple[int, ...]],
    tolerance: int = 6,
) -> bool:
    pairs = zip(expected, actual, strict=True)
    return all(is_near(first, second, tolerance) for first, second in pairs)


def mask_of(
    image: Image.Image,
    color: Color,
    tolerance: int,
) -> Image.Image:
    """White where the image is of a colour, within `tolerance` levels a channel."""
    plain = Image.new("RGB", image.size, color)
    differences = ImageChops.difference(image.convert("RGB"), plain)
    red, green, blue = differences.split()
    largest = ImageChops.lighter(red, green)
    largest = ImageChops.lighter(largest, blue)
    levels = [255 if level <= tolerance else 0 for level in range(256)]
    return largest.point(levels)


def count_of(
    image: Image.Image,
    color: Color,
    tolerance: int = 40,
) -> int:
    return mask_of(image, color, tolerance).histogram()[255]


def box_of(
    image: Image.Image,
    color: Color,
    tolerance: int = 6,
) -> tuple[int, int, int, int]:
    box = mask_of(image, color, tolerance).getbbox()
    assert box is not None, f"nothing is of colour {color}"
    return box


def difference(first: Image.Image, second: Image.Image) -> float:
    """The mean difference of two pictures, in levels."""
    opaque_first = first.convert("RGB")
    opaque_second = second.convert("RGB")
    levels = ImageChops.difference(opaque_first, opaque_second)
    means = ImageStat.Stat(levels).mean
    return sum(means) / len(means)


def product(
    color: Color = BLUE,
    ground: Color = WHITE,
    edge: int = 240,
) -> Image.Image:
    """A thing of one colour before a plain ground."""
    image = Image.new("RGB", (edge, edge), ground)
    near = edge // 4
    far = edge * 3 // 4
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle(
        (near, near, far, far),
        radius=edge // 16,
        fill=color,
    )
    return image


def gradient(width: int = 200, height: int = 150) -> Image.Image:
    sideways = Image.linear_gradient("L").rotate(90)
    grey = sideways.resize((width, height))
    return Image.merge("RGB", (grey, grey, grey))


def checkered(edge: int = 200, tile: int = 20) -> Image.Image:
    image = Image.new("RGB", (edge, edge), SAND)
    pair = 2 * tile
    for top in range(0, edge, tile):
        for left in range(top % pair, edge, pair):
            place = (left, top, left + tile, top + tile)
            image.paste(BROWN, place)
    return image


def upscaled(
    source: Image.Image,
    width: int,
    height: int,
    target: PictureFormat,
) -> Image.Image:
    recipe = UpscaleRecipe(
        width=width,
        height=height,
        format=target,
        inputs=("source",),
    )
    output = render(recipe, [encoded(source, "PNG")])
    return decode(output)
