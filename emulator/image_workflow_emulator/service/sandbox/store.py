"""The resources of one sandbox. Owns membership and order only; callers decide what may be stored."""

from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from image_workflow_emulator.domain import resources

Resource = TypeVar("Resource", bound=resources.AnyResource)


@dataclass(slots=True, eq=False)
class Collection(Generic[Resource]):
    """The resources of one kind, each Team's in the order of creation."""

    items: dict[str, Resource] = field(default_factory=dict)
    ids_by_team: dict[str | None, list[str]] = field(default_factory=dict)
    shown: dict[Hashable, Any] = field(default_factory=dict)
    """By what was asked, the pages that were shown; empty once anything has changed."""

    def add(self, resource: Resource) -> None:
        """Add a new resource; identifiers increase, so it is its Team's last."""
        self.shown.clear()
        self.items[resource.id] = resource
        self.ids_by_team.setdefault(resource.team_id, []).append(resource.id)

    def replace(self, resource: Resource) -> None:
        """Put a changed resource in its old one's place."""
        self.shown.clear()
        self.items[resource.id] = resource

    def remove(self, resource: Resource) -> None:
        """Remove a resource for good."""
        self.shown.clear()
        del self.items[resource.id]
        ids = self.ids_by_team[resource.team_id]
        del ids[bisect_left(ids, resource.id)]

    def visible(self, team_id: str, identifier: str) -> Resource | None:
        """Return the resource if it is the Team's or global; another Team's is as absent (section 5, rule 6)."""
        resource = self.items.get(identifier)
        return resource if resource is not None and resource.team_id in (team_id, None) else None

    def ids(self, team_id: str | None, values: Mapping[str, str] = MappingProxyType({})) -> Sequence[str]:
        """Return the ascending ids of a Team's resources whose attributes are, or contain, these; of global ones for
        None.
        """
        found: Sequence[str] = self.ids_by_team.get(team_id, [])
        for name, value in values.items():
            found = [identifier for identifier in found if _has(getattr(self.items[identifier], name), value)]
        return found


def _has(attribute: Any, value: str) -> bool:
    return value in attribute if isinstance(attribute, tuple) else bool(attribute == value)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Store:
    """All resources of a sandbox."""

    uploads: Collection[resources.UploadSession] = field(default_factory=Collection)
    assets: Collection[resources.Asset] = field(default_factory=Collection)
    products: Collection[resources.Product] = field(default_factory=Collection)
    ingredients: dict[str, Collection[resources.Ingredient]] = field(
        default_factory=lambda: {kind: Collection() for kind in resources.INGREDIENT_KINDS}
    )
    operations: Collection[resources.Operation] = field(default_factory=Collection)
    generations: Collection[resources.Generation] = field(default_factory=Collection)

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

    def find_work(self, identifier: str) -> resources.Operation | resources.Generation | None:
        """Return a piece of work; None if there is none of this id."""
        return self.generations.items.get(identifier) or self.operations.items.get(identifier)

    def find_upload(self, identifier: str) -> resources.UploadSession | None:
        """Return an Upload Session; None if there is none of this id."""
        return self.uploads.items.get(identifier)
