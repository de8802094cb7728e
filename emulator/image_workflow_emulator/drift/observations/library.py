"""Lists, Products, uploads and files (D15, D16, D18, D19, D22, D26, D57, D74)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from image_workflow_emulator.domain import orders
from image_workflow_emulator.drift.json_values import instant_of
from image_workflow_emulator.drift.observations.observation import (
    Fits,
    Observation,
    Observations,
    fits_outcome,
    fits_value,
    plain_if,
)
from image_workflow_emulator.drift.traffic import REDIRECTS, RecordedCall, Traffic
from image_workflow_emulator.imaging.codecs import header_of
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service.resources.uploads import (
    SHORT_WINDOW_MS,
    UPLOAD_WINDOW_MS,
)
from image_workflow_emulator.web.lists import LIST_LAG_MS

_LIST_OF_CREATED: Final = {
    "completeUpload": "listAssets",
    "createProduct": "listProducts",
}
"""The list that shows a new resource, by the operation that creates it at once."""
_WINDOWS_MS: Final = {
    "plain": UPLOAD_WINDOW_MS,
    "short": SHORT_WINDOW_MS,
}
_TOLERANCE: Final = 0.25
"""How far a window may be off: the clocks of service and client differ."""
_STORED_FORMATS: Final = {
    "image/jpeg": "jpeg",
    "image/png": "png",
    "image/gif": "png",
}
"""The plain reading's format for each media type that tells the readings apart (D18).

AVIF may become one of two, and WebP is stored as WebP under each reading.
"""
_UPLOAD_STATUSES: Final = {
    "plain": 200,
    "created": 201,
}
"""By reading."""
_FILE_STATUSES: Final = (200, 206, 304, *REDIRECTS)


def photo_order(traffic: Traffic) -> Observations:
    """D22: whether the photos of a Product come back in the order that was sent, or in
    that of their ids.
    """
    for call in traffic.whole("createProduct", "updateProduct"):
        sent = call.body.get("asset_ids")
        answered = call.answer.get("asset_ids")
        if sent is not None and answered is not None:
            expected = {
                "plain": sent,
                "unordered": sorted(sent),
            }
            fits = fits_value(answered, expected)
            yield Observation(fits, call, "photos came back that were not sent")


def last_page(traffic: Traffic) -> Observations:
    """D26: whether the last page has a cursor."""
    for call in traffic.whole():
        if call.page.get("has_more") is False:
            has_no_cursor = not call.page.get("next_cursor")
            yield Observation(plain_if(has_no_cursor, "always-a-cursor"), call)


class _Created(NamedTuple):
    """A resource that a call created at once."""

    call: RecordedCall
    id: str


def list_freshness(traffic: Traffic) -> Observations:
    """D74: whether a list that is read right after a write shows it."""
    created: list[_Created] = []
    for call in traffic.whole(*_LIST_OF_CREATED, *_LIST_OF_CREATED.values()):
        if call.name in _LIST_OF_CREATED:
            resources = [resource for resource in call.resources if "id" in resource]
            created += [_Created(call, resource["id"]) for resource in resources]
        elif _tells_time(call) and call.query.keys() <= {"limit"}:
            yield from _freshness(call, created)


def _tells_time(call: RecordedCall) -> bool:
    return call.is_timed and not call.is_coarse


def _freshness(list_call: RecordedCall, created: list[_Created]) -> Observations:
    """Look in a first page for what was created shortly before."""
    listed = {resource.get("id") for resource in list_call.resources}
    has_all = list_call.page.get("has_more") is False
    for write, identifier in reversed(created):
        if list_call.at - write.at >= LIST_LAG_MS:
            return
        if _LIST_OF_CREATED[write.name] != list_call.name:
            continue
        if identifier in listed:
            yield Observation(["plain"], list_call)
        elif has_all:  # else it may be on a further page
            yield Observation(["lag"], list_call)


def upload_session(traffic: Traffic) -> Observations:
    """D15: how long a signed address accepts bytes."""
    for call in traffic.whole("createUpload"):
        upload = call.answer.get("upload", {})
        expires_at = instant_of(upload.get("expires_at"))
        if call.is_timed and expires_at is not None:
            window_ms = expires_at - call.at
            seconds = round(window_ms / SECOND_MS)
            yield Observation(
                _fits_window(window_ms),
                call,
                description=f"a window of {seconds} s",
            )


def _fits_window(window_ms: int) -> Fits:
    """Return the readings whose window this nearly is."""
    fits = []
    for reading, expected_ms in _WINDOWS_MS.items():
        tolerance_ms = expected_ms * _TOLERANCE
        if abs(window_ms - expected_ms) <= tolerance_ms:
            fits.append(reading)
    return fits


def upload_status(traffic: Traffic) -> Observations:
    """D16: the status that answers accepted bytes."""
    for call in traffic.of("upload"):
        if call.is_success:
            fits = fits_value(call.status, _UPLOAD_STATUSES)
            yield Observation(fits, call, f"status {call.status}")


def stored_format(traffic: Traffic) -> Observations:
    """D18: whether a photo keeps its format."""
    for call, session in _completions(traffic):
        content_type = str(session.body.get("content_type"))
        kept = _STORED_FORMATS.get(content_type)
        stored = call.answer.get("format")
        if call.is_success and kept is not None and stored is not None:
            expected = {"plain": kept, "webp": "webp"}
            fits = fits_value(stored, expected)
            yield Observation(fits, call, f"{content_type} became {stored}")


def file_delivery(traffic: Traffic) -> Observations:
    """D19: whether an Asset's address answers with the file, or with a redirect."""
    downloads = list(traffic.of("download"))
    targets = {call.response_headers.get("location") for call in downloads}
    for call in downloads:
        if call.status in _FILE_STATUSES and call.url not in targets:
            is_file = call.status not in REDIRECTS
            yield Observation(plain_if(is_file, "redirects"), call)


def picture_limit(traffic: Traffic) -> Observations:
    """D57: whether a large photo is accepted."""
    sent_sizes = _sent_sizes(traffic)
    for call, session in _completions(traffic):
        width, height = sent_sizes.get(session.number, (0, 0))
        if call.is_success:
            width = call.answer.get("width", 0)
            height = call.answer.get("height", 0)
        if orders.is_above_small_limit(width, height):
            yield Observation(fits_outcome(call, "plain", "small"), call)


def _completions(traffic: Traffic) -> Iterator[tuple[RecordedCall, RecordedCall]]:
    """Iterate over the calls that complete an upload, each with the call that opened it."""
    for call in traffic.whole("completeUpload"):
        session = traffic.uploads.get(call.parameters["upload_id"])
        if session is not None:
            yield call, session


def _sent_sizes(traffic: Traffic) -> dict[int, tuple[int, int]]:
    """Return width and height in pixels of the photos whose bytes were recorded, by the
    number of the call that opened the session.
    """
    sizes: dict[int, tuple[int, int]] = {}
    for call in traffic.of("upload"):
        session = traffic.uploads.get(call.url)
        header = header_of(call.request_body or b"")
        if session is not None and header is not None:
            sizes[session.number] = header.width, header.height
    return sizes
