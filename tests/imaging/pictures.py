"""Pictures that the tests make: encoded sources and simple scenes."""

from PIL import Image, ImageChops, ImageDraw, ImageStat

from image_workflow_emulator.domain.recipes import PictureFormat, UpscaleRecipe
from image_workflow_emulator.imaging.render import render
from tests.support.pictures import decode, encode

RED, GREEN, BLUE, WHITE = (200, 40, 40), (40, 160, 60), (30, 60, 200), (250, 250, 250)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    return encode(image, f"image/{kind.lower()}", **options)


def four_corners(width: int = 48, height: int = 32, mode: str = "RGB") -> Image.Image:
    """Quarters of four colours: red, green over blue, white; so that every turn shows."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(GREEN, (width // 2, 0, width, height // 2))
    image.paste(BLUE, (0, height // 2, width // 2, height))
    image.paste(WHITE, (width // 2, height // 2, width, height))
    return image.convert(mode)


def pixel(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    """The channels of one pixel; negative places count from the right and from below."""
    value = image.getpixel((x % image.width, y % image.height))
    assert isinstance(value, tuple), f"a picture of mode {image.mode} has one channel"
    return value


def corner_colors(image: Image.Image) -> list[tuple[int, ...]]:
    """The colours near the corners: upper left, upper right, lower left, lower right."""
    x, y = image.width // 8, image.height // 8
    return [
        pixel(image.convert("RGB"), a, b)
        for a, b in ((x, y), (-1 - x, y), (x, -1 - y), (-1 - x, -1 - y))
    ]


def is_near(
    expected: tuple[int, ...], found: tuple[int, ...], tolerance: int = 6
) -> bool:
    """Whether no channel differs by more than `tolerance` levels."""
    return len(expected) == len(found) and all(
        abs(a - b) <= tolerance for a, b in zip(expected, found, strict=True)
    )


def mask_of(image: Image.Image, color: tuple[int, ...], tolerance: int) -> Image.Image:
    """White where the image is of a colour, within `tolerance` levels a channel."""
    parts = ImageChops.difference(
        image.convert("RGB"), Image.new("RGB", image.size, color)
    ).split()
    worst = ImageChops.lighter(ImageChops.lighter(parts[0], parts[1]), parts[2])
    return worst.point([255 if level <= tolerance else 0 for level in range(256)])


def count_of(image: Image.Image, color: tuple[int, ...], tolerance: int = 40) -> int:
    return mask_of(image, color, tolerance).histogram()[255]


def box_of(
    image: Image.Image, color: tuple[int, int, int], tolerance: int = 6
) -> tuple[int, int, int, int]:
    box = mask_of(image, color, tolerance).getbbox()
    assert box is not None, f"nothing is of colour {color}"
    return box


def difference(first: Image.Image, second: Image.Image) -> float:
    return (
        sum(
            ImageStat.Stat(
                ImageChops.difference(first.convert("RGB"), second.convert("RGB"))
            ).mean
        )
        / 3
    )


def product(
    color: tuple[int, int, int] = BLUE,
    backdrop: tuple[int, int, int] = WHITE,
    edge: int = 240,
) -> Image.Image:
    image = Image.new("RGB", (edge, edge), backdrop)
    ImageDraw.Draw(image).rounded_rectangle(
        (edge // 4, edge // 4, edge * 3 // 4, edge * 3 // 4), edge // 16, fill=color
    )
    return image


def gradient(width: int = 200, height: int = 150) -> Image.Image:
    grey = Image.linear_gradient("L").rotate(90).resize((width, height))
    return Image.merge("RGB", (grey, grey, grey))


def checkered(edge: int = 200, tile: int = 20) -> Image.Image:
    image = Image.new("RGB", (edge, edge), (230, 220, 200))
    for row in range(0, edge, tile):
        for column in range(row % (2 * tile), edge, 2 * tile):
            image.paste((120, 80, 60), (column, row, column + tile, row + tile))
    return image


def upscaled(
    source: Image.Image, width: int, height: int, target: PictureFormat
) -> Image.Image:
    recipe = UpscaleRecipe(width=width, height=height, format=target, inputs=("one",))
    return decode(render(recipe, [encoded(source, "PNG")]))
