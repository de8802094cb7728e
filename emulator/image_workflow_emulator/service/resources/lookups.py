"""Resources that a request names, by its path or in its body: found for the Team that
asks, or refused.

Another Team's resource is refused like one that does not exist (section 5, rule 6);
only the remedy tells them apart.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic

from msgspec import Struct

from image_workflow_emulator.domain.problems import Check, Problem, invalid_reference
from image_workflow_emulator.domain.resources import (
    INGREDIENT_KINDS,
    AnyResource,
    Asset,
    Generation,
    Ingredient,
    Operation,
    Product,
)
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.calls import Call, OwnCheck
from image_workflow_emulator.service.sandbox.store import Collection, Resource, Store


class Lookup(Struct, Generic[Resource], frozen=True):
    """How resources of one kind are found, and how one that is not there is refused."""

    collection: Callable[[Store], Collection[Resource]]
    noun: str
    expected: str
    code: str = "not_found"
    """The problem code, where the path names the resource."""


ASSET: Lookup[Asset] = Lookup(
    lambda store: store.assets,
    "asset",
    "a live Asset of this Team",
    "asset_not_found",
)
PRODUCT: Lookup[Product] = Lookup(
    lambda store: store.products,
    "product",
    "a Product of this Team",
    "product_not_found",
)
OPERATION: Lookup[Operation] = Lookup(
    lambda store: store.operations,
    "operation",
    "an Operation of this Team",
)
GENERATION: Lookup[Generation] = Lookup(
    lambda store: store.generations,
    "generation",
    "one of this Team's",
)


def _ingredient(kind: str) -> Lookup[Ingredient]:
    expected = f"a {kind.replace('_', ' ')} that the Team can use"
    return Lookup(lambda store: store.ingredients[kind], kind, expected)


INGREDIENTS: Mapping[str, Lookup[Ingredient]] = {
    kind: _ingredient(kind) for kind in INGREDIENT_KINDS
}


def find(call: Call, lookup: Lookup[Resource]) -> Resource:
    """Return the resource that the path names. Raises Problem with the code of the
    lookup.
    """
    resource = _visible(call, lookup, call.resource_id)
    if resource is None:
        found = excerpt(call.resource_id)
        detail = f"{lookup.noun}_id: found {found}; expected {lookup.expected}"
        remedy = _remedy(call, lookup, call.resource_id)
        raise Problem(lookup.code, detail, remedy=remedy)
    return resource


def found_by_path(lookup: Lookup[Resource]) -> OwnCheck:
    """Return the check that the resource that the path names is there."""
    return Check.RESOURCE, lambda call, _: find(call, lookup)


def refer(
    call: Call,
    lookup: Lookup[Resource],
    where: str,
    identifier: str,
) -> Resource:
    """Return the resource that the body refers to at a place. Raises Problem
    invalid_reference.
    """
    resource = _visible(call, lookup, identifier)
    if resource is None:
        remedy = _remedy(call, lookup, identifier)
        raise invalid_reference(where, identifier, lookup.expected, remedy)
    return resource


def refer_to_all(
    call: Call,
    lookup: Lookup[Resource],
    where: str,
    identifiers: Sequence[str],
) -> list[Resource]:
    """Return the resources that a list in the body refers to. Raises Problem
    invalid_reference.
    """
    return [
        refer(call, lookup, f"{where}/{place}", identifier)
        for place, identifier in enumerate(identifiers)
    ]


def _visible(
    call: Call,
    lookup: Lookup[Resource],
    identifier: str,
) -> Resource | None:
    collection = lookup.collection(call.sandbox.store)
    return collection.visible(call.team_id, identifier)


def _remedy(
    call: Call,
    lookup: Lookup[Resource],
    identifier: str,
) -> str:
    collection = lookup.collection(call.sandbox.store)
    item = collection.items.get(identifier)
    path = f"/{lookup.noun.replace('_', '-')}s"
    return remedy_for_absent(call, item, f"use an id that GET {path} lists")


def remedy_for_absent(
    call: Call,
    item: AnyResource | None,
    otherwise: str,
) -> str:
    """Say what to do about a resource that this Team cannot see; another Team's is
    visible to that Team's keys only.
    """
    if item is None or item.team_id is None:
        return otherwise
    owner = call.sandbox.accounts.get(item.team_id)
    if owner is None or owner is call.caller.account:
        return otherwise
    return f"send it with a credential of the Team {owner.team.name!r}, which owns it"
