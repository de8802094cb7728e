"""Pictures as a photographer would upload them, made by Pillow: a subject in front of a ground, in all five formats."""

import io

import pillow_avif  # noqa: F401 (writes AVIF with every build of Pillow)
from PIL import Image, ImageDraw

EXTENSIONS = {"image/jpeg": "JPEG", "image/png": "PNG", "image/gif": "GIF", "image/webp": "WEBP", "image/avif": "AVIF"}
"""The five accepted media types and Pillow's name of each."""

Colour = tuple[int, int, int]
GROUND: Colour = (236, 236, 232)
SUBJECT: Colour = (200, 40, 60)


def draw(width: int, height: int, subject: Colour | None = SUBJECT, ground: Colour | None = GROUND) -> Image.Image:
    """Draw a subject of one colour on a ground; without a ground it is transparent, without a subject an empty scene."""
    image = Image.new("RGBA", (width, height), (*ground, 255) if ground else (0, 0, 0, 0))
    if subject is None:
        light = Image.linear_gradient("L").resize((width, height))
        image = Image.merge("RGBA", (light, light, light, Image.new("L", (width, height), 255)))
    else:
        box = (width // 4, height // 6, width * 3 // 4, height * 5 // 6)
        ImageDraw.Draw(image).ellipse(box, fill=(*subject, 255))
    return image if ground is None else image.convert("RGB")


def encode(image: Image.Image, content_type: str) -> bytes:
    """Write the picture as a file of a media type."""
    buffer = io.BytesIO()
    image.save(buffer, EXTENSIONS[content_type], quality=90)
    return buffer.getvalue()


def photo(
    content_type: str = "image/jpeg",
    size: tuple[int, int] = (640, 480),
    subject: Colour | None = SUBJECT,
    ground: Colour | None = GROUND,
) -> bytes:
    """Return the file of a sample picture."""
    return encode(draw(*size, subject, ground), content_type)


def decode(data: bytes) -> Image.Image:
    """Read a file whole."""
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def is_uniform(image: Image.Image) -> bool:
    """Tell whether every pixel looks the same."""
    return all(low == high for low, high in _bands(image.convert("RGBA")))


def _bands(image: Image.Image) -> list[tuple[float, float]]:
    return [band.getextrema() for band in image.split()]  # type: ignore[misc]  # each band has one pair
