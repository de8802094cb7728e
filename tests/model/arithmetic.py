"""The model's arithmetic: time as text, waits, prices, packing, pixels.

Written from the specification alone. It must not import anything of the emulator: what
it computes is compared with what the emulator computes.
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

LONGEST_EDGE = {
    "1k": 1024,
    "2k": 2048,
    "4k": 4096,
}  # D35
AUTHORING_PRICE = {
    "photography_style": 0,
    "background": 1,
    "pose": 1,
    "fashion_model": 1,
}
PER_OUTPUT = {
    "1k": 1,
    "2k": 1,
    "4k": 2,
}
PHOTOSHOOT_CHARGES = {
    0: 0,
    1: 1,
    2: 1,
    3: 2,
    4: 2,
}
"""What a photoshoot costs, by its completed outputs (D37)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(instant: int) -> str:
    moment = _EPOCH + timedelta(milliseconds=instant)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def instant_of(text: str) -> int:
    since_epoch = datetime.fromisoformat(text) - _EPOCH
    return since_epoch // timedelta(milliseconds=1)


def seconds_to_wait(wait: int) -> int:
    return max(1, -(-wait // SECOND))


def price_per_output(workflow: str, request: Json) -> int:
    if workflow == "upscale":
        return PER_OUTPUT[request["target_resolution"]]
    return PER_OUTPUT[request["resolution"]]


def is_photoshoot(workflow: str, request: Json) -> bool:
    if workflow != "product_photography":
        return False
    return bool(request["output_mode"] == "photoshoot")


def generation_price(workflow: str, request: Json) -> int:
    """Return what a Generation reserves (section 4, Credit costs)."""
    if is_photoshoot(workflow, request):
        return PHOTOSHOOT_CHARGES[4]
    image_count = int(request.get("image_count", 1))
    return price_per_output(workflow, request) * image_count


def generation_charge(
    workflow: str,
    request: Json,
    completed: int,
) -> int:
    """Return what a Generation costs in the end, by its completed outputs."""
    if is_photoshoot(workflow, request):
        return PHOTOSHOOT_CHARGES[completed]
    return price_per_output(workflow, request) * completed


def subjects(products: list[Json], loose: list[str]) -> list[str]:
    """Return the Assets that a Generation works from (section 4, D32).

    Main photos come first, then loose Assets, then the other views of the Products in
    turn. None is taken twice, and five at most.
    """
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


def size_of(
    width: int,
    height: int,
    resolution: str,
) -> tuple[int, int]:
    """Return the pixels of a picture with the proportions of the two numbers (D35)."""
    longest = LONGEST_EDGE[resolution]
    narrow = min(width, height)
    broad = max(width, height)
    half = Fraction(longest * narrow, 2 * broad)
    rounded_half = int(half + Fraction(1, 2))
    even = max(2, 2 * rounded_half)
    if width >= height:
        return (longest, even)
    return (even, longest)
