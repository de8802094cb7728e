"""Observations of uploads and files (D15, D16, D18, D19, D57)."""

from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.domain.pixels import is_above_small_limit
from image_workflow_emulator.drift.calls import REDIRECTS, RecordedCall, Traffic
from image_workflow_emulator.drift.observations.base import NEITHER, Seen
from image_workflow_emulator.kernel.timestamps import MINUTE_MS, SECOND_MS, parse_timestamp

WINDOWS_MS: Final = {"plain": 15 * MINUTE_MS, "short": 60 * SECOND_MS}
_TOLERANCE: Final = 0.25
"""How far a window may be off: the clocks of the service and of the client are not the same."""
_KEPT: Final = {"image/jpeg": "jpeg", "image/png": "png", "image/webp": "webp", "image/gif": "png"}
"""The stored format of each source format that has one (D18); AVIF has two."""


def upload_session(traffic: Traffic) -> Iterator[Seen]:
    """D15: how long a signed address takes bytes."""
    for call in traffic.whole("createUpload"):
        window_ms = _window_ms(traffic, call) if call.status == 201 else None
        if window_ms is None:
            continue
        near = [name for name, span in WINDOWS_MS.items() if abs(window_ms - span) <= span * _TOLERANCE]
        yield Seen(near[0] if near else NEITHER, call, f"a window of {round(window_ms / SECOND_MS)} s")


def _window_ms(traffic: Traffic, call: RecordedCall) -> int | None:
    """Return how long after its creation a session ends."""
    now = traffic.service_time(call)
    try:
        return None if now is None else parse_timestamp(call.answer["upload"]["expires_at"]) - now
    except (KeyError, TypeError, ValueError):
        return None


def upload_status(traffic: Traffic) -> Iterator[Seen]:
    """D16: the status that answers accepted bytes."""
    for call in traffic.of("upload"):
        if call.is_success:
            yield Seen({200: "plain", 201: "created"}.get(call.status or 0, NEITHER), call, f"status {call.status}")


def stored_format(traffic: Traffic) -> Iterator[Seen]:
    """D18: whether a photo keeps its format."""
    for call in traffic.whole("completeUpload"):
        upload = traffic.uploads.get(call.parameters["upload_id"])
        content_type = upload.session.body.get("content_type") if upload else None
        kept = _KEPT.get(str(content_type))
        if call.status == 201 and kept is not None and kept != "webp":
            found = call.answer.get("format")
            yield Seen({kept: "plain", "webp": "webp"}.get(str(found), NEITHER), call, f"{content_type} became {found}")


def file_delivery(traffic: Traffic) -> Iterator[Seen]:
    """D19: whether a file is answered itself, or by a redirect."""
    targets = {call.response_headers.get("location") for call in traffic.of("download")}
    for call in traffic.of("download"):
        if call.status in (200, 206, 304):
            if call.url not in targets:  # no redirect led here
                yield Seen("plain", call)
        elif call.status in REDIRECTS:
            yield Seen("redirects", call)


def picture_limit(traffic: Traffic) -> Iterator[Seen]:
    """D57: whether a large photo is taken."""
    for call in traffic.whole("completeUpload"):
        if call.status == 201:
            width, height = call.answer.get("width"), call.answer.get("height")
            if isinstance(width, int) and isinstance(height, int) and is_above_small_limit(width, height):
                yield Seen("plain", call)
        elif call.code == "invalid_input":
            size = _sent_size(traffic, call)
            if size is not None and is_above_small_limit(*size):
                yield Seen("small", call)


def _sent_size(traffic: Traffic, completion: RecordedCall) -> tuple[int, int] | None:
    """Return the pixel size of the photo that was sent, where the recording has its bytes or their description."""
    from image_workflow_emulator.drift.pictures import picture_size

    upload = traffic.uploads.get(completion.parameters["upload_id"])
    return picture_size(upload.sent[0].request_body) if upload and upload.sent else None
