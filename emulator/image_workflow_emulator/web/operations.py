"""The behaviour of each operation: one row for each operation id of the contract (section 4).

A row names the handler, which has the operation's own checks and its commit. `rendering` writes the result as JSON.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from image_workflow_emulator.domain.pagination import DEFAULT_LIMIT, Page, paginate
from image_workflow_emulator.domain.problems import Check
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
from image_workflow_emulator.service.sandbox.store import Collection
from image_workflow_emulator.web.exchange import Exchange

LIST_LAG_MS = 2_000
"""How long lists do not show a new item under D74=lag."""
_MAX_KEPT_PAGES = 24
"""Limit of the pages of a collection that are kept while nothing in it changes."""

Work = TypeVar("Work", Operation, Generation)


class Poll(Struct, frozen=True, gc=False):
    """The result of a poll: the work, and the Retry-After in seconds."""

    work: Operation | Generation
    retry_after: int | None


# Reads ----------------------------------------------------------------------------------------------------------------


def _read(lookup: Lookup[Any]) -> Handler:
    return Handler(checks=(found_by_path(lookup),), commit=found)


def _poll(lookup: Lookup[Work]) -> Handler:
    """Return the handler of a poll, which answers with the work and the time to its next change in seconds (D42).

    On an auto clock the poll takes that wait, and shows what then is.
    """

    def poll(call: Call, work: Work) -> Poll:
        wait_ms = engine.next_change_ms(call.sandbox, work, call.now)
        if wait_ms is None:
            return Poll(work, None)
        if not call.sandbox.clock.skips_waits:
            return Poll(work, _hint(call, max(seconds_up(wait_ms), 1)))
        engine.advance(call.sandbox, call.now + wait_ms)
        work = find(call, lookup)
        return Poll(
            work,
            None
            if engine.next_change_ms(call.sandbox, work, call.now) is None
            else _hint(call, 0),
        )

    return Handler(checks=(found_by_path(lookup),), commit=poll)


def _hint(call: Call, seconds: int) -> int | None:
    """Return the Retry-After of a poll: the truth, half of it, or none (D42)."""
    reading = call.sandbox.readings.poll_hint
    return (
        None
        if reading == "no-hint"
        else -(-seconds // 2)
        if reading == "rough"
        else seconds
    )


# Lists ----------------------------------------------------------------------------------------------------------------


def _list(name: str) -> Handler:
    """Return the handler of a list of one of the store's collections, or of a kind of ingredient."""

    def check_cursor(call: Call, _found: None) -> Page[Any]:
        store = call.sandbox.store
        return _page(
            call,
            name,
            store.ingredients[name]
            if name in INGREDIENT_KINDS
            else getattr(store, name),
        )

    return Handler(checks=((Check.SHAPE, check_cursor),), commit=found)


def _page(call: Call, name: str, collection: Collection[Any]) -> Page[Any]:
    """Return a page of what the query selects; a cursor is not bound to `limit` (D02)."""
    query, shown, readings = call.query, collection.shown, call.sandbox.readings
    asked, is_late = (call.team_id, *query.items()), readings.list_freshness == "lag"
    page: Page[Any] | None = shown.get(asked)
    if page is not None and not is_late:
        return page
    filters = {
        key: value for key, value in query.items() if key not in ("limit", "after")
    }
    if filters.get("scope") == "all":
        del filters["scope"]  # the meaning of an absent scope
    words = sorted(f"{key}={value}" for key, value in filters.items())
    binding, limit = (
        (call.team_id, name, *words),
        int(query.get("limit", DEFAULT_LIMIT)),
    )
    scope = filters.pop("scope", "all")
    owners = [
        owner
        for owner in (None, call.team_id)
        if scope == "all" or (owner is None) == (scope == "global")
    ]
    sections = [collection.ids(owner, filters) for owner in owners]
    if is_late:  # D74; what no Team owns was there before
        items, seen_until = collection.items, call.now - LIST_LAG_MS
        sections = [
            ids
            if owner is None
            else [name for name in ids if items[name].created_at <= seen_until]
            for owner, ids in zip(owners, sections, strict=True)
        ]
    load, signer, always = (
        collection.items.__getitem__,
        call.sandbox.signer,
        readings.last_page == "always-a-cursor",
    )
    page = paginate(sections, load, signer, binding, limit, query.get("after"), always)
    if len(shown) >= _MAX_KEPT_PAGES:
        shown.clear()
    shown[asked] = page
    return page


# The operations -------------------------------------------------------------------------------------------------------


def _ingredient_handlers(kind: str) -> dict[str, Handler]:
    create, update, delete = authoring.HANDLERS[kind]
    return {
        f"{operation_id('list', kind)}s": _list(kind),
        operation_id("create", kind): create,
        operation_id("get", kind): _read(lookups.INGREDIENTS[kind]),
        operation_id("update", kind): update,
        operation_id("delete", kind): delete,
    }


OPERATIONS: Mapping[str, Handler] = {
    "getTeam": Handler(commit=lambda call, _: call.caller),
    "createUpload": uploads.CREATE,
    "completeUpload": uploads.COMPLETE,
    "listAssets": _list("assets"),
    "getAsset": _read(lookups.ASSET),
    "deleteAsset": library.DELETE_ASSET,
    "listProducts": _list("products"),
    "createProduct": library.CREATE_PRODUCT,
    "getProduct": _read(lookups.PRODUCT),
    "updateProduct": library.UPDATE_PRODUCT,
    "deleteProduct": library.DELETE_PRODUCT,
    **{
        name: handler
        for kind in INGREDIENT_KINDS
        for name, handler in _ingredient_handlers(kind).items()
    },
    "listOperations": _list("operations"),
    "getOperation": _poll(lookups.OPERATION),
    "listGenerations": _list("generations"),
    "getGeneration": _poll(lookups.GENERATION),
    **{
        operation_admitting(workflow): handler
        for workflow, handler in generations.BY_WORKFLOW.items()
    },
}
"""The behaviours by operation id; the contract must name exactly these."""

# Image work that an admission waits for, while its key is in progress (D13) -------------------------------------------


async def _decode_upload(exchange: Exchange) -> None:
    """Decode the session's bytes, if the completion is going to get that far."""
    found = uploads.to_decode(exchange.call)
    if found is not None:
        exchange.call.decoded = await exchange.pictures.decode(
            *found, exchange.sandbox.readings
        )


async def _examine_background(exchange: Exchange) -> None:
    """Examine the source of a Background, on which its price depends (D30)."""
    asset_id = authoring.source_to_examine(exchange.call)
    if asset_id is not None:
        await exchange.pictures.examine(exchange.sandbox.images, asset_id)


PREPARATIONS: Mapping[str, Callable[[Exchange], Awaitable[None]]] = {
    "completeUpload": _decode_upload,
    "createBackground": _examine_background,
    "updateBackground": _examine_background,
}
