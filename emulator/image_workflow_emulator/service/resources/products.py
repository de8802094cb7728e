"""The Library's Assets and Products: read, made, changed and deleted synchronously (sections 2 to 4, D22 to D24)."""

from collections.abc import Sequence

from msgspec import Struct, structs

from image_workflow_emulator.domain.problems import Check, invalid_input
from image_workflow_emulator.domain.product_photos import primary_of
from image_workflow_emulator.domain.recipes import Recipe
from image_workflow_emulator.domain.resources import Asset, Product
from image_workflow_emulator.service.resources import work
from image_workflow_emulator.service.resources.lookups import ASSET, PRODUCT, find, refer_to_all
from image_workflow_emulator.service.sandbox.calls import Call, Commit, DecodedUpload
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.store import remove_from_index


class AssetDeletion(Struct, frozen=True):
    """The effect of deleting an Asset on the Products that contained it (section 2)."""

    id: str
    removed_product_memberships: int
    reassigned_primary_product_ids: tuple[str, ...]
    deleted_product_ids: tuple[str, ...]


def add_asset(
    sandbox: Sandbox, team_id: str, picture: DecodedUpload | Recipe, now: int, generation_id: str | None = None
) -> Asset:
    """Make an Asset of a decoded upload, whose bytes fit into memory, or of a picture that is still to be drawn."""
    asset = Asset(
        id=sandbox.identifiers.next("ast"),
        team_id=team_id,
        source="upload" if generation_id is None else "generation",
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


def create_product(call: Call) -> Commit[Product]:
    """Create a Product at once. Raises Problem invalid_reference."""
    intent = call.intent
    refer_to_all(call, ASSET, "/asset_ids", intent["asset_ids"])
    call.passed.append(Check.REFERENCES)

    def commit() -> Product:
        sandbox, now = call.sandbox, call.now
        product = Product(
            id=sandbox.identifiers.next("prd"),
            team_id=call.team_id,
            name=intent["name"],
            asset_ids=_in_order(call, intent["asset_ids"]),
            primary_asset_id=intent["primary_asset_id"],
            created_at=now,
            updated_at=now,
            description=intent.get("description"),
            dimensions=intent.get("dimensions"),
        )
        sandbox.store.products.add(product)
        sandbox.store.index_product(product)
        return product

    return commit


def _in_order(call: Call, asset_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the photos of a Product in the order in which they are kept (D22)."""
    return tuple(sorted(asset_ids) if call.sandbox.readings.photo_order == "unordered" else asset_ids)


def update_product(call: Call) -> Commit[Product]:
    """Change the given fields; asset_ids replace the whole membership set (section 4).

    Raises:
        Problem: product_not_found, invalid_reference, invalid_input.
    """
    product, intent = find(call, PRODUCT), call.intent
    refer_to_all(call, ASSET, "/asset_ids", intent.get("asset_ids", []))
    call.passed.append(Check.REFERENCES)
    asset_ids = _in_order(call, intent.get("asset_ids", product.asset_ids))
    primary = intent.get("primary_asset_id")
    if primary is not None and primary not in asset_ids:
        raise invalid_input("/primary_asset_id", primary, "one of the Product's asset_ids", Check.RULES)  # D22
    call.passed.append(Check.RULES)

    def commit() -> Product:
        changed = structs.replace(
            product,
            name=intent.get("name", product.name),
            description=intent.get("description", product.description),
            dimensions=intent.get("dimensions", product.dimensions),
            asset_ids=asset_ids,
            primary_asset_id=primary or primary_of(asset_ids, product.primary_asset_id),
            updated_at=call.now,
        )
        store = call.sandbox.store
        store.unindex_product(product)
        store.products.replace(changed)
        store.index_product(changed)
        return changed

    return commit


def delete_product(call: Call) -> Commit[None]:
    """Dissolve a Product; its Assets remain (section 3, rule 6). Raises Problem product_not_found."""
    product = find(call, PRODUCT)

    def commit() -> None:
        call.sandbox.store.unindex_product(product)
        call.sandbox.store.products.remove(product)

    return commit


def delete_asset(call: Call) -> Commit[AssetDeletion]:
    """Delete an Asset for good, and take it out of every Product (section 3, rule 5).

    Raises:
        Problem: asset_not_found; resource_operation_in_progress while authoring work uses it as a source (D23).
    """
    asset = find(call, ASSET)
    for operation in work.unfinished_operations(call):
        if asset.id in operation.outcome.source_keys:
            used = f"{asset.id}, a source of the unfinished Operation {operation.id}"
            raise work.operation_in_progress("asset_id", used, operation)
    call.passed.append(Check.STATE)
    return lambda: _delete(call, asset)


def _delete(call: Call, asset: Asset) -> AssetDeletion:
    store = call.sandbox.store
    product_ids = sorted(store.memberships.get(asset.id, {}))
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
        store.products.replace(
            structs.replace(product, asset_ids=remaining, primary_asset_id=primary, updated_at=call.now)
        )
    for product_id in product_ids:
        remove_from_index(store.memberships, asset.id, product_id)
    store.assets.remove(asset)
    call.sandbox.images.withdraw(asset.id)
    return AssetDeletion(asset.id, len(product_ids), tuple(reassigned), tuple(deleted))
