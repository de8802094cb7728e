"""What was there before a recording: resources that its calls refer to.

Nobody can tell how the service came by them, so they are as recorded only in what a call
depends on, and are not compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import ValidationError, convert

from image_workflow_emulator.domain.resources import (
    INGREDIENT_TYPES,
    Asset,
    Ingredient,
    Product,
)
from image_workflow_emulator.drift.names import Names
from image_workflow_emulator.drift.traffic import Traffic
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

_Resource: TypeAlias = Asset | Product | Ingredient
_TYPES: Final[Mapping[str, type[_Resource]]] = {
    "asset": Asset,
    "product": Product,
    **INGREDIENT_TYPES,
}
_PREFIXES: Final = {
    "asset": "ast",
    "product": "prd",
    **{kind: ingredient.prefix for kind, ingredient in INGREDIENT_TYPES.items()},
}
_COLLECTIONS: Final = {"asset": "assets", "product": "products"}
"""The names of the store's collections, where they are not the kind itself."""
_ANY_RESOURCE: Final[Mapping[str, Any]] = {
    "source": "upload",
    "source_generation_id": None,
    "source_asset_ids": [],
}
"""Members of every resource that is made here, as far as its kind has them."""
_ANY_PICTURE: Final = {
    "format": "png",
    "width": 1_000,
    "height": 1_000,
}


def _kinds_by_member() -> Iterator[tuple[str, str]]:
    for kind in _TYPES:
        yield f"{kind}_id", kind
        yield f"{kind}_ids", kind
    yield "primary_asset_id", "asset"


KIND_OF_MEMBER: Final = dict(_kinds_by_member())
"""The kind of resource that ids name, by the name of their parameter or member."""


class Beginning:
    """Puts into an emulator what was there before a recording."""

    def __init__(
        self,
        sandbox: Sandbox,
        team: str,
        traffic: Traffic,
        names: Names,
    ) -> None:
        self._sandbox = sandbox
        self._team = team
        self._traffic = traffic
        self._names = names
        self.ids: set[str] = set()
        """The recorded ids of what was put in."""

    def put(self, kind: str, identifier: str) -> str:
        """Put in a resource as an answer first shows it, unless it is there already.

        Returns the id that it has in the emulator.
        """
        if identifier not in self._names.own:
            snapshots = self._traffic.snapshots_of(kind, identifier)
            resource: Mapping[str, Any] = {}
            if snapshots:
                resource = snapshots[0].resource
            own_id = self._make(kind, resource)
            self._names.bind(identifier, own_id)
            self.ids.add(identifier)
        return self._names.own[identifier]

    def _make(self, kind: str, resource: Mapping[str, Any]) -> str:
        """Make a resource, with format and size of a picture as shown if possible."""
        sandbox = self._sandbox
        made = self._fill(kind, resource)
        for key in _picture_keys(made):
            sandbox.images.put(key, key.encode(), "clean")
        collections = sandbox.store.collections()
        collection_name = _COLLECTIONS.get(kind, kind)
        collections[collection_name].add(made)
        return made.id

    def _fill(self, kind: str, resource: Mapping[str, Any]) -> _Resource:
        own = self._own_members(kind, resource)
        resource_type = _TYPES[kind]
        try:
            return convert({**_ANY_PICTURE, **resource, **own}, resource_type)
        except ValidationError:  # a picture of more pixels than there are
            return convert({**_ANY_PICTURE, **own}, resource_type)

    def _own_members(self, kind: str, resource: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members that the emulator decides."""
        (account,) = self._sandbox.find_accounts(self._team)
        team_id: str | None = account.team.id
        if resource.get("scope") == "global":
            team_id = None
        now = self._sandbox.clock.now()
        members = {
            **_ANY_RESOURCE,
            "id": self._sandbox.identifiers.next(_PREFIXES[kind]),
            "team_id": team_id,
            "name": self._team,
            "created_at": now,
            "updated_at": now,
        }
        if kind == "product":
            photos = self._photos(resource)
            members["asset_ids"] = photos
            members["primary_asset_id"] = photos[0]
        return members

    def _photos(self, product: Mapping[str, Any]) -> list[str]:
        recorded_ids = product.get("asset_ids", ())
        photos = [self.put("asset", recorded_id) for recorded_id in recorded_ids]
        if not photos:
            return [self._make("asset", {})]
        return photos


def _picture_keys(resource: _Resource) -> Sequence[str]:
    """Return the keys of a resource's own pictures."""
    if isinstance(resource, Ingredient):
        return resource.picture_keys
    if isinstance(resource, Asset):
        return [resource.id]
    return []
