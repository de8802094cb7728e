"""Observations: what a recording shows of each decision, without an emulator.

One function for each decision that has readings, with the name of its field of `Readings`. It yields a piece of
evidence for each call that tells readings apart; the values that it compares with are those of the domain.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from image_workflow_emulator.domain import orders
from image_workflow_emulator.domain.idempotency import RETENTIONS_MS
from image_workflow_emulator.domain.intents import (
    MAX_NAME,
    MAX_TEXT,
    fingerprint,
    intent_of,
)
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.problems import (
    MENDED_BY_TIME,
    Problem,
    key_binding_codes,
)
from image_workflow_emulator.domain.readings import (
    NO_READINGS,
    Readings,
    parse_readings,
)
from image_workflow_emulator.drift.recordings import instant_of, leaves
from image_workflow_emulator.drift.traffic import (
    REDIRECTS,
    RecordedCall,
    RecordedWork,
    Traffic,
)
from image_workflow_emulator.examiner.facts import POLLS
from image_workflow_emulator.imaging.codecs import header_of
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service.resources.uploads import (
    SHORT_WINDOW_MS,
    UPLOAD_WINDOW_MS,
)
from image_workflow_emulator.web.lists import LIST_LAG_MS


class Seen(NamedTuple):
    """One piece of evidence."""

    fits: Collection[str] | None
    """The ids of the readings that explain it, `plain` included; empty if none does, None if all do: it is no
    evidence.
    """
    call: RecordedCall
    what: str = ""
    """What was observed, in words, for the case that no reading explains it."""


Evidence = Iterator[Seen]
_PHOTOGRAPHY: Final = "createProductPhotographyGeneration"
_DEFAULTS: Final = ("aspect_ratio", "resolution", "output_format")
"""The fields whose defaults differ by the reading of D33."""
_TIMESTAMP: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:?\d\d|)"
)
_CREATED_BY: Final = {"completeUpload": "listAssets", "createProduct": "listProducts"}
"""The list that shows a new resource, by the operation that creates it at once."""
_WINDOWS_MS: Final = {"plain": UPLOAD_WINDOW_MS, "short": SHORT_WINDOW_MS}
_TOLERANCE: Final = 0.25
"""How far a window may be off: the clocks of the service and of the client are not the same."""
_UNDECIDED: Final = MENDED_BY_TIME - {"resource_operation_in_progress"} | {
    "idempotency_key_reused"
}
"""Problems that say nothing of what becomes of a key."""
_KEPT: Final = {"image/jpeg": "jpeg", "image/png": "png", "image/gif": "png"}
"""The stored format of each source format that tells (D18): AVIF has two, and WebP is stored as WebP under each
reading."""


def _by_value(value: object, expected: Mapping[str, object]) -> Collection[str] | None:
    """Return the readings under which a value is expected; None if all expect it."""
    fitting = [reading for reading, one in expected.items() if one == value]
    return fitting if len(fitting) < len(expected) else None


def _by_outcome(
    call: RecordedCall, taken: str, refused: str, code: str = "invalid_input"
) -> Collection[str] | None:
    """Return one of two readings: under the one the call succeeds, under the other it is refused with a code."""
    return [taken] if call.is_success else [refused] if call.code == code else None


def _texts(value: Any) -> list[str]:
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


def _meaning(call: RecordedCall, readings: Readings = NO_READINGS) -> Any:
    """Return what the body of a call means under some readings: defaults apply; None if it breaks a rule."""
    if call.operation is None or call.operation.body is None or not call.body:
        return None
    try:
        return intent_of(call.operation.body, dict(call.body), readings)
    except Problem:
        return None


# How answers are written ----------------------------------------------------------------------------------------------


def poll_hint(traffic: Traffic) -> Evidence:
    """D42: whether a poll of unfinished work says when it changes, and whether that is true.

    A hint that is kept proves nothing of a service that gives others: half of one second is one second too.
    """
    for work in traffic.works.values():
        polls = [look for look in work.looks if look.call.name in POLLS]
        for (call, shown), (later, seen) in zip(
            polls, polls[1:] + polls[-1:], strict=True
        ):
            hint = call.response_headers.get("retry-after")
            if shown.get("status") in TERMINAL:
                break
            if hint is None:
                yield Seen(["no-hint"], call)
            elif (
                hint.isdecimal()
                and 0 < int(hint[:9]) * SECOND_MS <= later.at - call.at
                and not call.is_coarse
            ):
                is_kept = any(
                    seen.get(name) != shown.get(name)
                    for name in ("updated_at", "status")
                )
                yield Seen(["plain", "rough"] if is_kept else ["rough"], call)


def pause_hint(traffic: Traffic) -> Evidence:
    """D66: whether a 503 has a Retry-After."""
    for call in traffic.of():
        if call.status == 503 and call.code == "service_unavailable":
            yield Seen(
                ["plain" if "retry-after" in call.response_headers else "silent"], call
            )


def location(traffic: Traffic) -> Evidence:
    """D70: whether a Location is absolute."""
    for call in traffic.of():
        target = call.response_headers.get("location")
        if (
            target is not None
            and call.operation is not None
            and call.status in (201, 202)
        ):
            yield Seen(["plain" if "://" in target else "relative"], call)


def media_types(traffic: Traffic) -> Evidence:
    """D72: whether a media type has a parameter."""
    for call in traffic.of():
        found = call.response_headers.get("content-type", "").lower()
        media_type, _, parameters = found.partition(";")
        if call.operation is not None and media_type.strip() in (
            "application/json",
            "application/problem+json",
        ):
            fits = (
                ["charset"]
                if "charset" in parameters
                else []
                if parameters.strip()
                else ["plain"]
            )
            yield Seen(fits, call, f"Content-Type: {found}")


def timestamps(traffic: Traffic) -> Evidence:
    """D73: how a timestamp ends."""
    for call in traffic.whole():
        endings = {
            match[1]
            for text in _texts(call.answer)
            if (match := _TIMESTAMP.fullmatch(text))
        }
        for ending in sorted(endings):
            yield Seen(
                _by_value(ending, {"plain": "Z", "offset": "+00:00"}),
                call,
                f"a timestamp ends in {ending!r}",
            )


# Keys and texts -------------------------------------------------------------------------------------------------------


def page_limit(traffic: Traffic) -> Evidence:
    """D02: a `limit` above the largest page is refused, or cut."""
    for call in traffic.whole():
        limit, known = (
            call.query.get("limit", ""),
            call.operation and call.operation.query.get("limit"),
        )
        if known and limit.isdecimal() and int(limit[:9]) > known.maximum:
            yield Seen(_by_outcome(call, "clamps", "plain", "invalid_request"), call)


def text_length(traffic: Traffic) -> Evidence:
    """D04: long texts are taken, or refused."""
    for call in traffic.whole():
        if len(call.body.get("name", "")) > MAX_NAME or any(
            len(text) > MAX_TEXT for text in _texts(call.body)
        ):
            yield Seen(_by_outcome(call, "plain", "short"), call)


def key_binding(traffic: Traffic) -> Evidence:
    """D10: what a definite refusal does to its key, as its next use shows: with the same body, or with a
    corrected one.
    """
    readings = ("plain", "binds-refusals", "releases")
    for first, second in _repetitions(traffic):
        is_bound = {
            reading: first.code in key_binding_codes(reading) for reading in readings
        }
        is_known = _is_known(first, second)
        if (
            is_known
            or second.is_success
            or (second.code == first.code and _mark(second) != _mark(first))
        ):
            yield Seen(_by_value(is_known, is_bound) or None, second)


def key_retention(traffic: Traffic) -> Evidence:
    """D12: a key that comes again a day later is new, or still known."""
    for first, second in _repetitions(traffic):
        if (
            first.is_success
            and RETENTIONS_MS["plain"] <= second.at - first.at < RETENTIONS_MS["week"]
        ):
            yield Seen(
                ["week"]
                if _is_known(first, second)
                else ["plain"]
                if second.is_success
                else None,
                second,
            )


def intent(traffic: Traffic) -> Evidence:
    """D14: a body that means the same and is written in another way is the same request, or another."""
    for first, second in _repetitions(traffic):
        meant = [_meaning(first), _meaning(second)]
        is_kept = first.is_success and second.at - first.at < RETENTIONS_MS["plain"]
        is_rewritten = (
            first.body != second.body
            and None not in meant
            and len(set(map(fingerprint, meant))) == 1
        )
        if is_kept and is_rewritten and _is_known(first, second):
            yield Seen(["plain" if second.is_success else "as-sent"], second)


def _repetitions(traffic: Traffic) -> Iterator[tuple[RecordedCall, RecordedCall]]:
    """Iterate over the calls that use a key again at the same address, each with the first call that had it."""
    first: dict[object, RecordedCall] = {}
    for call in traffic.whole():
        if call.key and call.operation:
            place = (
                call.request_headers.get("authorization"),
                call.method,
                call.url,
                call.key,
            )
            if place in first:
                yield first[place], call
            elif call.code not in _UNDECIDED:
                first[place] = call


def _is_known(first: RecordedCall, second: RecordedCall) -> bool:
    """Whether the service knew the key: it refused another body, or sent its first answer again.

    That is told by the Request-Id, or by the id of what was made, where there is none.
    """
    is_replay = _mark(first) is not None and _mark(first) == _mark(second)
    return second.code == "idempotency_key_reused" or is_replay


def _mark(call: RecordedCall) -> str | None:
    return call.response_headers.get("request-id") or call.answer.get("id")


# Lists and Products ---------------------------------------------------------------------------------------------------


def photo_order(traffic: Traffic) -> Evidence:
    """D22: whether the photos of a Product come back in the order in which they were sent, or in that of their ids."""
    for call in traffic.whole("createProduct", "updateProduct"):
        sent, shown = call.body.get("asset_ids"), call.answer.get("asset_ids")
        if sent is not None and shown is not None:
            fits = _by_value(shown, {"plain": sent, "unordered": sorted(sent)})
            yield Seen(fits, call, "photos came back that were not sent")


def last_page(traffic: Traffic) -> Evidence:
    """D26: whether the last page has a cursor."""
    for call in traffic.whole():
        page = call.answer.get("page", {})
        if page.get("has_more") is False:
            yield Seen(
                ["always-a-cursor" if page.get("next_cursor") else "plain"], call
            )


def list_freshness(traffic: Traffic) -> Evidence:
    """D74: whether a list that is read right after a write shows it."""
    created: list[tuple[RecordedCall, str]] = []
    for call in traffic.whole(*_CREATED_BY, *_CREATED_BY.values()):
        if call.name in _CREATED_BY:
            created += [
                (call, resource["id"])
                for resource in call.resources
                if "id" in resource
            ]
        elif not call.is_coarse and not call.query.keys() - {"limit"}:
            listed = {resource.get("id") for resource in call.resources}
            is_whole = (
                call.answer.get("page", {}).get("has_more") is False
            )  # a full page may not reach down to it
            for write, identifier in created:
                is_of_list = (
                    _CREATED_BY[write.name] == call.name
                    and call.at - write.at < LIST_LAG_MS
                )
                if is_of_list and (identifier in listed or is_whole):
                    yield Seen(["plain" if identifier in listed else "lag"], call)


# Uploads and files ----------------------------------------------------------------------------------------------------


def upload_session(traffic: Traffic) -> Evidence:
    """D15: how long a signed address takes bytes."""
    for call in traffic.whole("createUpload"):
        until = instant_of(call.answer.get("upload", {}).get("expires_at"))
        if call.is_timed and until is not None:
            window = until - call.at
            near = [
                name
                for name, span in _WINDOWS_MS.items()
                if abs(window - span) <= span * _TOLERANCE
            ]
            yield Seen(near, call, f"a window of {round(window / SECOND_MS)} s")


def upload_status(traffic: Traffic) -> Evidence:
    """D16: the status that answers accepted bytes."""
    for call in traffic.of("upload"):
        if call.is_success:
            yield Seen(
                _by_value(call.status, {"plain": 200, "created": 201}),
                call,
                f"status {call.status}",
            )


def stored_format(traffic: Traffic) -> Evidence:
    """D18: whether a photo keeps its format."""
    for call, session in _completions(traffic):
        content_type = str(session.body.get("content_type"))
        kept, found = _KEPT.get(content_type), call.answer.get("format")
        if call.is_success and kept is not None and found is not None:
            yield Seen(
                _by_value(found, {"plain": kept, "webp": "webp"}),
                call,
                f"{content_type} became {found}",
            )


def file_delivery(traffic: Traffic) -> Evidence:
    """D19: whether a file is answered itself, or by a redirect."""
    targets = {call.response_headers.get("location") for call in traffic.of("download")}
    for call in traffic.of("download"):
        if (
            call.status in (200, 206, 304, *REDIRECTS) and call.url not in targets
        ):  # no redirect led here
            yield Seen(["redirects" if call.status in REDIRECTS else "plain"], call)


def picture_limit(traffic: Traffic) -> Evidence:
    """D57: whether a large photo is taken."""
    for call, session in _completions(traffic):
        shown = call.answer.get("width", 0), call.answer.get("height", 0)
        if orders.is_above_small_limit(
            *(shown if call.is_success else _sent_size(traffic, session))
        ):
            yield Seen(_by_outcome(call, "plain", "small"), call)


def _completions(traffic: Traffic) -> Iterator[tuple[RecordedCall, RecordedCall]]:
    """Iterate over the calls that complete an upload, each with the call that opened it."""
    for call in traffic.whole("completeUpload"):
        if (session := traffic.uploads.get(call.parameters["upload_id"])) is not None:
            yield call, session


def _sent_size(traffic: Traffic, session: RecordedCall) -> tuple[int, int]:
    """Return the width and height in pixels of a photo that was sent; 0 where the recording does not have its bytes."""
    sent = (
        call.request_body
        for call in traffic.of("upload")
        if traffic.uploads.get(call.url) is session
    )
    header = header_of(next(sent, None) or b"")
    return header[1:] if header else (0, 0)


# Operations and Generations -------------------------------------------------------------------------------------------


def target(traffic: Traffic) -> Evidence:
    """D27: whether the admission of a create names its target."""
    for call, work in traffic.admissions():
        shown = work.looks[0].shown
        if (
            work.kind.endswith(".create")
            and "target" in shown
            and shown.get("status") not in TERMINAL
        ):
            yield Seen(["plain" if shown["target"] is None else "target-at-once"], call)


def first_status(traffic: Traffic) -> Evidence:
    """D71: the status in the admission."""
    for call, work in traffic.admissions():
        if "status" in work.looks[0].shown:
            yield Seen(
                ["plain" if work.looks[0].shown["status"] == "queued" else "skips"],
                call,
            )


def error_members(traffic: Traffic) -> Evidence:
    """D31: whether all members of an error are there."""
    for work in traffic.works.values():
        for look in work.looks:
            for holder in (look.shown, *look.outputs):
                error = holder.get("error")
                if error is not None and holder.get("status") == "failed":
                    has_nulls = None in map(error.get, ("code", "message", "retryable"))
                    yield Seen(["nulls" if has_nulls else "plain"], look.call)


def subject_cap(traffic: Traffic) -> Evidence:
    """D32: what becomes of more subjects than one Generation takes."""
    for call in traffic.whole(_PHOTOGRAPHY):
        loose = call.body.get("asset_ids", [])
        products = [
            _photos(traffic, call, product)
            for product in call.body.get("product_ids", ())
        ]
        asked = {*loose, *(photo for _, photos in products for photo in photos)}
        if len(asked) > orders.PACKED_PHOTOS and all(photos for _, photos in products):
            packed = orders.pack(products, loose)
            admitted = tuple(call.answer.get("resolved_asset_ids") or packed)
            fits = _by_outcome(call, "plain", "refuses") if admitted == packed else []
            yield Seen(fits, call, f"{len(asked)} subjects became {list(admitted)}")


def _photos(
    traffic: Traffic, call: RecordedCall, product: str
) -> tuple[str, Sequence[str]]:
    """Return the primary photo and all photos of a Product as last shown before a call; none where they are unknown."""
    looks = traffic.shown.get(("product", product), ())
    shown = [
        found
        for look, found in looks
        if look.number < call.number and "asset_ids" in found
    ]
    return (
        (str(shown[-1].get("primary_asset_id")), shown[-1]["asset_ids"])
        if shown
        else ("", ())
    )


def defaults(traffic: Traffic) -> Evidence:
    """D33: what stands in for fields that were not sent."""
    readings = ("plain", "required", "other-defaults", "count-ignored")
    for call in traffic.whole(_PHOTOGRAPHY):
        meant = {
            reading: _meaning(call, parse_readings(f"D33={reading}"))
            for reading in readings
        }
        echo: Any = call.answer.get("request")
        filled = [
            name
            for name in _DEFAULTS
            if name not in call.body and isinstance(echo, dict) and name in echo
        ]
        fits: Collection[str] | None = None
        if call.code == "invalid_input":
            fits = _by_value(None, meant)
        elif call.is_success:
            explains = {
                reading: meaning is not None
                and all(meaning[name] == echo[name] for name in filled)
                for reading, meaning in meant.items()
            }
            fits = _by_value(True, explains)
        yield Seen(fits or None, call)


def pixel_sizes(traffic: Traffic) -> Evidence:
    """D35: the size of finished outputs."""
    for call, work in traffic.admissions():
        ratio, resolution = (
            call.body.get("aspect_ratio", ""),
            call.body.get("resolution", ""),
        )
        for output in work.last.outputs if ratio and resolution else ():
            sizes = {
                reading: orders.output_size(ratio, resolution, reading)
                for reading in ("plain", "megapixels")
            }
            for look, asset in traffic.shown.get(
                ("asset", (output.get("asset") or {}).get("id", "")), ()
            )[:1]:
                size = asset.get("width"), asset.get("height")
                yield Seen(
                    _by_value(size, sizes),
                    look,
                    f"{ratio} at {resolution} became {size[0]} x {size[1]}",
                )


def partial_charge(traffic: Traffic) -> Evidence:
    """D37: what a photoshoot costs of which a part failed."""
    for call, work in traffic.admissions():
        charged, finished = work.credits("charged"), work.finished_by
        completed = sum(
            output.get("status") == "completed" for output in work.last.outputs
        )
        is_partial = (
            call.body.get("output_mode") == "photoshoot"
            and 0 < completed < orders.PHOTOSHOOT_SLOTS
        )
        if is_partial and charged is not None and finished is not None:
            cost = orders.PHOTOSHOOT_CREDITS, completed, orders.PHOTOSHOOT_SLOTS
            charges = {
                reading: orders.generation_charge(*cost, reading)
                for reading in ("plain", "down", "whole")
            }
            yield Seen(_by_value(charged, charges) or None, finished)


def slot_order(traffic: Traffic) -> Evidence:
    """D76: whether the slots of a Generation finish one after another, from the first on."""
    for work in traffic.works.values():
        for look in work.looks:
            done = [output.get("status") in TERMINAL for output in look.outputs]
            if any(done) and not all(done):
                yield Seen(
                    ["plain" if done == sorted(done, reverse=True) else "shuffled"],
                    look.call,
                )


# Credits and the budget -----------------------------------------------------------------------------------------------


def team_credits(traffic: Traffic) -> Evidence:
    """D29: whether a Team's Credits fall with a reservation, or only when they are charged."""
    reads = [call for call in traffic.whole("getTeam") if "credits" in call.answer]
    for earlier, later in pairwise(reads):
        before, after = _account(traffic, earlier), _account(traffic, later)
        change = earlier.answer["credits"] - later.answer["credits"]
        if before is not None and after is not None:
            spent = {reading: after[reading] - before[reading] for reading in before}
            if change >= min(0, *spent.values()):  # else somebody added Credits
                what = (
                    f"{change} Credits were taken where {spent['plain']} were expected"
                )
                yield Seen(_by_value(change, spent), later, what)


def _account(traffic: Traffic, call: RecordedCall) -> dict[str, int] | None:
    """Return the Credits taken until a call was made, by reading; None if the recording does not tell."""
    taken = {"plain": 0, "gross": 0}
    for work in traffic.works.values():
        stage = _stage(work, call)
        amount = (
            0
            if stage == "before"
            else work.credits("reserved" if stage == "open" else "charged")
        )
        if stage is None or amount is None:
            return None
        taken["plain"] += amount
        taken["gross"] += amount if stage == "finished" else 0
    return taken


def _stage(work: RecordedWork, call: RecordedCall) -> str | None:
    """Return where a work was in its life when a call was made: before, open or finished; None if it is not certain."""
    first, finished = work.looks[0].call, work.finished_by
    if finished is not None and (
        call.number >= finished.number or (finished is first and work.admission is None)
    ):
        return "finished"
    if work.admission is None or call.number < first.number:
        return None if work.admission is None else "before"
    is_open = any(
        shown.get("status") not in TERMINAL and look.number >= call.number
        for look, shown in work.looks
    )
    return "open" if is_open else None


def concurrency_unit(traffic: Traffic) -> Evidence:
    """D40: whether the budget counts works, or their open outputs."""
    for call in traffic.whole("getTeam"):
        used = (
            call.answer.get("capabilities", {}).get("api_concurrency", {}).get("used")
        )
        stages = [(work, _stage(work, call)) for work in traffic.works.values()]
        running = [work for work, stage in stages if stage == "open"]
        slots = sum(max(1, len(work.last.outputs)) for work in running)
        if (
            used is not None
            and slots > len(running)
            and not any(stage is None for _, stage in stages)
        ):
            fits = (
                ["plain"]
                if used == len(running)
                else ["by-output"]
                if len(running) < used <= slots
                else []
            )
            yield Seen(
                fits,
                call,
                f"{used} places used by {len(running)} works with {slots} outputs",
            )
