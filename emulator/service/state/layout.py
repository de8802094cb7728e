"""What a state file contains: its members, what a sandbox has once, and a table for each thing of which it has many.

Owns how the rows of a table are listed and taken over; `soundness` says what must hold of them.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, get_type_hints

from msgspec import Struct

from emulator.domain.admission import RateWindow
from emulator.domain.idempotency import Scope, StoredAnswer
from emulator.domain.recipes import Recipe
from emulator.domain.resources import (
    Asset,
    Background,
    FashionModel,
    Generation,
    Operation,
    PhotographyStyle,
    Pose,
    Product,
    Scene,
    UploadSession,
)
from emulator.kernel.timeline import Event
from emulator.kernel.wording import excerpt
from emulator.scenario.playbook import Playbook
from emulator.service.engine import HOLD_EVENT
from emulator.service.sandbox import Sandbox, SandboxState
from emulator.service.scenarios import EVERYONE
from emulator.service.state.soundness.rows import StateError
from emulator.service.store import Collection
from emulator.service.teams import CredentialAccount, TeamAccount

FORMAT = "image-workflow-emulator state"
VERSION = 6
STATE = "state.jsonl"
PICTURES = "pictures/"
CHUNK_BYTES = 256 * 1024
"""How much is written or read at once."""


class SavedPicture(Struct, frozen=True):
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: str
    recipe: Recipe | None
    sha256: str | None
    scene: Scene | None


class Table(Struct, frozen=True):
    """Something of which a sandbox has many: the type of a row, how to list them all, how to take one over."""

    kind: Any
    rows: Callable[[Sandbox], Iterable[Any]]
    add: Callable[[Sandbox, Any], None]


def _in_dict(
    kind: Any, of: Callable[[Sandbox], dict[str, Any]], key: Callable[[Any], str], copied: Callable[[Any], Any]
) -> Table:
    """Return the table of things that are changed in place, which are copied before they are written."""

    def add(sandbox: Sandbox, item: Any) -> None:
        if of(sandbox).setdefault(key(item), item) is not item:
            raise StateError(f"found {excerpt(key(item))} a second time")

    return Table(kind, lambda sandbox: map(copied, of(sandbox).values()), add)


def _copy_rate(rate: RateWindow) -> RateWindow:
    return RateWindow(rate.admitted.copy())


def _copy_account(account: TeamAccount) -> TeamAccount:
    rate, pause = _copy_rate(account.rate), copy(account.pause)
    return TeamAccount(account.team, copy(account.ledger), rate, pause)


def _collection(kind: Any, of: Callable[[Sandbox], Collection[Any]]) -> Table:
    def add(sandbox: Sandbox, item: Any) -> None:
        ids = of(sandbox).items
        if ids and item.id <= next(reversed(ids)):
            raise StateError(
                f"found the id {excerpt(item.id)} after {excerpt(next(reversed(ids)))}; expected ascending ids"
            )
        of(sandbox).add(item)

    return Table(kind, lambda sandbox: of(sandbox).items.values(), add)


def _ingredients(kind: Any) -> Table:
    return _collection(kind, lambda sandbox: sandbox.store.ingredients[kind.kind])


def _record(sandbox: Sandbox, row: tuple[Scope, StoredAnswer]) -> None:
    if sandbox.idempotency.find(row[0], row[1].admitted_at) is not None:
        raise StateError(f"found the key {excerpt(row[0].key)} a second time")
    sandbox.idempotency.restore(*row)


TABLES: Mapping[str, Table] = {
    "accounts": _in_dict(TeamAccount, lambda sandbox: sandbox.accounts, lambda account: account.team.id, _copy_account),
    "credentials": _in_dict(
        CredentialAccount,
        lambda sandbox: sandbox.credentials,
        lambda held: held.credential.key,
        lambda held: CredentialAccount(held.credential, _copy_rate(held.rate)),
    ),
    "playbooks": _in_dict(
        Playbook,
        lambda sandbox: sandbox.playbooks,
        lambda playbook: playbook.team or EVERYONE,
        lambda playbook: replace(playbook, counts={name: copy(counts) for name, counts in playbook.counts.items()}),
    ),
    "uploads": _collection(UploadSession, lambda sandbox: sandbox.store.uploads),
    "assets": _collection(Asset, lambda sandbox: sandbox.store.assets),
    "products": _collection(Product, lambda sandbox: sandbox.store.products),
    "photography_styles": _ingredients(PhotographyStyle),
    "backgrounds": _ingredients(Background),
    "poses": _ingredients(Pose),
    "fashion_models": _ingredients(FashionModel),
    "operations": _collection(Operation, lambda sandbox: sandbox.store.operations),
    "generations": _collection(Generation, lambda sandbox: sandbox.store.generations),
    "records": Table(tuple[Scope, StoredAnswer], lambda sandbox: sandbox.idempotency.records(), _record),
    "events": Table(
        Event,
        lambda sandbox: [event for event in sandbox.timeline.pending() if event.kind != HOLD_EVENT],
        lambda sandbox, event: sandbox.timeline.restore(event),
    ),
}
ONCE = {
    name: kind
    for name, kind in get_type_hints(SandboxState).items()
    if name not in ("accounts", "credentials", "idempotency", "playbooks", "store")
}
"""What a state has once, with its type."""
