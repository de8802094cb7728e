"""The resources of one sandbox, with the indexes that keep each question's cost flat as
they grow.

Owns membership and order only; callers decide what may be stored.
"""

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Generic, TypeAlias, TypeVar

from image_workflow_emulator.domain import resources

_NO_FILTERS: Final[Mapping[str, str]] = MappingProxyType({})

Resource = TypeVar("Resource", bound=resources.AnyResource)
_ValueKey: TypeAlias = tuple[str | None, str, Any]
"""A Team, an attribute and a value."""


@dataclass(slots=True, eq=False)
class Collection(Generic[Resource]):
    """The resources of one kind, each Team's in the order of creation."""

    filters: tuple[str, ...] = ()
    """The attributes by which resources are found. Each is indexed, so rare values are
    as fast as common ones."""
    items: dict[str, Resource] = field(default_factory=dict, init=False)
    ids_by_team: dict[str | None, list[str]] = field(default_factory=dict, init=False)
    shown: dict[Hashable, Any] = field(default_factory=dict, init=False)
    """By what was asked, the pages that were shown; empty once anything has changed."""
    _ids_by_value: dict[_ValueKey, list[str]] = field(default_factory=dict, init=False)
    """By Team, attribute and value: the ascending ids of the resources that have it."""

    def add(self, resource: Resource) -> None:
        """Add a new resource; identifiers increase, so it is its Team's last."""
        self.shown.clear()
        self.items[resource.id] = resource
        self.ids_by_team.setdefault(resource.team_id, []).append(resource.id)
        self._index(resource.id, self._keys(resource))

    def replace(self, resource: Resource) -> None:
        """Put a changed resource in its old one's place."""
        self.shown.clear()
        before, after = self._keys(self.items[resource.id]), self._keys(resource)
        self.items[resource.id] = resource
        self._unindex(resource.id, before - after)
        self._index(resource.id, after - before)

    def remove(self, resource: Resource) -> None:
        """Remove a resource for good."""
        self.shown.clear()
        del self.items[resource.id]
        _remove_sorted(self.ids_by_team[resource.team_id], resource.id)
        self._unindex(resource.id, self._keys(resource))

    def _keys(self, resource: Resource) -> set[_ValueKey]:
        """Return what a resource is found by: for each filter its values."""
        keys: set[_ValueKey] = set()
        for name in self.filters:
            value = getattr(resource, name)
            keys.update(
                (resource.team_id, name, one)
                for one in (value if isinstance(value, tuple) else (value,))
            )
        return keys

    def _index(self, identifier: str, keys: Iterable[_ValueKey]) -> None:
        for key in keys:
            insort(self._ids_by_value.setdefault(key, []), identifier)

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
        return (
            resource
            if resource is not None and resource.team_id in (team_id, None)
            else None
        )

    def ids(
        self, team_id: str | None, values: Mapping[str, str] = _NO_FILTERS
    ) -> Sequence[str]:
        """Return the ascending ids of a Team's resources that have all these values; of
        the global ones for None.
        """
        if not values:
            return self.ids_by_team.get(team_id, [])
        found = [
            self._ids_by_value.get((team_id, name, value), [])
            for name, value in values.items()
        ]
        ids, *others = sorted(found, key=len)
        for other in map(frozenset, others):
            ids = [identifier for identifier in ids if identifier in other]
        return ids


@dataclass(slots=True, eq=False, weakref_slot=True)
class Store:
    """All resources of a sandbox."""

    uploads: Collection[resources.UploadSession] = field(default_factory=Collection)
    assets: Collection[resources.Asset] = field(
        default_factory=lambda: Collection(("source",))
    )
    products: Collection[resources.Product] = field(
        default_factory=lambda: Collection(("asset_ids",))
    )
    ingredients: dict[str, Collection[resources.Ingredient]] = field(
        default_factory=lambda: {
            kind: Collection() for kind in resources.INGREDIENT_KINDS
        }
    )
    operations: Collection[resources.Operation] = field(
        default_factory=lambda: Collection(("status", "type", "target_id"))
    )
    generations: Collection[resources.Generation] = field(
        default_factory=lambda: Collection(("workflow", "status"))
    )

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

    def find_work(
        self, identifier: str
    ) -> resources.Operation | resources.Generation | None:
        """Return a piece of work; None if there is none of this id."""
        return self.generations.items.get(identifier) or self.operations.items.get(
            identifier
        )

    def find_upload(self, identifier: str) -> resources.UploadSession | None:
        """Return an Upload Session; None if there is none of this id."""
        return self.uploads.items.get(identifier)


def _remove_sorted(ids: list[str], identifier: str) -> None:
    del ids[bisect_left(ids, identifier)]
