"""Card and preview pictures of a Team's own ingredients, made from their source pictures."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import CardRecipe
from emulator.imaging.captions import CARD_LETTERS, Chip, Plaque, with_plaque
from emulator.imaging.composition import new_canvas, paint_all
from emulator.imaging.decoding import load
from emulator.imaging.drawing import chance, cover, opaque, pale_wall, trimmed
from emulator.imaging.layout import Box


def card(recipe: CardRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """One whole source picture, by the recipe's `index`, above its name; the other sources are swatches."""
    enough = max(recipe.width, recipe.height)
    sources = [load(data, enough) for data in inputs]
    main = sources.pop(recipe.index % len(sources))
    if recipe.kind == "background":  # it appears behind subjects, so it has no caption
        return new_canvas((recipe.width, recipe.height), cover(opaque(main), recipe.width / recipe.height))

    def draw(size: tuple[int, int], room: Box) -> Image.Image:
        canvas = new_canvas(size, pale_wall(chance(recipe.name, *recipe.inputs)))
        paint_all(canvas, [trimmed(main)], room)
        return canvas

    swatches = tuple(Chip("", opaque(source)) for source in sources)
    return with_plaque(
        recipe, Plaque(recipe.name, recipe.kind.replace("_", " ").capitalize(), swatches), draw, CARD_LETTERS
    )
