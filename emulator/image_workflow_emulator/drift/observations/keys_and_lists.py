"""Observations of requests, lists and Products: pages, texts, photos and keys (D02, D04, D10, D12, D14, D22, D26, D74)."""

from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.domain.idempotency import RETENTIONS_MS
from image_workflow_emulator.domain.intents import MAX_NAME, MAX_TEXT, fingerprint
from image_workflow_emulator.domain.problems import key_binding_codes
from image_workflow_emulator.drift.observations.base import Seen, by_outcome, meaning, texts
from image_workflow_emulator.drift.traffic import RecordedCall, Traffic
from image_workflow_emulator.web.operations import LIST_LAG_MS

_CREATED_BY: Final = {"completeUpload": "listAssets", "createProduct": "listProducts"}
"""By the call that creates something at once: the list that shows it."""


def page_limit(traffic: Traffic) -> Iterator[Seen]:
    """D02: a `limit` above the largest page is refused, or cut."""
    for call in traffic.whole():
        limit, known = call.query.get("limit", ""), call.operation and call.operation.query.get("limit")
        if known and limit.isdecimal() and int(limit[:9]) > known.maximum:
            yield Seen(by_outcome(call, "clamps", "plain", "invalid_request"), call)


def text_length(traffic: Traffic) -> Iterator[Seen]:
    """D04: long texts are taken, or refused."""
    for call in traffic.whole():
        if len(call.body.get("name", "")) > MAX_NAME or any(len(text) > MAX_TEXT for text in texts(call.body)):
            yield Seen(by_outcome(call, "plain", "short"), call)


def key_binding(traffic: Traffic) -> Iterator[Seen]:
    """D10: what a definite refusal does to its key, as its next use shows: with the same body, or with a corrected one."""
    for first, second in _repetitions(traffic):
        if first.code not in key_binding_codes("binds-refusals"):
            continue
        is_payment = first.code in key_binding_codes("plain")
        if second.request_body == first.request_body:
            is_bound = second.status == first.status and _is_replay(first, second)
            is_free = second.is_success or (second.code == first.code and _mark(second) != _mark(first))
        else:
            is_bound, is_free = second.code == "idempotency_key_reused", second.is_success
        if is_bound:
            yield Seen("plain" if is_payment else "binds-refusals", second, aspect=str(is_payment))
        elif is_free:
            yield Seen("releases" if is_payment else "plain", second, aspect=str(is_payment))


def key_retention(traffic: Traffic) -> Iterator[Seen]:
    """D12: a key that comes again a day later is new, or still known."""
    for first, second in _repetitions(traffic):
        if first.is_success and RETENTIONS_MS["plain"] <= second.at - first.at < RETENTIONS_MS["week"]:
            if second.code == "idempotency_key_reused" or _is_replay(first, second):
                yield Seen("week", second)
            elif second.is_success:
                yield Seen("plain", second)


def intent(traffic: Traffic) -> Iterator[Seen]:
    """D14: a body that means the same and is written in another way is the same request, or another."""
    for first, second in _repetitions(traffic):
        is_kept = first.is_success and second.at - first.at < RETENTIONS_MS["plain"]
        meant = meaning(first), meaning(second)
        if not is_kept or first.body == second.body or None in meant:
            continue
        if fingerprint(meant[0]) == fingerprint(meant[1]):
            if second.code == "idempotency_key_reused":
                yield Seen("as-sent", second)
            elif _is_replay(first, second):
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


def _is_replay(first: RecordedCall, second: RecordedCall) -> bool:
    """Whether the second answer is that of the first, by its Request-Id; by the id of what was made, if it has none."""
    return _mark(first) is not None and _mark(first) == _mark(second)


def _mark(call: RecordedCall) -> str | None:
    return call.response_headers.get("request-id") or call.answer.get("id")


# Lists and Products -----------------------------------------------------------------------------------------------------


def photo_order(traffic: Traffic) -> Iterator[Seen]:
    """D22: whether the photos of a Product come back in the order in which they were sent."""
    for call in traffic.whole("createProduct", "updateProduct"):
        sent = call.body.get("asset_ids")
        if call.is_success and sent is not None and sent != sorted(sent):
            yield Seen("plain" if call.answer.get("asset_ids") == sent else "unordered", call)


def last_page(traffic: Traffic) -> Iterator[Seen]:
    """D26: whether the last page has a cursor."""
    for call in traffic.whole():
        page = call.answer.get("page", {}) if call.operation and call.operation.kind == "list" else {}
        if page.get("has_more") is False:
            yield Seen("always-a-cursor" if page.get("next_cursor") else "plain", call)


def list_freshness(traffic: Traffic) -> Iterator[Seen]:
    """D74: whether a list that is read right after a write shows it."""
    created: list[tuple[RecordedCall, str]] = []
    for call in traffic.whole(*_CREATED_BY, *_CREATED_BY.values()):
        if call.is_coarse or not call.is_success:
            continue
        if call.name in _CREATED_BY:
            created += [(call, resource["id"]) for resource in call.resources if "id" in resource]
        elif not set(call.query) - {"limit"}:
            created = [(write, identifier) for write, identifier in created if call.at - write.at < LIST_LAG_MS]
            listed = {resource.get("id") for resource in call.resources}
            for write, identifier in created:
                if _CREATED_BY[write.name] == call.name:
                    yield from _freshness(call, identifier, listed)


def _freshness(call: RecordedCall, identifier: str, listed: set[object]) -> Iterator[Seen]:
    """A full page may not reach down to what was created; one that is not full shows everything there is."""
    if identifier in listed:
        yield Seen("plain", call)
    elif call.answer.get("page", {}).get("has_more") is False:
        yield Seen("lag", call)
