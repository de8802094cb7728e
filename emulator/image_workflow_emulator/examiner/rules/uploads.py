"""Rules about Upload Sessions: in time, and completed."""

from collections.abc import Iterable
from typing import Final

from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.request import Request, Requests, Upload
from image_workflow_emulator.examiner.rules.rule import (
    KEPT,
    ConductRule,
    Verdicts,
    breach,
)
from image_workflow_emulator.examiner.sequences import grouped


def upload_after_window(history: History) -> Verdicts:
    """Bytes or their completion come after the window of the Upload Session.

    The service says so, 410 upload_expired; the rule is broken if the request itself
    came after upload.expires_at. A request that came in time and was delayed, its
    repetition, and one that a scenario answered do not count. Such a session is not
    reported as abandoned as well.
    """
    in_time: set[tuple[str, str | None]] = set()
    for request in history.requests:
        if request.operation == "createUpload":
            continue
        upload = history.upload_of(request)
        if upload is None:
            continue
        step = (upload.id, request.operation)
        if not _is_too_late(request, upload):
            in_time.add(step)
        if step in in_time:
            yield KEPT
        else:
            late = "bytes" if request.byte_surface else "completion"
            message = f"the window of {upload.id} had passed when its {late} came"
            yield breach(message, request)


UPLOAD_AFTER_WINDOW: Final = ConductRule(
    name="upload-after-window",
    examine=upload_after_window,
    source="Section 4: A session past its window yields 410 upload_expired.",
    remedy=(
        "send the bytes and complete before upload.expires_at; "
        "when it has passed, create a new session"
    ),
)


def _is_too_late(request: Request, upload: Upload) -> bool:
    if request.code != "upload_expired" or request.is_injected:
        return False
    return request.at >= upload.expires_at


def abandoned_upload(history: History) -> Verdicts:
    """An Upload Session is opened and never completed.

    Whether it will be completed is known ten minutes of emulator time after its window,
    or at the end of the run. Sessions whose address never reached the client, whose
    bytes or completion were refused or lost, and those of clients whose last request
    failed, are not abandoned. One that came too late is reported as
    `upload-after-window`.
    """
    for identifier, requests in _requests_by_upload(history).items():
        opened = _opening_of(requests)
        if opened is None:
            continue
        upload = history.upload_of(opened)
        if upload is None:
            continue
        later_steps = [
            request for request in requests if request.operation != "createUpload"
        ]
        if _is_completed_or_failed(later_steps):
            yield KEPT
        elif history.is_over(upload.expires_at):
            if history.ended_in_failure(opened):
                continue
            progress = "nothing was sent to it"
            if later_steps:
                progress = "its bytes were sent, but it was not completed"
            yield breach(f"{identifier} was opened and left: {progress}", opened)


ABANDONED_UPLOAD: Final = ConductRule(
    name="abandoned-upload",
    examine=abandoned_upload,
    severity="note",
    source=(
        "Section 1: a client creates an Upload Session, sends raw bytes directly to a "
        "short-lived signed URL, and exchanges the returned upload token for an Asset."
    ),
    remedy="complete each Upload Session with the token that its upload returned",
)


def _requests_by_upload(history: History) -> dict[str | None, Requests]:
    """Return the requests about each Upload Session: openings, completions, bytes."""
    sent_bytes = [
        request for request in history.to_bytes() if request.byte_surface == "upload"
    ]
    requests = [
        *history.to_operation("createUpload"),
        *history.to_operation("completeUpload"),
        *sent_bytes,
    ]
    return dict(grouped(requests, facts.upload_id))


def _opening_of(requests: Iterable[Request]) -> Request | None:
    """Return the request whose answer gave the session to its client."""
    for request in requests:
        if facts.is_answered(request, 201):
            return request
    return None


def _is_completed_or_failed(later_steps: Iterable[Request]) -> bool:
    """Whether a session was completed, or a step towards it failed."""
    return any(
        request.operation == "completeUpload" or not facts.is_success(request)
        for request in later_steps
    )
