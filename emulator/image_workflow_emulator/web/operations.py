"""What each operation does: one row for each operation id of the contract (section 4).

A row names the handler, which has the operation's own checks and its commit, and how the result of the commit becomes a
reply. `rendering` writes the reply as JSON.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from image_workflow_emulator.domain.pagination import DEFAULT_LIMIT, Page, PageRequest, paginate
from image_workflow_emulator.domain.problems import Check
from image_workflow_emulator.domain.resources import INGREDIENT_KINDS, Asset, Generation, Operation, operation_id
from image_workflow_emulator.kernel.timestamps import seconds_up
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.resources import authoring, generations, lookups, uploads
from image_workflow_emulator.service.resources import products as library
from image_workflow_emulator.service.resources.lookups import Lookup, find, found_by_path
from image_workflow_emulator.service.sandbox.calls import Call, Handler, found
from image_workflow_emulator.service.sandbox.store import Collection
from image_workflow_emulator.web.exchange import Exchange

LIST_LAG_MS = 2_000
"""How long lists do not show a new item under D74=lag."""
_MAX_KEPT_PAGES = 24
"""Limit of the pages of a collection that are kept while nothing in it changes."""

Work = TypeVar("Work", Operation, Generation)


class Reply(Struct, frozen=True, gc=False):
    """The answer to an operation: a status and a resource, and the headers that the contract promises with it."""

    status: int
    resource: object = None
    location: str | None = None
    retry_after: int | None = None

    def asset_ids(self) -> list[str]:
        """Return the Assets whose size the answer shows."""
        if not isinstance(self.resource, Page):
            return [self.resource.id] if isinstance(self.resource, Asset) else []
        items = self.resource.items
        return [item.id for item in items] if items and isinstance(items[0], Asset) else []


class Row(Struct, frozen=True):
    """An operation: its checks and commit, and the reply to the result."""

    handler: Handler
    reply: Callable[[Any], Reply]


# Replies --------------------------------------------------------------------------------------------------------------


def _ok(resource: object) -> Reply:
    return Reply(200, resource)


def _opened(session: object) -> Reply:
    return Reply(201, session)  # no Location: D38


def _created(collection: str) -> Callable[[Any], Reply]:
    return lambda resource: Reply(201, resource, f"/{collection}/{resource.id}")


def _accepted(work: object) -> Reply:
    if isinstance(work, Operation):
        return Reply(202, work, f"/operations/{work.id}")
    return Reply(202, work)  # no Location: D38


def _changed_or_accepted(result: object) -> Reply:
    return _accepted(result) if isinstance(result, Operation) else _ok(result)


def _deleted(_nothing: None) -> Reply:
    return Reply(204)


def _polled(poll: tuple[object, int | None]) -> Reply:
    work, retry_after = poll
    return Reply(200, work, retry_after=retry_after)


# Reads ----------------------------------------------------------------------------------------------------------------


def _read(lookup: Lookup[Any]) -> Handler:
    return Handler(checks=(found_by_path(lookup),), commit=found)


def _poll(lookup: Lookup[Work]) -> Handler:
    """Return the handler of a poll, which answers with the work and the time to its next change in seconds (D42).

    On an auto clock the poll takes that wait, and shows what then is.
    """

    def poll(call: Call, work: Work) -> tuple[Work, int | None]:
        wait_ms = engine.next_change_ms(work, call.now)
        if wait_ms is None:
            return work, None
        if not call.sandbox.clock.skips_waits:
            return work, _hint(call, max(seconds_up(wait_ms), 1))
        engine.advance(call.sandbox, call.now + wait_ms)
        work = find(call, lookup)
        return work, None if engine.next_change_ms(work, call.now) is None else _hint(call, 0)

    return Handler(checks=(found_by_path(lookup),), commit=poll)


def _hint(call: Call, seconds: int) -> int | None:
    """Return the Retry-After of a poll: the truth, half of it, or none (D42)."""
    reading = call.sandbox.readings.poll_hint
    return None if reading == "no-hint" else -(-seconds // 2) if reading == "rough" else seconds


_GET_TEAM = Handler(commit=lambda call, _: call.caller.standing())


# Lists ----------------------------------------------------------------------------------------------------------------


def _list(name: str) -> Handler:
    """Return the handler of a list of one of the store's collections."""

    def check_cursor(call: Call, _found: None) -> Page[Any]:
        return _page(call, name, getattr(call.sandbox.store, name), [call.team_id])

    return Handler(checks=((Check.SHAPE, check_cursor),), commit=found)


def _list_ingredients(kind: str) -> Handler:
    def check_cursor(call: Call, _found: None) -> Page[Any]:
        scope = call.query.get("scope", "all")
        owners = [owner for owner in (None, call.team_id) if scope == "all" or (owner is None) == (scope == "global")]
        return _page(call, kind, call.sandbox.store.ingredients[kind], owners)

    return Handler(checks=((Check.SHAPE, check_cursor),), commit=found)


def _page(call: Call, name: str, collection: Collection[Any], owners: list[str | None]) -> Page[Any]:
    """Return a page of what the query selects; a cursor is not bound to `limit` (D02)."""
    query, shown = call.query, collection.shown
    asked = call.team_id, *query.items()
    page: Page[Any] | None = shown.get(asked)
    readings = call.sandbox.readings
    is_late = readings.list_freshness == "lag"
    if page is not None and not is_late:
        return page
    filters = {key: value for key, value in query.items() if key not in ("limit", "after")}
    if filters.get("scope") == "all":
        del filters["scope"]  # the meaning of an absent scope
    words = sorted(f"{key}={value}" for key, value in filters.items())
    request = PageRequest(int(query.get("limit", DEFAULT_LIMIT)), query.get("after"), (call.team_id, name, *words))
    filters.pop("scope", None)  # it has selected the owners
    sections = [collection.ids(owner, filters) for owner in owners]
    if is_late:  # D74; what no Team owns was there before
        items, seen_until = collection.items, call.now - LIST_LAG_MS
        sections = [
            ids if owner is None else [name for name in ids if items[name].created_at <= seen_until]
            for owner, ids in zip(owners, sections, strict=True)
        ]
    always = readings.last_page == "always-a-cursor"
    page = paginate(sections, collection.items.__getitem__, request, call.sandbox.signer, always_a_cursor=always)
    if len(shown) >= _MAX_KEPT_PAGES:
        shown.clear()
    shown[asked] = page
    return page


# The operations -------------------------------------------------------------------------------------------------------


def _ingredient_rows(kind: str) -> dict[str, Row]:
    create, update, delete = authoring.HANDLERS[kind]
    return {
        f"{operation_id('list', kind)}s": Row(_list_ingredients(kind), _ok),
        operation_id("create", kind): Row(create, _accepted),
        operation_id("get", kind): Row(_read(lookups.INGREDIENTS[kind]), _ok),
        operation_id("update", kind): Row(update, _changed_or_accepted),
        operation_id("delete", kind): Row(delete, _deleted),
    }


def _generation_row(workflow: str) -> Row:
    return Row(generations.BY_WORKFLOW[workflow], _accepted)


OPERATIONS: Mapping[str, Row] = {
    "getTeam": Row(_GET_TEAM, _ok),
    "createUpload": Row(uploads.CREATE, _opened),
    "completeUpload": Row(uploads.COMPLETE, _created("assets")),
    "listAssets": Row(_list("assets"), _ok),
    "getAsset": Row(_read(lookups.ASSET), _ok),
    "deleteAsset": Row(library.DELETE_ASSET, _ok),
    "listProducts": Row(_list("products"), _ok),
    "createProduct": Row(library.CREATE_PRODUCT, _created("products")),
    "getProduct": Row(_read(lookups.PRODUCT), _ok),
    "updateProduct": Row(library.UPDATE_PRODUCT, _ok),
    "deleteProduct": Row(library.DELETE_PRODUCT, _deleted),
    **{name: row for kind in INGREDIENT_KINDS for name, row in _ingredient_rows(kind).items()},
    "listOperations": Row(_list("operations"), _ok),
    "getOperation": Row(_poll(lookups.OPERATION), _polled),
    "listGenerations": Row(_list("generations"), _ok),
    "getGeneration": Row(_poll(lookups.GENERATION), _polled),
    "createProductPhotographyGeneration": _generation_row("product_photography"),
    "createEditImagesGeneration": _generation_row("edit_images"),
    "createUpscaleGeneration": _generation_row("upscale"),
}
"""By operation id; the contract must name exactly these."""

# Image work that an admission waits for, while its key is in progress (D13) -------------------------------------------


async def _decode_upload(exchange: Exchange) -> None:
    """Decode the session's bytes, if the completion is going to get that far."""
    found = uploads.to_decode(exchange.call)
    if found is not None:
        exchange.call.decoded = await exchange.pictures.decode(*found, exchange.sandbox.readings)


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
