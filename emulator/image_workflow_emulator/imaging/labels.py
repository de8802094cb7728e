"""The parts of a plaque: lines of text, signs on a colour, and chips with a swatch."""

from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.canvas import Canvas, disc
from image_workflow_emulator.imaging.colors import INK, WHITE, Color, mix
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.words import Face

QUIET = mix(INK, WHITE, 0.66)
"""The colour of what is written small."""
_PILL = mix(INK, WHITE, 0.13)
_SWATCH_EDGE = 96
_MARGIN = 0.22
"""Around the text of a sign, as a share of its height."""


def text_line(text: str, face: Face, color: Color) -> Image.Image:
    """One line of text on the colour of a plaque."""
    width = max(1, round(face.length(text)))
    image = Image.new("RGB", (width, face.line_height), INK)
    face.draw(image, x=0, middle=face.line_height / 2, text=text, color=color)
    return image


def sign(text: str, face: Face, height: int, color: Color) -> Image.Image:
    """A few characters on a colour, in white on a dark one."""
    margin = height * _MARGIN
    width = round(face.length(text) + 2 * margin)
    image = _rounded(width=width, height=height, radius=margin, color=color)
    letters = WHITE if max(color) < 128 else INK
    face.draw(image, x=margin, middle=height / 2, text=text, color=letters)
    return image


def chip(
    name: str, face: Face, height: int, swatch: Image.Image | Color
) -> Image.Image:
    """A name on a pill, beside a picture or a colour; without a name, these alone."""
    width = height
    if name:
        width = round(height * (1.2 + _MARGIN) + face.length(name))
    image = _rounded(width=width, height=height, radius=height / 2, color=_PILL)
    if name:
        face.draw(image, x=height * 1.2, middle=height / 2, text=name, color=WHITE)
    place = Box(left=0, top=0, width=height, height=height).inset(height * 0.08)
    Canvas(image).paint(disc(swatch, _SWATCH_EDGE), place)
    return image


def _rounded(width: int, height: int, radius: float, color: Color) -> Image.Image:
    image = Image.new("RGB", (width, height), INK)
    outline = (0, 0, width - 1, height - 1)
    ImageDraw.Draw(image).rounded_rectangle(outline, radius, fill=color)
    return image
