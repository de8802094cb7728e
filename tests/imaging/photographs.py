"""Photographs for the tests, and the inputs that they have."""

from PIL import Image, ImageDraw

from image_workflow_emulator.domain.recipes import (
    IngredientKind,
    PhotographRecipe,
    PremadeRecipe,
)
from image_workflow_emulator.imaging.colors import Color
from image_workflow_emulator.imaging.render import render
from tests.imaging.pictures import WHITE, checkered, encoded, product
from tests.support.pictures import decode

EDGE = 480
RED: Color = (220, 20, 20)


def photograph(*inputs: bytes, **fields: object) -> Image.Image:
    """A photograph with one subject on white, decoded; `fields` are those of its
    recipe.
    """
    recipe_fields: dict[str, object] = {
        "width": EDGE,
        "height": EDGE,
        "format": "png",
        "subject_count": 1,
        "inputs": tuple(f"key {number}" for number in range(len(inputs))),
    }
    if "background_kind" not in fields:
        recipe_fields["background_kind"] = "color"
        recipe_fields["background_hex"] = "#ffffff"
    recipe_fields |= fields
    recipe = PhotographRecipe(**recipe_fields)  # type: ignore[arg-type]
    output = render(recipe, list(inputs))
    return decode(output)


def scene_of(image: Image.Image) -> Image.Image:
    """The part of a square photograph that no plaque covers."""
    return image.crop((0, 0, image.width, image.height * 2 // 3))


def premade(
    kind: IngredientKind,
    name: str,
    *attributes: str,
) -> bytes:
    recipe = PremadeRecipe(
        width=512,
        height=640,
        format="png",
        kind=kind,
        name=name,
        attributes=attributes,
    )
    return render(recipe, [])


# Uploads ------------------------------------------------------------------------------


def print_file(
    color: Color,
    width: int = 90,
    height: int = 120,
) -> bytes:
    """A picture of one colour, from which nothing can be cut out."""
    image = Image.new("RGB", (width, height), color)
    return encoded(image, "PNG")


def cut_out_file(color: Color) -> bytes:
    """A thing of one colour before nothing."""
    image = Image.new("RGBA", (200, 200))
    image.paste((*color, 255), (80, 20, 120, 180))
    return encoded(image, "PNG")


def plain_file(color: Color = RED, ground: Color = WHITE) -> bytes:
    """A thing of one colour before a plain ground."""
    return encoded(product(color, ground), "PNG")


def busy_file(color: Color) -> bytes:
    """A thing of one colour before a texture."""
    thing = product(color)
    texture = checkered(thing.width)
    mask = product((255, 255, 255), (0, 0, 0)).convert("L")
    image = Image.composite(thing, texture, mask)
    return encoded(image, "PNG")


def ring_file(
    color: Color,
    ground: Color,
    inside: Color,
) -> bytes:
    """A ring before a plain ground, with something in its hole."""
    ring = (40, 40, 200, 200)
    hole = (80, 80, 160, 160)
    middle = (112, 112, 128, 128)
    image = Image.new("RGB", (240, 240), ground)
    draw = ImageDraw.Draw(image)
    draw.ellipse(ring, fill=color)
    draw.ellipse(hole, fill=ground)
    draw.rectangle(middle, fill=inside)
    return encoded(image, "PNG")


def bricks_file(color: Color, ground: Color) -> bytes:
    """Many small things before a plain ground, which reaches the border."""
    image = Image.new("RGB", (480, 480), ground)
    draw = ImageDraw.Draw(image)
    for top in range(30, 440, 24):
        for left in range(30, 430, 40):
            brick = (left, top, left + 31, top + 17)
            draw.rectangle(brick, fill=color)
    return encoded(image, "PNG")


def shirt_file(color: Color) -> bytes:
    """A shirt with sleeves, cut out."""
    sleeves = (0, 20, 239, 90)
    body = (60, 20, 179, 239)
    image = Image.new("RGBA", (240, 240))
    draw = ImageDraw.Draw(image)
    draw.rectangle(sleeves, fill=(*color, 255))
    draw.rectangle(body, fill=(*color, 255))
    return encoded(image, "PNG")
