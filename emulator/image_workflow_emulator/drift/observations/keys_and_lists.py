"""Observations of requests, lists and Products: pages, texts, photos and keys (D02, D04, D10, D12, D14, D22, D26, D74)."""

from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.domain.idempotency import RETENTION_MS
from image_workflow_emulator.drift.calls import RecordedCall, Traffic
from image_workflow_emulator.drift.observations.base import Seen, by_outcome, meaning, texts
from image_workflow_emulator.kernel.timestamps import SECOND_MS

MAX_PAGE: Final = 100
MAX_NAME: Final = 100
MAX_TEXT: Final = 2_000
"""The lengths beyond which D04=short refuses a name and any other text, in code points."""
_DEFINITE: Final = ("insufficient_credits", "not_found", "asset_not_found", "product_not_found", "invalid_reference")
_WEEK_MS: Final = 7 * RETENTION_MS
LAG_MS: Final = 2 * SECOND_MS
"""How long a list may not show a write under D74=lag."""
_CREATED_BY: Final = {"completeUpload": "listAssets", "createProduct": "listProducts"}
"""By the call that creates something at once: the list that shows it."""


def page_limit(traffic: Traffic) -> Iterator[Seen]:
    """D02: a `limit` above the largest page is refused, or cut."""
    for call in traffic.whole():
        limit = call.query.get("limit", "")
        if call.operation and call.operation.method == "GET" and limit.isdecimal() and int(limit) > MAX_PAGE:
            yield Seen(by_outcome(call, "clamps", "plain", "invalid_request"), call)


def text_length(traffic: Traffic) -> Iterator[Seen]:
    """D04: long texts are taken, or refused."""
    for call in traffic.whole():
        name = call.body.get("name")
        is_long = isinstance(name, str) and len(name) > MAX_NAME
        if is_long or any(len(text) > MAX_TEXT for text in texts(call.body)):
            yield Seen(by_outcome(call, "plain", "short"), call)


def key_binding(traffic: Traffic) -> Iterator[Seen]:
    """D10: what a definite refusal does to its key, as a repetition with the same body shows."""
    for first, second in _repetitions(traffic):
        if first.code not in _DEFINITE or second.request_body != first.request_body:
            continue
        is_replay = second.status == first.status and _request_id(second) == _request_id(first)
        is_payment = first.code == "insufficient_credits"
        if is_replay:
            yield Seen("plain" if is_payment else "binds-refusals", second, aspect=str(is_payment))
        elif second.is_success or second.code == first.code:
            yield Seen("releases" if is_payment else "plain", second, aspect=str(is_payment))


def key_retention(traffic: Traffic) -> Iterator[Seen]:
    """D12: a key that comes again a day later is new, or still known."""
    for first, second in _repetitions(traffic):
        if first.is_success and first.at + RETENTION_MS <= second.at < first.at + _WEEK_MS:
            if second.code == "idempotency_key_reused" or _request_id(second) == _request_id(first):
                yield Seen("week", second)
            elif second.is_success:
                yield Seen("plain", second)


def intent(traffic: Traffic) -> Iterator[Seen]:
    """D14: a body that means the same and is written in another way is the same request, or another."""
    for first, second in _repetitions(traffic):
        is_kept = first.is_success and second.at < first.at + RETENTION_MS
        if not is_kept or first.body == second.body or not _means_the_same(first, second):
            continue
        if second.code == "idempotency_key_reused":
            yield Seen("as-sent", second)
        elif _request_id(second) == _request_id(first):
            yield Seen("plain", second)


def _repetitions(traffic: Traffic) -> Iterator[tuple[RecordedCall, RecordedCall]]:
    """Iterate over the calls that use a key again at the same address, each with the first call that had it."""
    first: dict[tuple[str, str, str, str], RecordedCall] = {}
    for call in traffic.whole():
        if call.key and call.operation:
            credential = call.request_headers.get("authorization", "")
            place = credential, call.name, str(sorted(call.parameters.items())), call.key
            if place in first:
                yield first[place], call
            elif call.code not in ("idempotency_in_progress", "rate_limited", "service_unavailable", "internal_error"):
                first[place] = call


def _request_id(call: RecordedCall) -> str | None:
    return call.response_headers.get("request-id")


def _means_the_same(first: RecordedCall, second: RecordedCall) -> bool:
    """Whether two bodies have one intent: the order of members is free."""
    from image_workflow_emulator.domain.intents import fingerprint

    assert first.operation is not None
    meant = meaning(first.operation.body, first.body), meaning(first.operation.body, second.body)
    return None not in meant and fingerprint(meant[0]) == fingerprint(meant[1])


# Lists and Products -----------------------------------------------------------------------------------------------------


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
                    yield from _freshness(call, identifier, listed)


def _freshness(call: RecordedCall, identifier: str, listed: set[object]) -> Iterator[Seen]:
    """A full page may not reach down to what was created; one that is not full shows everything there is."""
    if identifier in listed:
        yield Seen("plain", call)
    elif call.answer.get("page", {}).get("has_more") is False:
        yield Seen("lag", call)
