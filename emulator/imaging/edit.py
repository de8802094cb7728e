"""An Edit Images output: the input pictures as prints on a table, and the instructions they were given."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import EditRecipe
from emulator.imaging.captions import font_of_size, label, wrap, write
from emulator.imaging.composition import Composition, Layer
from emulator.imaging.decoding import load
from emulator.imaging.drawing import (
    INK,
    WHITE,
    Dice,
    color_of_hue,
    flat,
    gradient_column,
    mix,
    rounded_mask,
    soft_box_mask,
)

_INPUT_EDGE = 1280  # pixels; more is not seen
_MOST_LINES = 4
_SMALLEST_PANEL = 160  # pixels of the shorter edge; below it no instruction can be read


def edit(recipe: EditRecipe, inputs: Sequence[bytes]) -> Composition:
    """The picture that an Edit Images asks for: every input whole, in a grid, above the instructions."""
    dice = Dice("edit", recipe.instructions, *recipe.inputs)
    hue = dice.throw()
    ground = gradient_column(((0, color_of_hue(hue, 0.10, 0.97)), (1, color_of_hue(hue + 0.06, 0.22, 0.88))))
    longest = min(_INPUT_EDGE, max(recipe.width, recipe.height))
    images = [load(data, longest) for data in inputs]
    panel = _panel(recipe)
    room = panel[0].top if panel else recipe.height
    layers = _grid(images, recipe.width, room) + panel
    layers += label(recipe.caption or f"edit images · {recipe.resolution}", recipe.width, recipe.height)
    return Composition(recipe.width, recipe.height, ground, tuple(layers))


def _grid(images: Sequence[Image.Image], width: int, height: int) -> list[Layer]:
    columns = min(range(1, len(images) + 1), key=lambda count: (_waste(len(images), count, width, height), count))
    rows = -(-len(images) // columns)
    margin = max(1, min(width, height) // 28)
    cell_width, cell_height = (width - margin) // columns, (height - margin) // rows
    layers: list[Layer] = []
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        in_row = min(columns, len(images) - row * columns)
        indent = (columns - in_row) * cell_width // 2
        cell = (margin + indent + column * cell_width, margin + row * cell_height)
        layers += _print(image, cell, max(1, cell_width - margin), max(1, cell_height - margin))
    return layers


def _waste(count: int, columns: int, width: int, height: int) -> float:
    """How far from square the cells of this many columns would be."""
    rows = -(-count // columns)
    shape = (width / columns) / max(1.0, height / rows)
    return max(shape, 1 / shape) + 0.15 * (columns * rows - count)


def _print(image: Image.Image, cell: tuple[int, int], width: int, height: int) -> list[Layer]:
    """A picture whole in its cell, with a white border and a soft shadow."""
    border = max(2, min(width, height) // 40)
    share = min((width - 2 * border) / image.width, (height - 2 * border) / image.height)
    across, down = max(1, round(image.width * share)), max(1, round(image.height * share))
    left, top = cell[0] + (width - across) // 2, cell[1] + (height - down) // 2
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    spread = border * 4
    framed = across + 2 * border, down + 2 * border
    return [
        Layer(
            flat((0, 0, 0)),
            left - spread,
            top - spread + border,
            across + 2 * spread,
            down + 2 * spread,
            soft_box_mask(80),
        ),
        Layer(flat(WHITE), left - border, top - border, *framed),
        Layer(image.convert("RGB"), left, top, across, down, alpha),
    ]


def _panel(recipe: EditRecipe) -> list[Layer]:
    """The instructions on a white panel above the caption."""
    short = min(recipe.width, recipe.height)
    if short < _SMALLEST_PANEL:
        return []
    size = max(11, short // 32)
    font, margin = font_of_size(size), size
    width = recipe.width - 2 * margin
    lines = wrap(recipe.instructions, font, width - 3 * size, _MOST_LINES)
    height = round(size * 1.35) * len(lines) + size
    panel = Image.new("RGB", (width, height), WHITE)
    panel.paste(mix(color_of_hue(0.6, 0.6, 0.6), INK, 0.4), (0, 0, size // 3, height))
    write(panel, (round(size * 1.3), round(size * 1.2)), lines, font, INK, round(size * 1.35))
    top = recipe.height - height - round(short / 44 * 4) - margin
    return [Layer(panel, margin, top, width, height, rounded_mask(width, height, size // 2, 240))]
