"""Assets, Products and ingredients."""

import struct
import zlib

from emulator.domain.recipes import LONGEST_EDGE_LIMIT
from emulator.domain.resources import Asset, Product
from emulator.imaging.containers import BrokenFile, contents_of
from emulator.service.authoring import AUTHORING
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import Row, check_assets, check_pictures, expect, owned

MOST_PIXELS = 100_000_000
"""The most pixels of an Asset (D57)."""


def check_library(sandbox: Sandbox) -> None:
    """Check Assets, Products and ingredients, and enter the members of Products. Raises StateError."""
    store, now = sandbox.store, sandbox.clock.now()
    for asset in owned(sandbox, "assets", "ast", store.assets):
        _check_asset(sandbox, asset)
    for product in owned(sandbox, "products", "prd", store.products):
        _check_product(sandbox, product)
        store.index_product(product.item)
    for kind, ingredients in store.ingredients.items():
        for row in owned(sandbox, f"{kind}s", AUTHORING[kind].resource.prefix, ingredients):
            row.expect(max(row.item.created_at, row.item.updated_at) <= now, "updated_at", "the past")
            check_pictures(sandbox, row.where, row.item.picture_keys)


def _check_asset(sandbox: Sandbox, row: Row[Asset]) -> None:
    asset = row.item
    edges = (asset.width, asset.height)
    is_size = min(edges) >= 1 and max(edges) <= LONGEST_EDGE_LIMIT and asset.width * asset.height <= MOST_PIXELS
    row.expect(is_size, "width", "a size in pixels")
    generation = sandbox.store.generations.items.get(asset.source_generation_id or "")
    is_output = generation is not None and any(output.asset_id == asset.id for output in generation.outputs)
    is_from_source = is_output if asset.source == "generation" else asset.source_generation_id is None
    row.expect(is_from_source, "source_generation_id", "the Generation it comes from")
    check_pictures(sandbox, row.where, [asset.id])
    picture = sandbox.images.pictures[asset.id]
    if picture.recipe is not None:
        is_fit = (picture.recipe.width, picture.recipe.height) == edges and picture.recipe.format == asset.format
    else:
        is_fit = _size_of(picture.data or b"", asset.format) == edges
    expect(is_fit, row.where, asset.id, f"a picture that is {asset.format} of {asset.width} x {asset.height} pixels")


def _size_of(data: bytes, picture_format: str) -> tuple[int, int] | None:
    try:
        contents = contents_of(data, picture_format)
    except (BrokenFile, struct.error, IndexError, zlib.error):
        return None
    return (contents.width, contents.height) if contents else None


def _check_product(sandbox: Sandbox, row: Row[Product]) -> None:
    members = row.item.asset_ids
    row.expect(members and len(set(members)) == len(members), "asset_ids", "some, none of them twice")
    check_assets(sandbox, f"{row.where}/asset_ids", row.item.team_id, members)
    row.expect(row.item.primary_asset_id in members, "primary_asset_id", "a member")
