"""The arithmetic of orders (section 4): what work costs, which photos are its subjects,
and the sizes of pictures.

Prices and packing are the one table of Credit costs and the rule of D32. A generated
picture has the longest edge of its resolution, and the other edge by the aspect ratio,
to the nearest even number (D35).
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

AUTHORING_PRICES: Mapping[str, int] = {
    "photography_style": 0,
    "background": 1,  # D30: reserved always, charged only if foreground removal ran
    "pose": 1,
    "fashion_model": 1,
}
"""Credits reserved when an ingredient is created or its sources are replaced."""

PHOTOSHOOT_CREDITS = 2
PHOTOSHOOT_SLOTS = 4
_PER_OUTPUT = {"1k": 1, "2k": 1, "4k": 2}


def generation_price(workflow: str, intent: Mapping[str, Any]) -> int:
    """Return the Credits that a Generation reserves in full before it is admitted."""
    if workflow == "upscale":
        return _PER_OUTPUT[intent["target_resolution"]]
    if workflow == "edit_images":
        return _PER_OUTPUT[intent["resolution"]]
    if intent["output_mode"] == "photoshoot":
        return PHOTOSHOOT_CREDITS
    return _PER_OUTPUT[intent["resolution"]] * int(intent["image_count"])


def generation_charge(
    price: int,
    completed: int,
    slots: int,
    reading: str = "plain",
) -> int:
    """Return the Credits taken at the end of a Generation: only completed outputs are
    charged (section 4, D37).

    `price` is what its admission reserved, `reading` that of D37.
    """
    if not completed:
        return 0
    if reading == "whole":
        return price
    if reading == "down":
        return price * completed // slots
    return -(-price * completed // slots)


PACKED_PHOTOS = 5
"""The most photos that one Generation takes as subjects (section 8)."""


def primary_of(asset_ids: Sequence[str], preferred: str) -> str:
    """Return the primary photo of a Product: the preferred one if it is a member, else
    the first member (D22).
    """
    if preferred in asset_ids:
        return preferred
    return asset_ids[0]


def pack(
    products: Sequence[tuple[str, Sequence[str]]],
    loose_asset_ids: Sequence[str],
) -> tuple[str, ...]:
    """Choose the subjects of a Generation, at most five.

    Args:
        products: for each chosen Product its Primary and all its photos in order.
        loose_asset_ids: the Assets named explicitly.

    Main photos come first, then the explicit Assets, then the remaining views of the
    Products in turn. A photo that is packed already is not packed again and costs its
    Product no turn (D32).
    """
    main_photos = [primary for primary, _ in products]
    packed = dict.fromkeys([*main_photos, *loose_asset_ids])
    queues = [deque(asset_ids) for _, asset_ids in products]
    while len(packed) < PACKED_PHOTOS and any(queues):
        for queue in queues:
            _pack_next(packed, queue)
    return tuple(packed)[:PACKED_PHOTOS]


def _pack_next(packed: dict[str, None], queue: deque[str]) -> None:
    """Pack the first photo of a queue that is not packed yet."""
    while queue:
        asset_id = queue.popleft()
        if asset_id not in packed:
            packed[asset_id] = None
            return


MEGAPIXEL = 1_000_000
MAX_UPLOAD_PIXELS = 100 * MEGAPIXEL
"""How many pixels an uploaded image may have (D57)."""

LONGEST_EDGE: Mapping[str, int] = {"1k": 1024, "2k": 2048, "4k": 4096}


def is_above_small_limit(width: int, height: int) -> bool:
    """Tell whether an uploaded image is too large for D57=small: 25 megapixels, and
    8,192 pixels at an edge.
    """
    return width * height > 25 * MEGAPIXEL or max(width, height) > 8_192


def size_of_ratio(
    width: int,
    height: int,
    resolution: str,
) -> tuple[int, int]:
    """Return the pixel size that has a resolution's longest edge and the ratio of the
    two given numbers.
    """
    longest = LONGEST_EDGE[resolution]
    larger = max(width, height)
    smaller = min(width, height)
    shortest = max(2, 2 * ((longest * smaller + larger) // (2 * larger)))
    if width >= height:
        return longest, shortest
    return shortest, longest


def output_size(
    aspect_ratio: str,
    resolution: str,
    reading: str = "plain",
) -> tuple[int, int]:
    """Return the pixel size of an output with an aspect ratio such as `4:5`, by the
    reading of D35.

    `megapixels`: the area, not the longest edge, follows the resolution, and both edges
    are multiples of 64.
    """
    width, height = map(int, aspect_ratio.split(":"))
    if reading == "plain":
        return size_of_ratio(width, height, resolution)
    steps = LONGEST_EDGE[resolution] / 64 / (width * height) ** 0.5
    return max(1, round(width * steps)) * 64, max(1, round(height * steps)) * 64


def reaches(
    width: int,
    height: int,
    resolution: str,
) -> bool:
    """Tell whether a picture is at or above an Upscale target: its longest edge
    decides.
    """
    return max(width, height) >= LONGEST_EDGE[resolution]
