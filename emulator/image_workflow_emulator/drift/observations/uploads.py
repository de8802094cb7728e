"""Observations of uploads and files (D15, D16, D18, D19, D57)."""

from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.domain.pixels import is_above_small_limit
from image_workflow_emulator.drift.exchanges import instant_of
from image_workflow_emulator.drift.observations.base import NEITHER, Seen
from image_workflow_emulator.drift.traffic import REDIRECTS, RecordedCall, RecordedUpload, Traffic
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.service.resources.uploads import SHORT_WINDOW_MS, UPLOAD_WINDOW_MS

_WINDOWS_MS: Final = {"plain": UPLOAD_WINDOW_MS, "short": SHORT_WINDOW_MS}
_TOLERANCE: Final = 0.25
"""How far a window may be off: the clocks of the service and of the client are not the same."""
_KEPT: Final = {"image/jpeg": "jpeg", "image/png": "png", "image/gif": "png"}
"""The stored format of each source format that tells (D18): AVIF has two, and WebP is that under each reading."""


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
        if call.status in (200, 206, 304):
            if call.url not in targets:  # no redirect led here
                yield Seen("plain", call)
        elif call.status in REDIRECTS:
            yield Seen("redirects", call)


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
