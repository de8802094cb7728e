"""The size of a picture by its AV1 bitstream, of which it reads the sequence header
(section 5.5.1).
"""

from typing import NamedTuple

from image_workflow_emulator.imaging.bits import BitReader

_MAX_UNITS = 1_000
"""Limit of the units in a bitstream; pictures have a few dozen."""
_SEQUENCE_HEADER = 1
"""The type of a unit (OBU)."""
_LEAST_LEVEL_WITH_TIER = 8


class PixelSize(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def area(self) -> int:
        """All pixels."""
        return self.width * self.height


def size_of_bitstream(reader: BitReader) -> PixelSize:
    """Read the size of a picture from the beginning of its bitstream.

    Raises ValueError if no sequence header is where it should be.
    """
    for _ in range(_MAX_UNITS):
        reader.read(1)
        kind = reader.read(4)
        has_extension = reader.read(1)
        has_size = reader.read(1)
        reader.read(1)
        if has_extension:
            reader.read(8)
        length = 0
        if has_size:
            length = _read_variable_number(reader)
        if kind == _SEQUENCE_HEADER:
            return _size_in_header(reader)
        if not has_size:
            break
        reader.read(8 * length)
    raise ValueError("no sequence header")


def _read_variable_number(reader: BitReader) -> int:
    """A number in groups of 7 bits, the least significant first (leb128)."""
    number = 0
    for shift in range(0, 56, 7):
        has_more = reader.read(1)
        number |= reader.read(7) << shift
        if not has_more:
            break
    return number


def _size_in_header(reader: BitReader) -> PixelSize:
    reader.read(4)  # profile and still_picture
    is_reduced = reader.read(1)
    if is_reduced:
        reader.read(5)  # level
    else:
        _skip_operating_points(reader)
    width_bits = reader.read(4) + 1
    height_bits = reader.read(4) + 1
    width = reader.read(width_bits) + 1
    height = reader.read(height_bits) + 1
    return PixelSize(width, height)


def _skip_operating_points(reader: BitReader) -> None:
    """Raises ValueError for timing, which a still picture has not."""
    if reader.read(1):
        raise ValueError("the sequence header has timing")
    has_display_delay = reader.read(1)
    point_count = reader.read(5) + 1
    for _ in range(point_count):
        reader.read(12)  # operating_point_idc
        level = reader.read(5)
        if level >= _LEAST_LEVEL_WITH_TIER:
            reader.read(1)  # tier
        if has_display_delay and reader.read(1):
            reader.read(4)
