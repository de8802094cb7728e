"""The pixel sizes of pictures. Of generated ones (D35): the longest edge by resolution, the other by the aspect
ratio, to the nearest even number.
"""

from collections.abc import Mapping

MEGAPIXEL = 1_000_000
MAX_UPLOAD_PIXELS = 100 * MEGAPIXEL
"""How many pixels an uploaded image may have (D57)."""

SMALL_PIXELS = 25 * MEGAPIXEL
SMALL_EDGE = 8_192
"""The limits of an uploaded image under D57=small."""

LONGEST_EDGE: Mapping[str, int] = {"1k": 1024, "2k": 2048, "4k": 4096}


def is_above_small_limit(width: int, height: int) -> bool:
    """Tell whether an uploaded image is too large for D57=small."""
    return width * height > SMALL_PIXELS or max(width, height) > SMALL_EDGE


def size_of_ratio(width: int, height: int, resolution: str) -> tuple[int, int]:
    """Return the pixel size that has a resolution's longest edge and the ratio of the two given numbers."""
    longest = LONGEST_EDGE[resolution]
    larger, smaller = max(width, height), min(width, height)
    other = max(2, 2 * ((longest * smaller + larger) // (2 * larger)))
    return (longest, other) if width >= height else (other, longest)


def output_size(aspect_ratio: str, resolution: str, reading: str = "plain") -> tuple[int, int]:
    """Return the pixel size of an output with an aspect ratio such as `4:5`, by the reading of D35."""
    if reading == "megapixels":
        return size_of_area(aspect_ratio, resolution)
    width, height = aspect_ratio.split(":")
    return size_of_ratio(int(width), int(height), resolution)


def reaches(width: int, height: int, resolution: str) -> bool:
    """Tell whether a picture is at or above an Upscale target: its longest edge decides."""
    return max(width, height) >= LONGEST_EDGE[resolution]


_STEP = 64


def size_of_area(aspect_ratio: str, resolution: str) -> tuple[int, int]:
    """Return the pixel size of an output whose area, not its longest edge, follows the resolution (D35=megapixels).

    Both edges are multiples of 64.
    """
    width, height = map(int, aspect_ratio.split(":"))
    edge = LONGEST_EDGE[resolution]
    scale = edge / (width * height) ** 0.5
    return _to_step(width * scale), _to_step(height * scale)


def _to_step(edge: float) -> int:
    return max(_STEP, round(edge / _STEP) * _STEP)
