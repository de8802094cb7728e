"""The parts of a plaque: lines of text, signs on a colour, and chips with a swatch."""

from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.canvas import Canvas, disc
from image_workflow_emulator.imaging.colors import INK, WHITE, Color, mix
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.pictures import Picture, Size
from image_workflow_emulator.imaging.words import Face

QUIET = mix(INK, WHITE, 0.66)
"""The colour of what is written small."""
_PILL = mix(INK, WHITE, 0.13)
_SWATCH_EDGE = 96
_DARK = 128
"""Levels; on a colour with fewer in each channel, letters are white."""

_TEXT_MARGIN = 0.22
_SWATCH_MARGIN = 0.08
_NAME_LEFT = 1.2
"""Shares of the height: the margins around text and swatch, and where the name on a
chip begins.
"""


def text_line(text: str, face: Face, color: Color) -> Picture:
    """One line of text on the colour of a plaque."""
    width = max(1, round(face.length(text)))
    line = Image.new("RGB", (width, face.line_height), INK)
    _write(line, text, face, color)
    return line


def sign(text: str, face: Face, height: int, color: Color) -> Picture:
    """A few characters on a colour, in white on a dark one."""
    margin = height * _TEXT_MARGIN
    width = round(face.length(text) + 2 * margin)
    board = _rounded((width, height), margin, color)
    letters = INK
    if max(color) < _DARK:
        letters = WHITE
    _write(board, text, face, letters, left=margin)
    return board


def chip(name: str, face: Face, height: int, swatch: Picture | Color) -> Picture:
    """A name on a pill, beside a picture or a colour; without a name, these alone."""
    left = height * _NAME_LEFT
    width = height
    if name:
        end = left + face.length(name)
        width = round(end + height * _TEXT_MARGIN)
    pill = _rounded((width, height), height / 2, _PILL)
    if name:
        _write(pill, name, face, WHITE, left=left)
    square = Box.of_size(height, height)
    place = square.inset(height * _SWATCH_MARGIN)
    Canvas(pill).paint(disc(swatch, _SWATCH_EDGE), place)
    return pill


def _write(
    board: Picture,
    text: str,
    face: Face,
    color: Color,
    left: float = 0,
) -> None:
    """Write a line half-way down a board."""
    middle = board.height / 2
    face.draw(board, x=left, middle=middle, text=text, color=color)


def _rounded(size: Size, radius: float, color: Color) -> Picture:
    """A board with round corners."""
    board = Image.new("RGB", size, INK)
    outline = (0, 0, board.width - 1, board.height - 1)
    pen = ImageDraw.Draw(board)
    pen.rounded_rectangle(outline, radius, fill=color)
    return board
