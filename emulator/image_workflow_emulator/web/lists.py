"""How lists are read: a page of a collection, by the filters of the query (section 4)."""

from collections.abc import Callable, Mapping, Sequence
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

    def check_cursor(call: Call, _checked: None) -> Page[Any]:
        collection = collection_of(call.sandbox.store)
        return _page(call, name, collection)

    return Handler(
        checks=((Check.SHAPE, check_cursor),),
        commit=found,
    )


def _page(
    call: Call,
    name: str,
    collection: Collection[Any],
) -> Page[Any]:
    """Return the page that the query asks for, which is kept while nothing changes."""
    if call.sandbox.readings.list_freshness == "lag":  # D74
        seen_until = call.now - LIST_LAG_MS
        return _cut_page(call, name, collection, seen_until)
    question = (call.team_id, *call.query.items())
    kept_page: Page[Any] | None = collection.pages.get(question)
    if kept_page is not None:
        return kept_page
    page = _cut_page(call, name, collection, None)
    if len(collection.pages) >= _MAX_KEPT_PAGES:
        collection.pages.clear()
    collection.pages[question] = page
    return page


def _cut_page(
    call: Call,
    name: str,
    collection: Collection[Any],
    seen_until: int | None,
) -> Page[Any]:
    """Cut a page out of what a list shows.

    `seen_until` is the instant of creation of the newest own item that is shown, in
    milliseconds; None shows all.
    """
    query = call.query
    filters = {
        parameter: value
        for parameter, value in query.items()
        if parameter not in _NO_FILTERS
    }
    scope = query.get("scope", "all")
    sections: list[Sequence[str]] = []
    if scope != "team":
        sections.append(collection.ids(None, filters))
    if scope != "global":
        own_ids = collection.ids(call.team_id, filters)
        if seen_until is not None:
            own_ids = _created_until(seen_until, collection, own_ids)
        sections.append(own_ids)
    sandbox = call.sandbox
    return paginate(
        sections,
        load=collection.items.__getitem__,
        signer=sandbox.signer,
        binding=_cursor_binding(call, name, filters),
        limit=int(query.get("limit", DEFAULT_LIMIT)),
        after=query.get("after"),
        always_a_cursor=sandbox.readings.last_page == "always-a-cursor",
    )


def _cursor_binding(
    call: Call,
    name: str,
    filters: Mapping[str, str],
) -> tuple[str, ...]:
    """Return what the cursors of a list are good for: Team, collection, filters (D02)."""
    bound = dict(filters)
    scope = call.query.get("scope", "all")
    if scope != "all":
        bound["scope"] = scope
    conditions = [f"{parameter}={value}" for parameter, value in bound.items()]
    return (call.team_id, name, *sorted(conditions))


def _created_until(
    instant: int,
    collection: Collection[Any],
    ids: Sequence[str],
) -> list[str]:
    items = collection.items
    return [item_id for item_id in ids if items[item_id].created_at <= instant]
