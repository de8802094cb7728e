"""Card and preview pictures of a Team's own ingredients, made from their source pictures."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import CardRecipe
from emulator.imaging.captions import label
from emulator.imaging.composition import Composition, Layer
from emulator.imaging.decoding import load
from emulator.imaging.drawing import BLACK, WHITE, Dice, color_of_hue, cover, flat, gradient_column, mix, soft_box_mask
from emulator.imaging.premade import figure_layers, stance_of


def card(recipe: CardRecipe, inputs: Sequence[bytes]) -> Composition:
    """The card of an ingredient of the recipe's kind; `index` tells the previews of a Photography Style apart."""
    enough = max(recipe.width, recipe.height)
    sources = [load(data, enough).convert("RGB") for data in inputs]
    main = sources[recipe.index % len(sources)]
    if recipe.kind == "pose":
        return _pose(recipe, main)
    ground = cover(main, recipe.width, recipe.height)
    if recipe.kind == "background":  # it will stand behind subjects: no words in it
        return Composition(recipe.width, recipe.height, ground, ())
    layers = _palette(main, recipe) if recipe.kind == "photography_style" else _strip(sources[1:], recipe)
    return Composition(recipe.width, recipe.height, ground, (*layers, *label(recipe.name, recipe.width, recipe.height)))


def _palette(source: Image.Image, recipe: CardRecipe) -> list[Layer]:
    """The style's colours, as swatches down the right edge."""
    edge = max(1, min(recipe.width, recipe.height) // 11)
    areas = source.resize((2, 3), Image.Resampling.BOX)
    layers: list[Layer] = []
    for number in range(3):
        left, top = recipe.width - 2 * edge, edge + number * round(edge * 1.2)
        layers.append(Layer(flat(WHITE), left - edge // 10, top - edge // 10, edge + edge // 5, edge + edge // 5))
        layers.append(Layer(areas.crop((number % 2, number, number % 2 + 1, number + 1)), left, top, edge, edge))
    return layers


def _strip(sources: Sequence[Image.Image], recipe: CardRecipe) -> list[Layer]:
    """The further sources, small, along the upper edge."""
    edge = max(1, min(recipe.width, recipe.height) // 6)
    gap = max(1, edge // 6)
    layers: list[Layer] = []
    for number, source in enumerate(sources):
        left = recipe.width - (number + 1) * (edge + gap)
        layers.append(Layer(flat(WHITE), left - gap // 4, gap - gap // 4, edge + gap // 2, edge + gap // 2))
        layers.append(Layer(cover(source, 1, 1), left, gap, edge, edge))
    return layers


def _pose(recipe: CardRecipe, source: Image.Image) -> Composition:
    """A mannequin in a stance, beside the source it was taken from."""
    hue = Dice("card", recipe.name, *recipe.inputs).throw()
    wall, floor = color_of_hue(hue, 0.08, 0.95), color_of_hue(hue, 0.13, 0.86)
    ground = gradient_column(
        ((0.0, wall), (0.79, mix(wall, WHITE, 0.5)), (0.80, floor), (1.0, mix(floor, BLACK, 0.06)))
    )
    width, height = max(1, round(recipe.width * 0.34)), max(1, round(recipe.height * 0.34))
    left, top = round(recipe.width * 0.06), round(recipe.height * 0.06)
    border = max(1, width // 24)
    variant = round(Dice("stance", recipe.name, *recipe.inputs).throw() * 255)
    layers = [
        Layer(flat(BLACK), left - 2 * border, top - border, width + 5 * border, height + 5 * border, soft_box_mask(80)),
        Layer(flat(WHITE), left - border, top - border, width + 2 * border, height + 2 * border),
        Layer(cover(source, width, height), left, top, width, height),
        *figure_layers(
            stance_of(recipe.name, variant),
            (
                round(recipe.width * 0.62),
                round(recipe.height * 0.91),
                round(min(recipe.height * 0.82, recipe.width * 1.5)),
            ),
        ),
        *label(recipe.name, recipe.width, recipe.height),
    ]
    return Composition(recipe.width, recipe.height, ground, tuple(layers))
