"""The resources of one sandbox, with the indexes that keep each question's cost flat as they grow.

Owns membership and order only; callers decide what may be stored.
"""

from bisect import bisect_left, insort
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from image_workflow_emulator.domain.resources import (
    INGREDIENT_KINDS,
    AnyResource,
    Asset,
    Generation,
    Ingredient,
    Operation,
    Product,
    UploadSession,
)

NO_FILTERS: Final[Mapping[str, str]] = MappingProxyType({})


Resource = TypeVar("Resource", bound=AnyResource)


@dataclass(slots=True, eq=False)
class Collection(Generic[Resource]):
    """The resources of one kind, each Team's in the order of creation.

    `filters` are the attributes by which a list can be filtered: an index keeps a filter that few meet as fast as any.
    """

    filters: tuple[str, ...] = ()
    items: dict[str, Resource] = field(default_factory=dict, init=False)
    ids_by_team: dict[str | None, list[str]] = field(default_factory=dict, init=False)
    shown: dict[Hashable, Any] = field(default_factory=dict, init=False)
    """By what was asked, the pages that were shown; empty once anything has changed."""
    _ids_by_value: dict[tuple[str | None, str, Any], list[str]] = field(default_factory=dict, init=False)
    """By Team, attribute and value: the ascending ids of the resources that have it."""

    def add(self, resource: Resource) -> None:
        """Add a new resource; identifiers increase, so it is its Team's last."""
        self.shown.clear()
        self.items[resource.id] = resource
        self.ids_by_team.setdefault(resource.team_id, []).append(resource.id)
        for name in self.filters:
            self._ids_by_value.setdefault((resource.team_id, name, getattr(resource, name)), []).append(resource.id)

    def replace(self, resource: Resource) -> None:
        """Put a changed resource in its old one's place."""
        self.shown.clear()
        old, self.items[resource.id] = self.items[resource.id], resource
        for name in self.filters:
            value = getattr(resource, name)
            if value != getattr(old, name):
                self._unindex(old, name)
                insort(self._ids_by_value.setdefault((resource.team_id, name, value), []), resource.id)

    def remove(self, resource: Resource) -> None:
        """Remove a resource for good."""
        self.shown.clear()
        del self.items[resource.id]
        _remove_sorted(self.ids_by_team[resource.team_id], resource.id)
        for name in self.filters:
            self._unindex(resource, name)

    def _unindex(self, resource: Resource, name: str) -> None:
        key = resource.team_id, name, getattr(resource, name)
        ids = self._ids_by_value[key]
        _remove_sorted(ids, resource.id)
        if not ids:
            del self._ids_by_value[key]

    def visible(self, team_id: str, identifier: str) -> Resource | None:
        """Return the resource if it is the Team's or global; another Team's is as absent (section 5, rule 6)."""
        resource = self.items.get(identifier)
        return resource if resource is not None and resource.team_id in (team_id, None) else None

    def ids(self, team_id: str | None, values: Mapping[str, str] = NO_FILTERS) -> Sequence[str]:
        """Return the ascending ids of a Team's resources that have all these values; of the global ones for None."""
        if not values:
            return self.ids_by_team.get(team_id, [])
        found = [self._ids_by_value.get((team_id, name, value), []) for name, value in values.items()]
        ids, *others = sorted(found, key=len)
        for other in map(frozenset, others):
            ids = [identifier for identifier in ids if identifier in other]
        return ids


@dataclass(slots=True, eq=False, weakref_slot=True)
class Store:
    """All resources of a sandbox."""

    uploads: Collection[UploadSession] = field(default_factory=Collection)
    assets: Collection[Asset] = field(default_factory=lambda: Collection(("source",)))
    products: Collection[Product] = field(default_factory=Collection)
    ingredients: dict[str, Collection[Ingredient]] = field(
        default_factory=lambda: {kind: Collection() for kind in INGREDIENT_KINDS}
    )
    operations: Collection[Operation] = field(default_factory=lambda: Collection(("status", "type", "target_id")))
    generations: Collection[Generation] = field(default_factory=lambda: Collection(("workflow", "status")))

    memberships: dict[str, dict[str, None]] = field(default_factory=dict)
    """By Asset: the Products that have it among their photos, in the order in which they took it."""

    def find_work(self, identifier: str) -> Operation | Generation | None:
        """Return a piece of work; None if there is none of this id."""
        return self.generations.items.get(identifier) or self.operations.items.get(identifier)

    def find_upload(self, identifier: str) -> UploadSession | None:
        """Return an Upload Session; None if there is none of this id."""
        return self.uploads.items.get(identifier)

    def index_product(self, product: Product) -> None:
        """Enter a Product's photos in the index of memberships."""
        for asset_id in product.asset_ids:
            self.memberships.setdefault(asset_id, {})[product.id] = None

    def unindex_product(self, product: Product) -> None:
        """Take a Product's photos out of the index of memberships."""
        for asset_id in product.asset_ids:
            remove_from_index(self.memberships, asset_id, product.id)


def _remove_sorted(ids: list[str], identifier: str) -> None:
    del ids[bisect_left(ids, identifier)]


def remove_from_index(index: dict[str, dict[str, None]], key: str, member: str) -> None:
    """Take one member out of an index, and the key with its last."""
    members = index.get(key)
    if members is not None:
        members.pop(member, None)
        if not members:
            del index[key]
