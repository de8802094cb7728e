"""What work costs (section 4, Credit costs): the one table of prices, and how much of a reservation is charged."""

from collections.abc import Mapping
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


def generation_charge(price: int, completed: int, slots: int, reading: str = "plain") -> int:
    """Return the Credits taken at the end of a Generation: only completed outputs are charged (section 4, D37).

    `price` is what its admission reserved, `reading` that of D37.
    """
    if reading == "whole":
        return price if completed else 0
    return price * completed // slots if reading == "down" else -(-price * completed // slots)
