"""Observations of single calls: how answers are written, keys, lists, Products, uploads and files.

D02, D04, D10, D12, D14 to D16, D18, D19, D22, D26, D42, D57, D66, D70, D72 to D74.
"""

import re
from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.domain.idempotency import RETENTIONS_MS
from image_workflow_emulator.domain.intents import MAX_NAME, MAX_TEXT, fingerprint
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.pixels import is_above_small_limit
from image_workflow_emulator.domain.problems import key_binding_codes
from image_workflow_emulator.drift.exchanges import instant_of
from image_workflow_emulator.drift.observations.base import NEITHER, UNTOLD, Seen, by_outcome, meaning, texts
from image_workflow_emulator.drift.traffic import REDIRECTS, Look, RecordedCall, RecordedUpload, RecordedWork, Traffic
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service.resources.uploads import SHORT_WINDOW_MS, UPLOAD_WINDOW_MS
from image_workflow_emulator.web.operations import LIST_LAG_MS

_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:?\d\d|)")
_CREATED_BY: Final = {"completeUpload": "listAssets", "createProduct": "listProducts"}
"""By the call that creates something at once: the list that shows it."""
_WINDOWS_MS: Final = {"plain": UPLOAD_WINDOW_MS, "short": SHORT_WINDOW_MS}
_TOLERANCE: Final = 0.25
"""How far a window may be off: the clocks of the service and of the client are not the same."""
_KEPT: Final = {"image/jpeg": "jpeg", "image/png": "png", "image/gif": "png"}
"""The stored format of each source format that tells (D18): AVIF has two, and WebP is that under each reading."""


def poll_hint(traffic: Traffic) -> Iterator[Seen]:
    """D42: whether a poll of unfinished work says when it changes, and whether that is true.

    A hint that is kept proves nothing of a service that gives others: half of one second is one second too.
    """
    found = [seen for work in traffic.works.values() for seen in _hints(work)]
    is_rough = any(seen.reading == "rough" for seen in found)
    yield from (seen for seen in found if not (is_rough and seen.reading == "plain"))


def _hints(work: RecordedWork) -> Iterator[Seen]:
    looks = [look for look in work.looks if look.call.name in ("getOperation", "getGeneration")]
    for index, (call, shown) in enumerate(looks):
        if shown.get("status") in TERMINAL:
            return
        hint = call.response_headers.get("retry-after")
        if hint is None:
            yield Seen("no-hint", call)
        elif hint.isdecimal() and len(hint) < 10 and not call.is_coarse:
            yield Seen(_promise_kept(looks[index:], int(hint)), call)


def _promise_kept(looks: list[Look], hint: int) -> str:
    """Return the reading by which the next look after the hint of the first shows a change, or shows none.

    A clock that skips waits asks for 0 seconds, and tells nothing.
    """
    call, shown = looks[0]
    for later, seen in looks[1:]:
        if later.at >= call.at + hint * SECOND_MS and hint > 0:
            is_changed = any(seen.get(name) != shown.get(name) for name in ("updated_at", "status"))
            return "plain" if is_changed else "rough"
        if seen.get("updated_at") != shown.get("updated_at"):
            break  # it changed in between: perhaps the next step of several
    return UNTOLD


def pause_hint(traffic: Traffic) -> Iterator[Seen]:
    """D66: whether a 503 has a Retry-After."""
    for call in traffic.calls:
        if call.status == 503 and call.code == "service_unavailable":
            yield Seen("plain" if "retry-after" in call.response_headers else "silent", call)


def location(traffic: Traffic) -> Iterator[Seen]:
    """D70: whether a Location is absolute."""
    for call in traffic.calls:
        target = call.response_headers.get("location")
        if target is not None and call.operation is not None and call.status in (201, 202):
            yield Seen("plain" if "://" in target else "relative", call)


def media_types(traffic: Traffic) -> Iterator[Seen]:
    """D72: whether a media type has a parameter."""
    for call in traffic.calls:
        found = call.response_headers.get("content-type", "")
        media_type, _, parameters = found.partition(";")
        if call.operation is None or media_type.strip().lower() not in ("application/json", "application/problem+json"):
            continue
        reading = "plain" if not parameters.strip() else "charset" if "charset" in parameters.lower() else NEITHER
        yield Seen(reading, call, f"Content-Type: {found}")


def timestamps(traffic: Traffic) -> Iterator[Seen]:
    """D73: how a timestamp ends."""
    for call in traffic.whole():
        if call.operation is None or not call.is_success:
            continue
        endings = {match[1] for text in texts(call.answer) if (match := _TIMESTAMP.fullmatch(text))}
        for ending in sorted(endings):
            yield Seen({"Z": "plain", "+00:00": "offset"}.get(ending, NEITHER), call, f"a timestamp ends in {ending!r}")


# Keys and texts -------------------------------------------------------------------------------------------------------


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
            listed = {resource.get("id") for resource in call.resources}
            is_whole = call.answer.get("page", {}).get("has_more") is False  # a full page may not reach down to it
            for write, identifier in created:
                is_of_list = _CREATED_BY[write.name] == call.name and call.at - write.at < LIST_LAG_MS
                if is_of_list and (identifier in listed or is_whole):
                    yield Seen("plain" if identifier in listed else "lag", call)


# Uploads and files ----------------------------------------------------------------------------------------------------


def upload_session(traffic: Traffic) -> Iterator[Seen]:
    """D15: how long a signed address takes bytes."""
    for call in traffic.whole("createUpload"):
        now, until = traffic.service_time(call), instant_of(call.answer.get("upload", {}).get("expires_at"))
        if now is not None and until is not None:
            near = [name for name, span in _WINDOWS_MS.items() if abs(until - now - span) <= span * _TOLERANCE]
            yield Seen(near[0] if near else NEITHER, call, f"a window of {round((until - now) / SECOND_MS)} s")


def upload_status(traffic: Traffic) -> Iterator[Seen]:
    """D16: the status that answers accepted bytes."""
    for call in traffic.of("upload"):
        if call.is_success:
            yield Seen({200: "plain", 201: "created"}.get(call.status or 0, NEITHER), call, f"status {call.status}")


def stored_format(traffic: Traffic) -> Iterator[Seen]:
    """D18: whether a photo keeps its format."""
    for call, upload in _completions(traffic):
        content_type = str(upload.session.body.get("content_type"))
        kept, found = _KEPT.get(content_type), call.answer.get("format")
        if call.is_success and kept is not None and found is not None:
            yield Seen({kept: "plain", "webp": "webp"}.get(found, NEITHER), call, f"{content_type} became {found}")


def file_delivery(traffic: Traffic) -> Iterator[Seen]:
    """D19: whether a file is answered itself, or by a redirect."""
    targets = {call.response_headers.get("location") for call in traffic.of("download")}
    for call in traffic.of("download"):
        if call.status in REDIRECTS:
            yield Seen("redirects", call)
        elif call.status in (200, 206, 304) and call.url not in targets:  # no redirect led here
            yield Seen("plain", call)


def picture_limit(traffic: Traffic) -> Iterator[Seen]:
    """D57: whether a large photo is taken."""
    for call, upload in _completions(traffic):
        if call.is_success:
            width, height = call.answer.get("width", 0), call.answer.get("height", 0)
        else:
            width, height = sent_size(upload) if call.code == "invalid_input" else (0, 0)
        if is_above_small_limit(width, height):
            yield Seen("plain" if call.is_success else "small", call)


def _completions(traffic: Traffic) -> Iterator[tuple[RecordedCall, RecordedUpload]]:
    """Iterate over the calls that complete an upload, each with that upload."""
    for call in traffic.whole("completeUpload"):
        upload = traffic.uploads.get(call.parameters["upload_id"])
        if upload is not None:
            yield call, upload


def sent_size(upload: RecordedUpload) -> tuple[int, int]:
    """Return the width and height in pixels of a photo that was sent; 0 where the recording does not have its bytes."""
    from image_workflow_emulator.imaging.decoding import header_of

    header = header_of(upload.sent[0].request_body or b"") if upload.sent else None
    return header[1:] if header else (0, 0)
