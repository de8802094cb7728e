"""The model's arithmetic: time as text, waits, prices, packing, pixels. Written from the specification, for itself
alone.

Must not import anything of the emulator: what it computes is held against what the emulator computes.
"""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

Json = dict[str, Any]

SECOND = 1000
MINUTE = 60 * SECOND
DAY = 24 * 60 * MINUTE

UPLOAD_WINDOW = 15 * MINUTE  # D15
KEY_RETENTION = DAY  # D12

QUEUE = 1 * SECOND
AUTHORING_TIME = {
    "photography_style": 3 * SECOND,
    "background": 4 * SECOND,
    "pose": 4 * SECOND,
    "fashion_model": 6 * SECOND,
}
FIRST_OUTPUT = 5 * SECOND
NEXT_OUTPUT = 2 * SECOND
"""The timings of the built-in world."""

LONGEST_EDGE = {"1k": 1024, "2k": 2048, "4k": 4096}  # D35
AUTHORING_PRICE = {
    "photography_style": 0,
    "background": 1,
    "pose": 1,
    "fashion_model": 1,
}
PER_OUTPUT = {"1k": 1, "2k": 1, "4k": 2}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(instant: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=instant)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def instant_of(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)


def seconds_to_wait(wait: int) -> int:
    return max(1, -(-wait // SECOND))


def generation_price(workflow: str, request: Json) -> int:
    """Return what a Generation reserves (section 4, Credit costs)."""
    if workflow == "upscale":
        return PER_OUTPUT[request["target_resolution"]]
    if workflow == "edit_images":
        return PER_OUTPUT[request["resolution"]]
    if request["output_mode"] == "photoshoot":
        return 2
    return PER_OUTPUT[request["resolution"]] * int(request["image_count"])


def generation_charge(workflow: str, request: Json, completed: int) -> int:
    """Return what a Generation costs in the end: its completed outputs (a photoshoot's by D37)."""
    if workflow == "product_photography" and request["output_mode"] == "photoshoot":
        return {0: 0, 1: 1, 2: 1, 3: 2, 4: 2}[completed]
    return (
        completed
        * PER_OUTPUT[request.get("resolution") or request["target_resolution"]]
    )


def subjects(products: list[Json], loose: list[str]) -> list[str]:
    """Pack main photos, then loose Assets, then the other views in turn; none twice, five at most (section 4, D32)."""
    chosen: list[str] = []

    def take(asset_id: str) -> bool:
        if asset_id in chosen:
            return False
        chosen.append(asset_id)
        return True

    for product in products:
        take(product["primary_asset_id"])
    for asset_id in loose:
        take(asset_id)
    views = [list(product["asset_ids"]) for product in products]
    while any(views):
        for view in views:
            while view and not take(view.pop(0)):
                pass
    return chosen[:5]


def size_of(width: int, height: int, resolution: str) -> tuple[int, int]:
    """Return the pixels of a picture with the proportions of the two numbers (D35)."""
    longest = LONGEST_EDGE[resolution]
    other = Fraction(longest * min(width, height), max(width, height))
    even = max(2, int(other / 2 + Fraction(1, 2)) * 2)
    return (longest, even) if width >= height else (even, longest)
