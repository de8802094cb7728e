"""The rows of a state file, each with its place, and what rows of several kinds must keep to."""

import re
from collections.abc import Collection as Sized
from collections.abc import Iterable
from functools import reduce
from typing import Any, Generic, TypeVar

from msgspec import Struct

from emulator.documents.values import LARGEST_INTEGER
from emulator.kernel.wording import excerpt
from emulator.service.sandbox import Sandbox
from emulator.service.store import Collection, Resource

MOST_CREDITS = LARGEST_INTEGER
KEY = re.compile(r"[A-Za-z0-9._~+/-]{1,300}=*", re.ASCII)
"""An API key."""

Item = TypeVar("Item")


class StateError(ValueError):
    """A state file that cannot be loaded; the text says where (by a JSON Pointer) and why."""


def expect(holds: object, where: str, found: object, expected: str) -> None:
    """Check what is at a place of the file. Raises StateError."""
    if not holds:
        raise StateError(f"{where}: found {excerpt(found)}; expected {expected}")


class Row(Struct, Generic[Item], frozen=True):
    """Something that the file holds, with its place. The checks are of a field, or a field of a field (`outcome/charge`)."""

    where: str
    item: Item

    def value(self, field: str) -> Any:
        """Return what a field holds."""
        return reduce(getattr, field.split("/"), self.item)

    def expect(self, holds: object, field: str, expected: str) -> None:
        """Check a field. Raises StateError."""
        if not holds:
            expect(False, f"{self.where}/{field}", self.value(field), expected)

    def expect_only(self, when: bool, field: str, expected: str) -> None:
        """Check that a field has a value when it should, and at no other time. Raises StateError."""
        self.expect((self.value(field) is not None) == when, field, expected)

    def expect_given(self, sandbox: Sandbox, field: str, prefix: str) -> None:
        """Check that the sandbox has given out the id that a field holds. Raises StateError."""
        is_given = sandbox.identifiers.has_given(prefix, self.value(field))
        self.expect(is_given, field, f"one of the ids of /counters/{prefix} and the seed")

    def expect_team(self, sandbox: Sandbox, field: str = "team_id") -> None:
        """Check that a field holds the id of a Team. Raises StateError."""
        self.expect(self.value(field) in sandbox.accounts, field, "the id of a Team")


def numbered(where: str, items: Iterable[Item]) -> Iterable[Row[Item]]:
    """Go through the items of an array, each with its place."""
    return (Row(f"{where}/{index}", item) for index, item in enumerate(items))


def owned(sandbox: Sandbox, table: str, prefix: str, items: Collection[Resource]) -> Iterable[Row[Resource]]:
    """Go through the resources of a table; each has an id of the sandbox's, and the Team that owns it, if one does."""
    for row in numbered(f"/{table}", items.items.values()):
        row.expect_given(sandbox, "id", prefix)
        if row.item.team_id is not None:
            row.expect_team(sandbox)
        yield row


def check_new(where: str, name: str, names: set[str]) -> None:
    """Check that a name is not among those before it, and add it to them. Raises StateError."""
    expect(name and name not in names, where, name, "a name that nothing before it has")
    names.add(name)


def check_instants(sandbox: Sandbox, where: str, instants: Sized[int]) -> None:
    """Check that instants have come, one after the other. Raises StateError."""
    expect(sorted(instants) == [*instants], where, instants, "instants in their order")
    expect(max(instants, default=0) <= sandbox.clock.now(), where, instants, "instants that have come")


def check_assets(sandbox: Sandbox, where: str, team_id: str, asset_ids: Iterable[str]) -> None:
    """Check that a Team has Assets. Raises StateError."""
    for asset_id in asset_ids:
        expect(sandbox.store.assets.visible(team_id, asset_id), where, asset_id, "an Asset of the Team")


def check_pictures(sandbox: Sandbox, where: str, keys: Iterable[str]) -> None:
    """Check that there are pictures. Raises StateError."""
    for key in keys:
        expect(key in sandbox.images.pictures, where, key, "a picture of this key in /pictures")
