"""An Upscale output: its input, resampled."""

from PIL import Image

from emulator.domain.recipes import UpscaleRecipe
from emulator.imaging.decoding import load
from emulator.imaging.encoding import Picture


def upscale(recipe: UpscaleRecipe, data: bytes) -> Picture:
    """The input at the recipe's size, band by band; transparency is kept (jpeg is flattened by its encoder)."""
    image = load(data)
    is_transparent = image.mode == "RGBA"
    if is_transparent:
        image = image.convert("RGBa")  # colours weighed by alpha, or edges would show what is hidden

    def band(top: int, bottom: int) -> Image.Image:
        down = image.height / recipe.height
        box = (0, top * down, image.width, min(image.height, bottom * down))
        stretched = image.resize((recipe.width, bottom - top), Image.Resampling.BICUBIC, box)
        return stretched.convert("RGBA") if is_transparent else stretched

    return Picture(recipe.width, recipe.height, "RGBA" if is_transparent else "RGB", band)
