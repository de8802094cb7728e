"""Product Photos: which one is primary, and which are packed as the subjects of a Generation (sections 2 and 4)."""

from collections.abc import Sequence

PACKED_PHOTOS = 5
"""The most photos that one Generation takes as subjects (section 8)."""


def primary_of(asset_ids: Sequence[str], preferred: str) -> str:
    """Return the primary photo of a Product: the preferred one if it is a member, else the first member (D22)."""
    return preferred if preferred in asset_ids else asset_ids[0]


def pack(products: Sequence[tuple[str, Sequence[str]]], loose_asset_ids: Sequence[str]) -> tuple[str, ...]:
    """Choose the subjects of a Generation, at most five.

    Args:
        products: for each chosen Product its Primary and all its photos in order.
        loose_asset_ids: the Assets named explicitly.

    Main photos come first, then the explicit Assets, then the remaining views of the Products in turn. A photo that is
    packed already is not packed again and costs its Product no turn (D32).
    """
    packed = dict.fromkeys([primary for primary, _ in products] + list(loose_asset_ids))
    queues = [[asset_id for asset_id in asset_ids if asset_id not in packed] for _, asset_ids in products]
    while len(packed) < PACKED_PHOTOS and any(queues):
        for queue in queues:
            while queue:
                asset_id = queue.pop(0)
                if asset_id not in packed:
                    packed[asset_id] = None
                    break
    return tuple(packed)[:PACKED_PHOTOS]
