"""The behaviour of each operation: one row for each operation id of the contract
(section 4).

A row names the handler, which has the operation's own checks and its commit. `rendering`
writes the result as JSON.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from image_workflow_emulator.domain.resources import (
    INGREDIENT_KINDS,
    Generation,
    Operation,
    operation_admitting,
    operation_id,
)
from image_workflow_emulator.kernel.timestamps import seconds_up
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.resources import (
    authoring,
    generations,
    lookups,
    uploads,
)
from image_workflow_emulator.service.resources import products as library
from image_workflow_emulator.service.resources.lookups import (
    Lookup,
    find,
    found_by_path,
)
from image_workflow_emulator.service.sandbox.calls import Call, Handler, found
from image_workflow_emulator.service.sandbox.store import Collection, Store
from image_workflow_emulator.web.lists import list_of

Work = TypeVar("Work", Operation, Generation)


class Poll(Struct, frozen=True, gc=False):
    """The result of a poll: the work, and the Retry-After in seconds."""

    work: Operation | Generation
    retry_after: int | None


# Reads --------------------------------------------------------------------------------


def _read(lookup: Lookup[Any]) -> Handler:
    return Handler(checks=(found_by_path(lookup),), commit=found)


def _poll(lookup: Lookup[Work]) -> Handler:
    """Return the handler of a poll, which answers with the work and the time to its next
    change in seconds (D42).

    On an auto clock the poll takes that wait, and shows what then is.
    """

    def poll(call: Call, work: Work) -> Poll:
        wait_ms = engine.next_change_ms(call.sandbox, work, call.now)
        if wait_ms is None:
            return Poll(work, None)
        if not call.sandbox.clock.skips_waits:
            seconds = max(seconds_up(wait_ms), 1)
            return Poll(work, _hint(call, seconds))
        engine.advance(call.sandbox, call.now + wait_ms)
        changed = find(call, lookup)
        if engine.next_change_ms(call.sandbox, changed, call.now) is None:
            return Poll(changed, None)
        return Poll(changed, _hint(call, 0))

    return Handler(checks=(found_by_path(lookup),), commit=poll)


def _hint(call: Call, seconds: int) -> int | None:
    """Return the Retry-After of a poll: the truth, half of it, or none (D42)."""
    reading = call.sandbox.readings.poll_hint
    if reading == "no-hint":
        return None
    if reading == "rough":
        return (seconds + 1) // 2
    return seconds


# The operations -----------------------------------------------------------------------


def _ingredient_handlers(kind: str) -> dict[str, Handler]:
    def collection_of(store: Store) -> Collection[Any]:
        return store.ingredients[kind]

    create, update, delete = authoring.HANDLERS[kind]
    return {
        f"{operation_id('list', kind)}s": list_of(kind, collection_of),
        operation_id("create", kind): create,
        operation_id("get", kind): _read(lookups.INGREDIENTS[kind]),
        operation_id("update", kind): update,
        operation_id("delete", kind): delete,
    }


def _all_handlers() -> dict[str, Handler]:
    handlers = {
        "getTeam": Handler(commit=lambda call, _: call.caller),
        "createUpload": uploads.CREATE,
        "completeUpload": uploads.COMPLETE,
        "listAssets": list_of("assets", lambda store: store.assets),
        "getAsset": _read(lookups.ASSET),
        "deleteAsset": library.DELETE_ASSET,
        "listProducts": list_of("products", lambda store: store.products),
        "createProduct": library.CREATE_PRODUCT,
        "getProduct": _read(lookups.PRODUCT),
        "updateProduct": library.UPDATE_PRODUCT,
        "deleteProduct": library.DELETE_PRODUCT,
        "listOperations": list_of("operations", lambda store: store.operations),
        "getOperation": _poll(lookups.OPERATION),
        "listGenerations": list_of("generations", lambda store: store.generations),
        "getGeneration": _poll(lookups.GENERATION),
    }
    for kind in INGREDIENT_KINDS:
        handlers |= _ingredient_handlers(kind)
    for workflow, handler in generations.BY_WORKFLOW.items():
        handlers[operation_admitting(workflow)] = handler
    return handlers


OPERATIONS: Final[Mapping[str, Handler]] = _all_handlers()
"""The behaviours by operation id; the contract must name exactly these."""
