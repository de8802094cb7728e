"""Observations of requests: pages, texts and Idempotency-Keys (D02, D04, D10, D12, D14)."""

from collections.abc import Iterator
from typing import Final

from emulator.domain.idempotency import RETENTION_MS
from emulator.traffic.calls import RecordedCall, Traffic
from emulator.traffic.observations.base import Seen, meaning, texts

MAX_PAGE: Final = 100
MAX_NAME: Final = 100
MAX_TEXT: Final = 2_000
"""The lengths beyond which D04=short refuses a name and any other text, in code points."""
_DEFINITE: Final = ("insufficient_credits", "not_found", "asset_not_found", "product_not_found", "invalid_reference")
_WEEK_MS: Final = 7 * RETENTION_MS


def page_limit(traffic: Traffic) -> Iterator[Seen]:
    """D02: a `limit` above the largest page is refused, or cut."""
    for call in traffic.whole():
        limit = call.query.get("limit", "")
        if call.operation and call.operation.method == "GET" and limit.isdecimal() and int(limit) > MAX_PAGE:
            if call.is_success:
                yield Seen("clamps", call)
            elif call.code == "invalid_request":
                yield Seen("plain", call)


def text_length(traffic: Traffic) -> Iterator[Seen]:
    """D04: long texts are taken, or refused."""
    for call in traffic.whole():
        name = call.body.get("name")
        is_long = isinstance(name, str) and len(name) > MAX_NAME
        if is_long or any(len(text) > MAX_TEXT for text in texts(call.body)):
            if call.is_success:
                yield Seen("plain", call)
            elif call.code == "invalid_input":
                yield Seen("short", call)


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
    from emulator.domain.intents import fingerprint

    assert first.operation is not None
    meant = meaning(first.operation.body, first.body), meaning(first.operation.body, second.body)
    return None not in meant and fingerprint(meant[0]) == fingerprint(meant[1])
