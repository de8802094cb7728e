"""Empty scenes: studio backdrops and places, as whole pictures. Nothing in them stands out from the rest."""

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from emulator.imaging.drawing import BLACK, WHITE, Color, Dice, gradient_column, mix

_SMALL = 64  # pixels an edge, at which soft light is painted


def draw_backdrop(width: int, height: int, color: Color, is_vignetted: bool) -> Image.Image:
    """A paper roll without a horizon: a little lighter in the middle height, or a wall that darkens to its edges."""
    column = gradient_column(
        ((0, mix(color, BLACK, 0.05)), (0.55, mix(color, WHITE, 0.35)), (1, mix(color, BLACK, 0.08)))
    )
    image = _spread(column, width, height)
    if not is_vignetted:
        return image
    light = Image.radial_gradient("L").resize((_SMALL, _SMALL)).resize((width, height), Image.Resampling.BICUBIC)
    dark = Image.new("RGB", (width, height), mix(color, BLACK, 0.42))
    return Image.composite(dark, image, light.point([min(255, value * 9 // 8) for value in range(256)]))


def draw_beach(width: int, height: int) -> Image.Image:
    """Sky, sea and sand."""
    sky = ((0.0, (116, 178, 222)), (0.30, (176, 214, 236)), (0.45, (236, 238, 226)))
    sea = ((0.4501, (44, 128, 150)), (0.56, (78, 174, 178)), (0.62, (150, 214, 204)))
    sand = ((0.6201, (222, 196, 154)), (0.70, (236, 214, 174)), (1.0, (214, 184, 138)))
    image = _spread(gradient_column((*sky, *sea, *sand), 1024), width, height)
    draw = ImageDraw.Draw(image)
    dice = Dice("beach")
    for number in range(14):
        across, down = dice.throw(), 0.465 + number * 0.009
        ends = _points([(across - 0.09, down), (across + 0.09, down)], width, height)
        draw.line(ends, fill=mix((78, 160, 172), WHITE, 0.35), width=max(1, height // 500))
    foam = [(step / 40, 0.615 + 0.012 * _wave(step / 40 * 3.0)) for step in range(41)]
    wet = [(x, y + 0.055 + 0.01 * _wave(x * 2.2 + 0.3)) for x, y in foam]
    draw.polygon(_points(foam + wet[::-1], width, height), fill=(206, 178, 138))
    draw.line(_points(foam, width, height), fill=(250, 252, 250), width=max(2, height // 70), joint="curve")
    for _ in range(26):
        box = _box(dice.throw(), 0.72 + 0.27 * dice.throw(), 0.07, 0.012, width, height)
        draw.arc(box, 200, 340, fill=(204, 174, 128), width=max(1, height // 400))
    return image.filter(ImageFilter.GaussianBlur(max(width, height) / 900))


def draw_bricks(width: int, height: int) -> Image.Image:
    """A brick wall in daylight, and the pavement before it."""
    image = Image.new("RGB", (width, height), (206, 196, 184))
    draw = ImageDraw.Draw(image)
    pavement = 0.80
    rows, columns = 17, 8
    brick_height, brick_width = pavement * height / rows, width / columns
    joint = max(1, height // 190)
    for row in range(rows):
        dice = Dice("bricks", row)
        for column in range(columns + 1):
            left = (column - (row % 2) / 2) * brick_width
            color = mix(mix((158, 82, 62), (122, 58, 48), dice.throw()), (206, 140, 108), dice.throw() * 0.35)
            box = (
                left + joint,
                row * brick_height + joint,
                left + brick_width - joint,
                (row + 1) * brick_height - joint,
            )
            draw.rounded_rectangle(box, joint, fill=color)
    _pave(draw, width, height, pavement)
    shade = gradient_column(
        ((0, WHITE), (pavement - 0.12, (236, 232, 228)), (pavement, (150, 144, 140)), (pavement + 0.03, WHITE))
    )
    return _multiplied(image, shade)


def draw_room(width: int, height: int) -> Image.Image:
    """A bright room: panelled wall, skirting board, wooden floor."""
    wall, board = (214, 220, 212), (244, 243, 238)
    column = gradient_column(
        ((0, mix(wall, BLACK, 0.04)), (0.70, mix(wall, WHITE, 0.2)), (0.7001, board), (0.745, board),
         (0.7451, (168, 124, 84)), (1.0, (202, 158, 112))), 1024,
    )  # fmt: skip
    image = _spread(column, width, height)
    draw = ImageDraw.Draw(image)
    for panel in range(3):
        box = _box((panel + 0.5) / 3, 0.36, 0.125, 0.27, width, height)
        draw.rectangle(box, outline=mix(wall, WHITE, 0.65), width=max(2, width // 110))
        draw.rectangle(box, outline=mix(wall, BLACK, 0.14), width=max(1, width // 300))
    for plank in range(-6, 18):
        line = _points([(0.5 + (plank / 12 - 0.5) * 0.8, 0.745), (0.5 + (plank / 12 - 0.5) * 1.5, 1.0)], width, height)
        draw.line(line, fill=(146, 104, 68), width=max(1, width // 420))
    return image


def _pave(draw: ImageDraw.ImageDraw, width: int, height: int, top: float) -> None:
    draw.rectangle((0, top * height, width, height), fill=(172, 170, 166))
    line = (142, 140, 136)
    for slab in range(-8, 17):
        ends = [(0.5 + (slab / 8 - 0.5), top), (0.5 + (slab / 8 - 0.5) * 2.4, 1.0)]
        draw.line(_points(ends, width, height), fill=line, width=max(1, width // 400))
    for down in (0.06, 0.17, 0.36, 0.65):
        y = (top + (1 - top) * down) * height
        draw.line((0, y, width, y), fill=line, width=max(1, height // 400))


def _spread(column: Image.Image, width: int, height: int) -> Image.Image:
    return column.resize((1, height), Image.Resampling.BILINEAR).resize((width, height), Image.Resampling.NEAREST)


def _multiplied(image: Image.Image, column: Image.Image) -> Image.Image:
    return ImageChops.multiply(image, _spread(column, image.width, image.height))


def _wave(place: float) -> float:
    """A soft wave from -1 to 1 with a period of 1."""
    phase = place % 1
    return 1 - 16 * (phase - 0.25) ** 2 if phase < 0.5 else 16 * (phase - 0.75) ** 2 - 1


def _points(points: list[tuple[float, float]], width: int, height: int) -> list[tuple[float, float]]:
    return [(x * width, y * height) for x, y in points]


def _box(x: float, y: float, across: float, down: float, width: int, height: int) -> tuple[float, float, float, float]:
    return (x - across) * width, (y - down) * height, (x + across) * width, (y + down) * height
