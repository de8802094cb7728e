"""The parts of a plaque: lines of text, signs on a colour, and chips with a swatch."""

from PIL import Image, ImageDraw

from image_workflow_emulator.imaging.canvas import Canvas, disc
from image_workflow_emulator.imaging.colors import INK, WHITE, Color, mix
from image_workflow_emulator.imaging.geometry import Box
from image_workflow_emulator.imaging.pictures import Picture
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


def blank(width: int, height: int) -> Picture:
    """A part of a plaque on which nothing is written."""
    return Image.new("RGB", (width, height), INK)


def text_line(
    text: str,
    face: Face,
    color: Color,
) -> Picture:
    """One line of text."""
    width = max(1, round(face.length(text)))
    line = blank(width, face.line_height)
    _write(line, text, face, color)
    return line


def sign(
    text: str,
    face: Face,
    height: int,
    color: Color,
) -> Picture:
    """A few characters on a colour, in white on a dark one."""
    margin = height * _TEXT_MARGIN
    width = round(face.length(text) + 2 * margin)
    board = _rounded(width, height, radius=margin, color=color)
    letters = INK
    if max(color) < _DARK:
        letters = WHITE
    _write(board, text, face, letters, left=margin)
    return board


def chip(
    name: str,
    face: Face,
    height: int,
    swatch: Picture | Color,
) -> Picture:
    """A name on a pill, beside a picture or a colour; without a name, these alone."""
    left = height * _NAME_LEFT
    width = height
    if name:
        end = left + face.length(name)
        width = round(end + height * _TEXT_MARGIN)
    pill = _rounded(width, height, radius=height / 2, color=_PILL)
    if name:
        _write(pill, name, face, WHITE, left=left)
    square = Box.of_size(height, height)
    place = square.inset(height * _SWATCH_MARGIN)
    round_swatch = disc(swatch, _SWATCH_EDGE)
    Canvas(pill).paint(round_swatch, place)
    return pill


def _write(
    board: Picture,
    text: str,
    face: Face,
    color: Color,
    left: float = 0,
) -> None:
    """Write a line half-way down a board."""
    face.draw(
        board,
        x=left,
        middle=board.height / 2,
        text=text,
        color=color,
    )


def _rounded(
    width: int,
    height: int,
    radius: float,
    color: Color,
) -> Picture:
    """A board with round corners."""
    board = blank(width, height)
    outline = (0, 0, width - 1, height - 1)
    pen = ImageDraw.Draw(board)
    pen.rounded_rectangle(outline, radius, fill=color)
    return board
