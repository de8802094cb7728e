"""Observations of lists and Products (D22, D26, D74)."""

from collections.abc import Iterator
from typing import Final

from emulator.kernel.timestamps import SECOND_MS
from emulator.traffic.calls import RecordedCall, Traffic
from emulator.traffic.observations.base import Seen

LAG_MS: Final = 2 * SECOND_MS
"""How long a list may not show a write under D74=lag."""
_CREATED_BY: Final = {"completeUpload": "listAssets", "createProduct": "listProducts"}
"""By the call that creates something at once: the list that shows it."""


def photo_order(traffic: Traffic) -> Iterator[Seen]:
    """D22: whether the photos of a Product come back in the order in which they were sent."""
    for call in traffic.whole("createProduct", "updateProduct"):
        sent = call.body.get("asset_ids")
        shown = call.answer.get("asset_ids")
        if call.is_success and isinstance(sent, list) and sent != sorted(map(str, sent)):
            yield Seen("plain" if shown == sent else "unordered", call)


def last_page(traffic: Traffic) -> Iterator[Seen]:
    """D26: whether the last page has a cursor."""
    for call in traffic.whole():
        page = call.answer.get("page")
        if call.is_success and isinstance(page, dict) and page.get("has_more") is False:
            yield Seen("always-a-cursor" if page.get("next_cursor") else "plain", call)


def list_freshness(traffic: Traffic) -> Iterator[Seen]:
    """D74: whether a list that is read right after a write shows it."""
    created: list[tuple[RecordedCall, str]] = []
    for call in traffic.whole():
        if call.name in _CREATED_BY and call.status == 201 and isinstance(call.answer.get("id"), str):
            created.append((call, call.answer["id"]))
        elif call.is_success and call.name in _CREATED_BY.values() and not set(call.query) - {"limit"}:
            created = [(write, identifier) for write, identifier in created if call.at - write.at < LAG_MS]
            listed = {item.get("id") for item in call.answer.get("data", ()) if isinstance(item, dict)}
            for write, identifier in created:
                if _CREATED_BY[write.name] == call.name:
                    yield from _seen(call, identifier, listed)


def _seen(call: RecordedCall, identifier: str, listed: set[object]) -> Iterator[Seen]:
    """A full page may not reach down to what was created; one that is not full shows everything there is."""
    if identifier in listed:
        yield Seen("plain", call)
    elif call.answer.get("page", {}).get("has_more") is False:
        yield Seen("lag", call)
