"""The Library's Assets and Products: read, made, changed and deleted synchronously
(sections 2 to 4, D22 to D24).
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, structs

from image_workflow_emulator.domain.orders import primary_of
from image_workflow_emulator.domain.problems import Check, invalid_input
from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.domain.resources import Asset, Product
from image_workflow_emulator.service.resources import work
from image_workflow_emulator.service.resources.lookups import (
    ASSET,
    PRODUCT,
    found_by_path,
    refer_to_all,
)
from image_workflow_emulator.service.sandbox.calls import Call, DecodedUpload, Handler
from image_workflow_emulator.service.sandbox.sandbox import Sandbox


class AssetDeletion(Struct, frozen=True):
    """The effect of deleting an Asset on the Products that contained it (section 2)."""

    id: str
    removed_product_memberships: int
    reassigned_primary_product_ids: tuple[str, ...]
    deleted_product_ids: tuple[str, ...]


def add_asset(
    sandbox: Sandbox,
    team_id: str,
    picture: DecodedUpload | Recipe,
    now: int,
    generation_id: str | None = None,
) -> Asset:
    """Make an Asset of a decoded upload, whose bytes fit into memory, or of a picture
    that is still to be drawn.
    """
    source: Literal["upload", "generation"] = "upload"
    if generation_id is not None:
        source = "generation"
    asset = Asset(
        id=sandbox.identifiers.next("ast"),
        team_id=team_id,
        source=source,
        source_generation_id=generation_id,
        format=picture.format,
        width=picture.width,
        height=picture.height,
        created_at=now,
    )
    if isinstance(picture, DecodedUpload):
        sandbox.images.put(asset.id, picture.data, picture.scene)
    else:
        sandbox.images.plan(asset.id, picture)
    sandbox.store.assets.add(asset)
    return asset


def _check_photos(call: Call, product: Product | None) -> Product | None:
    asset_ids = call.intent.get("asset_ids", ())
    refer_to_all(call, ASSET, "/asset_ids", asset_ids)
    return product


def _create_product(call: Call, _checked: None) -> Product:
    sandbox = call.sandbox
    fields = dict(call.intent)
    fields["asset_ids"] = _in_order(call, call.intent["asset_ids"])
    product = Product(
        id=sandbox.identifiers.next("prd"),
        team_id=call.team_id,
        created_at=call.now,
        updated_at=call.now,
        **fields,
    )
    sandbox.store.products.add(product)
    return product


def _in_order(call: Call, asset_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the photos of a Product in the order in which they are kept (D22)."""
    if call.sandbox.readings.photo_order == "unordered":
        return tuple(sorted(asset_ids))
    return tuple(asset_ids)


def _check_primary(call: Call, product: Product) -> Product:
    """The chosen primary photo must be one of the Product's (D22)."""
    primary = call.intent.get("primary_asset_id")
    asset_ids = call.intent.get("asset_ids", product.asset_ids)
    if primary is not None and primary not in asset_ids:
        expected = "one of the Product's asset_ids"
        raise invalid_input("/primary_asset_id", primary, expected, Check.RULES)
    return product


def _update_product(call: Call, product: Product) -> Product:
    """Change the given fields; asset_ids replace the whole membership (section 4)."""
    intent = call.intent
    asset_ids = _in_order(call, intent.get("asset_ids", product.asset_ids))
    primary = intent.get("primary_asset_id")
    if not primary:
        primary = primary_of(asset_ids, product.primary_asset_id)
    fields = {**intent, "asset_ids": asset_ids, "primary_asset_id": primary}
    changed = structs.replace(product, updated_at=call.now, **fields)
    call.sandbox.store.products.replace(changed)
    return changed


def _delete_product(call: Call, product: Product) -> None:
    """Dissolve a Product; its Assets remain (section 3, rule 6)."""
    call.sandbox.store.products.remove(product)


def _check_unused(call: Call, asset: Asset) -> Asset:
    """409: no unfinished authoring work has the Asset as a source (D23)."""
    for operation in work.unfinished_operations(call):
        if asset.id in operation.outcome.source_keys:
            used = f"{asset.id} is a source of the unfinished Operation {operation.id}"
            raise work.operation_in_progress("asset_id", used, operation)
    return asset


def _delete_asset(call: Call, asset: Asset) -> AssetDeletion:
    """Delete an Asset, and take it out of every Product (section 3, rule 5)."""
    store = call.sandbox.store
    with_asset = {"asset_ids": asset.id}
    product_ids = list(store.products.ids(asset.team_id, with_asset))
    reassigned: list[str] = []
    deleted: list[str] = []
    for product_id in product_ids:
        product = store.products.items[product_id]
        remaining = tuple(member for member in product.asset_ids if member != asset.id)
        if not remaining:
            store.products.remove(product)
            deleted.append(product_id)
            continue
        primary = primary_of(remaining, product.primary_asset_id)
        if primary != product.primary_asset_id:
            reassigned.append(product_id)
        changed = structs.replace(
            product,
            asset_ids=remaining,
            primary_asset_id=primary,
            updated_at=call.now,
        )
        store.products.replace(changed)
    store.assets.remove(asset)
    call.sandbox.images.withdraw([asset.id])
    return AssetDeletion(
        id=asset.id,
        removed_product_memberships=len(product_ids),
        reassigned_primary_product_ids=tuple(reassigned),
        deleted_product_ids=tuple(deleted),
    )


CREATE_PRODUCT = Handler(
    checks=((Check.REFERENCES, _check_photos),),
    commit=_create_product,
)
UPDATE_PRODUCT = Handler(
    checks=(
        found_by_path(PRODUCT),
        (Check.REFERENCES, _check_photos),
        (Check.RULES, _check_primary),
    ),
    commit=_update_product,
)
DELETE_PRODUCT = Handler(checks=(found_by_path(PRODUCT),), commit=_delete_product)
DELETE_ASSET = Handler(
    checks=(found_by_path(ASSET), (Check.STATE, _check_unused)),
    commit=_delete_asset,
)
