"""Upload Sessions: a signed URL, the bytes sent to it, and their exchange for an Asset
(sections 1 and 4, D15 to D18).

A session's raw bytes lie in the image store under its id until it is exchanged, refused
or past its window. Decoding happens outside the event loop, between `to_decode` and the
checks of a completion.
"""

from msgspec import structs

from image_workflow_emulator.domain.lifecycles import UPLOAD_SESSION, SessionEvent
from image_workflow_emulator.domain.problems import Check, Problem, invalid_input
from image_workflow_emulator.domain.resources import (
    Asset,
    UploadSession,
)
from image_workflow_emulator.kernel.timestamps import MINUTE_MS, format_timestamp
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.resources.lookups import remedy_for_absent
from image_workflow_emulator.service.resources.products import add_asset
from image_workflow_emulator.service.sandbox.admission import check_memory
from image_workflow_emulator.service.sandbox.calls import Call, DecodedUpload, Handler
from image_workflow_emulator.service.sandbox.sandbox import Sandbox

UPLOAD_WINDOW_MS = 15 * MINUTE_MS
"""How long a signed URL takes bytes (D15)."""
SHORT_WINDOW_MS = MINUTE_MS
"""How long it does by D15=short, which asks for more headers too."""
_MORE_HEADERS = {
    "x-UPLOAD-Region": "local",
    "X-upload-acl": "private",
    "X-Upload-CLASS": "source",
}

BINDING_HEADER = "X-Upload-Binding"
"""The header that binds a direct upload to its session (D15)."""


def _create(call: Call, _checked: None) -> UploadSession:
    """Open a session; no Asset exists yet (section 3)."""
    sandbox = call.sandbox
    window_ms = UPLOAD_WINDOW_MS
    if sandbox.readings.upload_session == "short":
        window_ms = SHORT_WINDOW_MS
    session = UploadSession(
        id=sandbox.identifiers.next("upl"),
        team_id=call.team_id,
        created_at=call.now,
        expires_at=call.now + window_ms,
        **call.intent,
    )
    sandbox.store.uploads.add(session)
    sandbox.timeline.schedule(session.expires_at, "upload_expired", session.id)
    return session


def signature(sandbox: Sandbox, session: UploadSession) -> str:
    """Sign a session's URL."""
    return sandbox.signer.sign(*_signed_parts(session))


def _signed_parts(session: UploadSession) -> tuple[str | int, ...]:
    """Return what the signature of a URL binds it to: the session, its headers and its
    window.
    """
    return (
        "upload",
        session.id,
        session.content_type,
        session.size_bytes,
        session.expires_at,
    )


def headers(sandbox: Sandbox, session: UploadSession) -> dict[str, str]:
    """Return every header that must be sent with the bytes."""
    headers = {
        "Content-Type": session.content_type,
        BINDING_HEADER: sandbox.signer.sign("upload binding", session.id),
    }
    if sandbox.readings.upload_session == "short":
        headers.update(_MORE_HEADERS)
    return headers


def find_signed(
    sandbox: Sandbox | None,
    session_id: str,
    signed: str,
) -> UploadSession:
    """Find the session of a signed URL; a reset of its sandbox drops it.

    Raises:
        Problem: upload_not_found, for an unknown session or an altered URL (D16).
    """
    if sandbox is not None:
        session = sandbox.store.find_upload(session_id)
        if session is not None and _is_signed(sandbox, session, signed):
            return session
    raise Problem(
        "upload_not_found",
        "the address: expected upload.url exactly as the session gave it",
    )


def _is_signed(
    sandbox: Sandbox,
    session: UploadSession,
    signed: str,
) -> bool:
    return sandbox.signer.verify(signed, *_signed_parts(session))


def token(
    sandbox: Sandbox,
    session: UploadSession,
    digest: str,
) -> str:
    """Return the upload token of a session's bytes; the same bytes have the same one
    (D16).
    """
    signature = sandbox.signer.sign("upload token", session.id, digest)
    return f"upt_{signature}"


def check_window(session: UploadSession, now: int) -> None:
    """Refuse bytes and completion after the window.

    Raises:
        Problem: upload_not_found, it was exchanged or failed before (D45);
            upload_expired.
    """
    if now >= session.expires_at:
        _check_present(session)
        end = format_timestamp(session.expires_at)
        present = format_timestamp(now)
        raise Problem(
            "upload_expired",
            f"the window of {session.id} closed at {end}; it is {present}",
        )


def check_bytes(
    session: UploadSession,
    digest: str,
    now: int,
) -> None:
    """Refuse bytes that a session does not take.

    The digest of accepted bytes outlives them: other bytes are a conflict even when the
    session was exchanged (D45).

    Raises:
        Problem: upload_not_found, upload_expired, upload_bytes_conflict.
    """
    check_window(session, now)
    if session.digest is None:
        return
    if session.digest != digest:
        raise bytes_conflict(
            f"found bytes other than those that {session.id} accepted; "
            "expected the same, or a new session",
        )
    _check_present(session)


def accept(
    sandbox: Sandbox,
    session: UploadSession,
    digest: str,
    data: bytes,
) -> str:
    """Accept the complete bytes of a session, once, and return the upload token."""
    if session.digest is None:
        status = UPLOAD_SESSION.after(session.status, "bytes_accepted")
        received = structs.replace(session, status=status, digest=digest)
        sandbox.store.uploads.replace(received)
        sandbox.images.put(session.id, data)
        sandbox.images.pictures[session.id].is_public = False
    return token(sandbox, session, digest)


def bytes_conflict(mistake: str) -> Problem:
    """Return the refusal of bytes other than those that a session accepted, of whatever
    length (D16, D45).
    """
    return Problem("upload_bytes_conflict", f"the body: {mistake}")


def to_decode(call: Call) -> tuple[bytes, str] | None:
    """Return the bytes that a completion needs decoded and their declared type; None if
    it will be refused anyway.
    """
    sandbox = call.sandbox
    session = _session_in_path(call)
    if session is None or session.digest is None or session.status != "received":
        return None
    if call.now >= session.expires_at:
        return None
    right_token = token(sandbox, session, session.digest)
    if call.intent["upload_token"] != right_token:
        return None
    data = sandbox.images.pictures[session.id].data or b""
    return data, session.content_type


def _session_in_path(call: Call) -> UploadSession | None:
    uploads = call.sandbox.store.uploads
    return uploads.visible(call.team_id, call.resource_id)


def _find_open(call: Call, _checked: None) -> UploadSession:
    """Return the session that the path names. Raises Problem upload_not_found."""
    session = _session_in_path(call)
    if session is None:
        item = call.sandbox.store.find_upload(call.resource_id)
        remedy = "use the id of a session that POST /uploads gave"
        raise Problem(
            "upload_not_found",
            f"upload_id: found {excerpt(call.resource_id)}; expected a session of this "
            "Team",
            remedy=remedy_for_absent(call, item, remedy),
        )
    _check_present(session)
    return session


def _check_state(call: Call, session: UploadSession) -> UploadSession:
    """410 or 422: the window is open, and the token is the one that the direct upload
    gave.
    """
    check_window(session, call.now)
    where = "/upload_token"
    upload_token = call.intent["upload_token"]
    if session.digest is None:
        expected = "bytes to be sent to upload.url first"
        remedy = "send the bytes to upload.url first"
        raise invalid_input(where, upload_token, expected, Check.STATE, remedy)
    if upload_token != token(call.sandbox, session, session.digest):
        expected = "the token the direct upload gave"
        raise invalid_input(where, upload_token, expected, Check.STATE)
    return session


def _check_room(call: Call, session: UploadSession) -> UploadSession:
    """503: the picture takes the place of the session's bytes (D55)."""
    picture_bytes = len(_decoded(call).data)
    call.sandbox.check_memory(picture_bytes - session.size_bytes)
    return session


def _check_readable(call: Call, session: UploadSession) -> UploadSession:
    """422: the bytes are a picture. If they are none, the session has failed, and
    nothing else was changed (D17).
    """
    refusal = _decoded(call).refusal
    if refusal is not None:
        _finish(call, session, "refused")
        raise Problem(
            "invalid_input",
            f"the uploaded bytes: {refusal.removesuffix('.')}",
            check=Check.RULES,
        )
    return session


def _decoded(call: Call) -> DecodedUpload:
    assert call.decoded is not None, (
        "a completion that passes its checks was decoded before"
    )
    return call.decoded


def _exchange(call: Call, session: UploadSession) -> Asset:
    """Exchange a session's upload token for an Asset."""
    _finish(call, session, "exchanged")
    return add_asset(call.sandbox, session.team_id, _decoded(call), call.now)


def expire(sandbox: Sandbox, session_id: str) -> None:
    """Free the bytes of a session whose window has passed."""
    session = sandbox.store.uploads.items[session_id]
    if session.status == "received":
        sandbox.images.release([session.id])


def _check_present(session: UploadSession) -> None:
    if session.status in UPLOAD_SESSION.terminal:
        raise Problem(
            "upload_not_found",
            f"the session {session.id} has {session.status} already",  # D45
        )


def _finish(
    call: Call,
    session: UploadSession,
    event: SessionEvent,
) -> None:
    sandbox = call.sandbox
    status = UPLOAD_SESSION.after(session.status, event)
    finished = structs.replace(session, status=status)
    sandbox.store.uploads.replace(finished)
    sandbox.images.release([session.id])
    sandbox.timeline.forget(session.id)


CREATE = Handler(checks=((Check.PAUSE, check_memory),), commit=_create)
COMPLETE = Handler(
    checks=(
        (Check.RESOURCE, _find_open),
        (Check.STATE, _check_state),
        (Check.PAUSE, _check_room),
        (Check.RULES, _check_readable),
    ),
    commit=_exchange,
)
