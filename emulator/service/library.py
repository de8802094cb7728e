"""The Library's own acts: Assets and Products, made, read, changed and deleted synchronously (sections 2 to 4, D22 to D24)."""

import dataclasses
from dataclasses import dataclass

from emulator.domain.intents import Intent
from emulator.domain.problems import Check, Problem, excerpt, invalid_input, invalid_reference
from emulator.domain.product_photos import primary_of
from emulator.domain.resources import Asset, Product
from emulator.service import work
from emulator.service.accounts import Caller
from emulator.service.store import remove_from_index


@dataclass(frozen=True, slots=True)
class AssetDeletion:
    """What the deletion of an Asset did to the Products that had it (section 2)."""

    id: str
    removed_product_memberships: int
    reassigned_primary_product_ids: tuple[str, ...]
    deleted_product_ids: tuple[str, ...]


def get_asset(caller: Caller, asset_id: str) -> Asset:
    """Return an Asset of the Team. Raises Problem asset_not_found."""
    asset = caller.sandbox.store.assets.visible(caller.team_id, asset_id)
    if asset is None:
        raise Problem(
            "asset_not_found",
            f"asset_id: found {excerpt(asset_id)}; expected a live Asset of this Team",
            remedy=remedy_for_asset(caller, asset_id),
        )
    return asset


def get_product(caller: Caller, product_id: str) -> Product:
    """Return a Product of the Team. Raises Problem product_not_found."""
    product = caller.sandbox.store.products.visible(caller.team_id, product_id)
    if product is None:
        raise Problem(
            "product_not_found",
            f"product_id: found {excerpt(product_id)}; expected a Product of this Team",
            remedy=remedy_for_product(caller, product_id),
        )
    return product


def remedy_for_asset(caller: Caller, asset_id: str) -> str:
    """Say what to do about an Asset that is absent to the Team."""
    item = caller.sandbox.store.assets.items.get(asset_id)
    return caller.remedy_for_absent(item, "use the id of an Asset that GET /assets lists")


def remedy_for_product(caller: Caller, product_id: str) -> str:
    """Say what to do about a Product that is absent to the Team."""
    item = caller.sandbox.store.products.items.get(product_id)
    return caller.remedy_for_absent(item, "use the id of a Product that GET /products lists")


def check_assets(caller: Caller, where: str, asset_ids: list[str]) -> None:
    """Let a body refer only to live Assets of the Team. Raises Problem invalid_reference."""
    assets = caller.sandbox.store.assets
    for index, asset_id in enumerate(asset_ids):
        if assets.visible(caller.team_id, asset_id) is None:
            remedy = remedy_for_asset(caller, asset_id)
            raise invalid_reference(f"{where}/{index}", asset_id, "a live Asset of this Team", remedy)


def create_product(caller: Caller, intent: Intent, now: int) -> Product:
    """Make a Product at once. Raises Problem invalid_reference."""
    check_assets(caller, "/asset_ids", intent["asset_ids"])
    caller.before_commit()
    sandbox = caller.sandbox
    product = Product(
        id=sandbox.identifiers.next("prd"),
        team_id=caller.team_id,
        name=intent["name"],
        asset_ids=tuple(intent["asset_ids"]),
        primary_asset_id=intent["primary_asset_id"],
        created_at=now,
        updated_at=now,
        description=intent.get("description"),
        dimensions=intent.get("dimensions"),
    )
    sandbox.store.products.add(product)
    sandbox.store.index_product(product)
    return product


def update_product(caller: Caller, product_id: str, intent: Intent, now: int) -> Product:
    """Change the given fields; asset_ids replace the whole membership set (section 4).

    Raises:
        Problem: product_not_found, invalid_reference, invalid_input.
    """
    product = get_product(caller, product_id)
    check_assets(caller, "/asset_ids", intent.get("asset_ids", []))
    asset_ids = tuple(intent.get("asset_ids", product.asset_ids))
    primary = intent.get("primary_asset_id")
    if primary is not None and primary not in asset_ids:
        remedy = f"let /primary_asset_id be {asset_ids[0]}, or add {excerpt(primary)} to /asset_ids"
        raise invalid_input("/primary_asset_id", primary, "one of the Product's asset_ids", Check.RULES, remedy)  # D22
    caller.before_commit()
    changed = dataclasses.replace(
        product,
        name=intent.get("name", product.name),
        description=intent.get("description", product.description),
        dimensions=intent.get("dimensions", product.dimensions),
        asset_ids=asset_ids,
        primary_asset_id=primary or primary_of(asset_ids, product.primary_asset_id),
        updated_at=now,
    )
    store = caller.sandbox.store
    store.unindex_product(product)
    store.products.replace(changed)
    store.index_product(changed)
    return changed


def delete_product(caller: Caller, product_id: str) -> None:
    """Dissolve a Product; its Assets remain (section 3, rule 6). Raises Problem product_not_found."""
    product = get_product(caller, product_id)
    caller.before_commit()
    caller.sandbox.store.unindex_product(product)
    caller.sandbox.store.products.remove(product)


def delete_asset(caller: Caller, asset_id: str, now: int) -> AssetDeletion:
    """Delete an Asset for good, and take it out of every Product (section 3, rule 5).

    Raises:
        Problem: asset_not_found; resource_operation_in_progress while authoring work uses it as a source (D23).
    """
    asset = get_asset(caller, asset_id)
    store = caller.sandbox.store
    for operation_id in store.operations_on_source.get(asset_id, ()):
        raise Problem(
            "resource_operation_in_progress",
            f"asset_id: found {asset_id}, a source of the unfinished Operation {operation_id}; expected it to be finished",
            active_operation_id=operation_id,
            remedy=work.remedy_for_work(store.operations.items[operation_id]),
        )
    caller.before_commit()
    product_ids = sorted(store.memberships.get(asset_id, {}))
    reassigned: list[str] = []
    deleted: list[str] = []
    for product_id in product_ids:
        product = store.products.items[product_id]
        remaining = tuple(member for member in product.asset_ids if member != asset_id)
        if not remaining:
            store.products.remove(product)
            deleted.append(product_id)
            continue
        primary = primary_of(remaining, product.primary_asset_id)
        if primary != product.primary_asset_id:
            reassigned.append(product_id)
        store.products.replace(
            dataclasses.replace(product, asset_ids=remaining, primary_asset_id=primary, updated_at=now)
        )
    for product_id in product_ids:
        remove_from_index(store.memberships, asset_id, product_id)
    store.assets.remove(asset)
    caller.sandbox.images.withdraw(asset_id)
    return AssetDeletion(asset_id, len(product_ids), tuple(reassigned), tuple(deleted))
