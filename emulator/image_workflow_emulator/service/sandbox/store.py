"""The resources of one sandbox, with the indexes that keep each question's cost flat as
they grow.

Owns membership and order only; callers decide what may be stored.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

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

_NO_FILTERS: Final[Mapping[str, str]] = MappingProxyType({})

Resource = TypeVar("Resource", bound=AnyResource)
Values: TypeAlias = Iterable[tuple[str, Any]]
"""Attributes with their values; one that has several comes several times."""
_ValueKey: TypeAlias = tuple[str | None, str, Any]
"""A Team, an attribute and a value."""


def _no_values(_resource: AnyResource) -> Values:
    return ()


class Collection(Generic[Resource]):
    """The resources of one kind, each Team's in the order of creation."""

    def __init__(self, values_of: Callable[[Resource], Values] = _no_values) -> None:
        """`values_of` returns what a resource is found by.

        It is indexed, so rare values are as fast as common ones.
        """
        self.items: dict[str, Resource] = {}
        self.ids_by_team: dict[str | None, list[str]] = {}
        self.pages: dict[Hashable, Any] = {}
        """The pages that were answered, by the query; empty once anything changes."""
        self._values_of = values_of
        self._ids_by_value: dict[_ValueKey, list[str]] = {}
        """The ascending ids of the resources that have a value."""

    def add(self, resource: Resource) -> None:
        """Add a new resource; identifiers increase, so it is its Team's last."""
        self.pages.clear()
        self.items[resource.id] = resource
        team_ids = self.ids_by_team.setdefault(resource.team_id, [])
        team_ids.append(resource.id)
        self._index(resource.id, self._keys(resource))

    def replace(self, resource: Resource) -> None:
        """Put a changed resource in its old one's place."""
        self.pages.clear()
        old_keys = self._keys(self.items[resource.id])
        new_keys = self._keys(resource)
        self.items[resource.id] = resource
        self._unindex(resource.id, old_keys - new_keys)
        self._index(resource.id, new_keys - old_keys)

    def remove(self, resource: Resource) -> None:
        """Remove a resource for good."""
        self.pages.clear()
        del self.items[resource.id]
        _remove_sorted(self.ids_by_team[resource.team_id], resource.id)
        self._unindex(resource.id, self._keys(resource))

    def _keys(self, resource: Resource) -> set[_ValueKey]:
        team_id = resource.team_id
        values = self._values_of(resource)
        return {(team_id, attribute, value) for attribute, value in values}

    def _index(self, identifier: str, keys: Iterable[_ValueKey]) -> None:
        for key in keys:
            ids = self._ids_by_value.setdefault(key, [])
            insort(ids, identifier)

    def _unindex(self, identifier: str, keys: Iterable[_ValueKey]) -> None:
        for key in keys:
            ids = self._ids_by_value[key]
            _remove_sorted(ids, identifier)
            if not ids:
                del self._ids_by_value[key]

    def visible(self, team_id: str, identifier: str) -> Resource | None:
        """Return the resource if it is the Team's or global; another Team's is as
        absent (section 5, rule 6).
        """
        resource = self.items.get(identifier)
        if resource is None or resource.team_id not in (team_id, None):
            return None
        return resource

    def ids(
        self,
        team_id: str | None,
        values: Mapping[str, str] = _NO_FILTERS,
    ) -> Sequence[str]:
        """Return the ascending ids of a Team's resources that have all these values; of
        the global ones for None.
        """
        if not values:
            return self.ids_by_team.get(team_id, [])
        ids_by_filter = []
        for name, value in values.items():
            key = (team_id, name, value)
            ids_by_filter.append(self._ids_by_value.get(key, []))
        ids_by_filter.sort(key=len)
        ids, *other_ids = ids_by_filter
        for more_ids in other_ids:
            allowed = frozenset(more_ids)
            ids = [identifier for identifier in ids if identifier in allowed]
        return ids


def _values_of_asset(asset: Asset) -> Values:
    return (("source", asset.source),)


def _values_of_product(product: Product) -> Values:
    return [("asset_ids", asset_id) for asset_id in product.asset_ids]


def _values_of_operation(operation: Operation) -> Values:
    return (
        ("status", operation.status),
        ("type", operation.type),
        ("target_id", operation.target_id),
    )


def _values_of_generation(generation: Generation) -> Values:
    return (
        ("workflow", generation.workflow),
        ("status", generation.status),
    )


class Store:
    """All resources of a sandbox."""

    def __init__(self) -> None:
        self.uploads = Collection[UploadSession]()
        self.assets = Collection[Asset](_values_of_asset)
        self.products = Collection[Product](_values_of_product)
        self.ingredients: dict[str, Collection[Ingredient]] = {
            kind: Collection() for kind in INGREDIENT_KINDS
        }
        self.operations = Collection[Operation](_values_of_operation)
        self.generations = Collection[Generation](_values_of_generation)

    def collections(self) -> dict[str, Collection[Any]]:
        """Return all collections by name."""
        return {
            "assets": self.assets,
            "products": self.products,
            **self.ingredients,
            "uploads": self.uploads,
            "operations": self.operations,
            "generations": self.generations,
        }

    def find_work(self, identifier: str) -> Operation | Generation | None:
        """Return a piece of work; None if there is none of this id."""
        generation = self.generations.items.get(identifier)
        if generation is not None:
            return generation
        return self.operations.items.get(identifier)

    def find_upload(self, identifier: str) -> UploadSession | None:
        """Return an Upload Session; None if there is none of this id."""
        return self.uploads.items.get(identifier)


def _remove_sorted(ids: list[str], identifier: str) -> None:
    place = bisect_left(ids, identifier)
    del ids[place]
