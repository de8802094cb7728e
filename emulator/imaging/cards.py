"""Card and preview pictures of a Team's own ingredients, made from their source pictures."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import CardRecipe
from emulator.imaging.captions import CARD_LETTERS, Chip, Plaque, captioned
from emulator.imaging.composition import compose, framed
from emulator.imaging.decoding import load
from emulator.imaging.drawing import chance, cover, opaque, pale_wall, trimmed
from emulator.imaging.layout import arrange


def card(recipe: CardRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """One whole source picture, by the recipe's `index`, above its name; the other sources are swatches."""
    enough = max(recipe.width, recipe.height)
    sources = [load(data, enough) for data in inputs]
    main = sources.pop(recipe.index % len(sources))
    if recipe.kind == "background":  # it appears behind subjects, so it has no caption
        ground = cover(opaque(main), recipe.width / recipe.height)
        return compose(recipe.width, recipe.height, ground, ())
    swatches = tuple(Chip("", opaque(source)) for source in sources)
    plaque = Plaque(recipe.name, recipe.kind.replace("_", " ").capitalize(), chips=swatches)
    room, words = captioned(recipe.width, recipe.height, plaque, CARD_LETTERS)
    main = trimmed(main)
    [box] = arrange([main.width / main.height], room, 0)
    ground = pale_wall(chance(recipe.name, *recipe.inputs))
    return compose(recipe.width, recipe.height, ground, (*framed(main, box, recipe.width / 64), *words))
