"""Card and preview pictures of a Team's own ingredients, made from their source pictures."""

from collections.abc import Sequence

from PIL import Image

from emulator.domain.recipes import CardRecipe
from emulator.imaging.captions import Plaque, swatch, with_plaque
from emulator.imaging.decoding import load
from emulator.imaging.drawing import chance, new_canvas, opaque, paint_all, pale_wall, trimmed
from emulator.imaging.layout import Box


def card(recipe: CardRecipe, inputs: Sequence[bytes]) -> Image.Image:
    """One whole source picture, by the recipe's `index`, above its name; the other sources are swatches."""
    enough = max(recipe.width, recipe.height)
    sources = [load(data, enough) for data in inputs]
    main = sources.pop(recipe.index % len(sources))
    if recipe.kind == "background":  # it appears behind subjects, so it has no caption
        return new_canvas((recipe.width, recipe.height), opaque(main))

    def draw(size: tuple[int, int], room: Box) -> Image.Image:
        canvas = new_canvas(size, pale_wall(chance(recipe.name, *recipe.inputs)))
        paint_all(canvas, [trimmed(main)], room)
        return canvas

    facts, swatches = recipe.kind.replace("_", " ").capitalize(), [("", swatch(source)) for source in sources]
    return with_plaque(recipe, Plaque(recipe.name, facts, swatches), draw)
