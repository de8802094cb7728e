"""How lists are read: a page of a collection, by the filters of the query (section 4)."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from image_workflow_emulator.domain.pagination import DEFAULT_LIMIT, Page, paginate
from image_workflow_emulator.domain.problems import Check
from image_workflow_emulator.service.sandbox.calls import Call, Handler, found
from image_workflow_emulator.service.sandbox.store import Collection, Store

LIST_LAG_MS: Final = 2_000
"""How long lists do not show a new item under D74=lag."""
_MAX_KEPT_PAGES: Final = 24
"""Limit of the pages of a collection that are kept while nothing in it changes."""
_NO_FILTERS: Final = ("limit", "after", "scope")
"""The parameters of a list that select nothing by a value."""


def list_of(name: str, collection_of: Callable[[Store], Collection[Any]]) -> Handler:
    """Return the handler of a list.

    `name` is bound to the cursors of the collection (D02).
    """

    def check_cursor(call: Call, _found: None) -> Page[Any]:
        return _page(call, name, collection_of(call.sandbox.store))

    return Handler(checks=((Check.SHAPE, check_cursor),), commit=found)


def _page(call: Call, name: str, collection: Collection[Any]) -> Page[Any]:
    """Return the page that the query asks for, which is kept while nothing changes."""
    if call.sandbox.readings.list_freshness == "lag":  # D74
        return _cut_page(call, name, collection, call.now - LIST_LAG_MS)
    question = (call.team_id, *call.query.items())
    page: Page[Any] | None = collection.shown.get(question)
    if page is None:
        page = _cut_page(call, name, collection, None)
        if len(collection.shown) >= _MAX_KEPT_PAGES:
            collection.shown.clear()
        collection.shown[question] = page
    return page


def _cut_page(
    call: Call, name: str, collection: Collection[Any], seen_until: int | None
) -> Page[Any]:
    """Cut a page out of what a list shows.

    `seen_until` is the instant of creation of the newest own item that is shown, in
    milliseconds; None shows all.
    """
    query = call.query
    scope = query.get("scope", "all")
    filters = {key: text for key, text in query.items() if key not in _NO_FILTERS}
    sections: list[Sequence[str]] = []
    if scope in ("all", "global"):
        sections.append(collection.ids(None, filters))
    if scope in ("all", "team"):
        own_ids = collection.ids(call.team_id, filters)
        if seen_until is not None:
            own_ids = _created_until(seen_until, collection, own_ids)
        sections.append(own_ids)
    if scope != "all":
        filters["scope"] = scope
    words = sorted(f"{key}={text}" for key, text in filters.items())
    return paginate(
        sections,
        load=collection.items.__getitem__,
        signer=call.sandbox.signer,
        binding=(call.team_id, name, *words),
        limit=int(query.get("limit", DEFAULT_LIMIT)),
        after=query.get("after"),
        always_a_cursor=call.sandbox.readings.last_page == "always-a-cursor",
    )


def _created_until(
    instant: int, collection: Collection[Any], ids: Sequence[str]
) -> list[str]:
    items = collection.items
    return [name for name in ids if items[name].created_at <= instant]
