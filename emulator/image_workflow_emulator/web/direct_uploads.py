"""The surface of signed addresses that take the raw bytes of Upload Sessions (section 4, D15, D16, D45).

Not authenticated with the credential; a request that brings one is refused. Bytes are hashed as they come, and never
more of them are kept than the session declared.
"""

import hashlib
import io

from image_workflow_emulator.domain.problems import (
    BYTE_CODES,
    Check,
    Problem,
    invalid_request,
)
from image_workflow_emulator.domain.resources import UploadSession
from image_workflow_emulator.http.answers import JSON_TYPE, NOSNIFF, Answer, json_bytes
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.surfaces import DIRECT_UPLOADS_PREFIX
from image_workflow_emulator.kernel.wording import count_of, excerpt
from image_workflow_emulator.service.resources import uploads
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.exchange import (
    Destination,
    Exchange,
    Route,
    Step,
    allowing,
)
from image_workflow_emulator.web.fault_actions import fault_headers


def find(sandboxes: Sandboxes, request: Head) -> Destination:
    """Find the sandbox and the session by the address."""
    sandbox_id, session_id, _ = _parts(request)
    return Destination(sandboxes.by_id.get(sandbox_id), None, _UPLOAD, session_id)


def _parts(request: Head) -> tuple[str, str, str]:
    """Return the ids of sandbox and session and the signature; empty strings for any other address."""
    parts = request.path.removeprefix(DIRECT_UPLOADS_PREFIX).split("/")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _check_address(exchange: Exchange) -> None:
    """404: the address is one that a session gave out."""
    _session(exchange)


def _check_credential(exchange: Exchange) -> None:
    """400: the credential is never sent here (section 5, rule 7)."""
    if b"authorization" in exchange.head.headers:
        raise Problem(
            "invalid_request",
            "do not send Authorization to an upload URL: it is already signed",
            check=Check.CREDENTIAL,
            remedy="remove the header Authorization",
        )


def _check_window(exchange: Exchange) -> None:
    """410: the window is open, checked before the bytes are read (D16). 404 once a finished session closed (D45)."""
    uploads.check_window(_session(exchange), exchange.now)


def _check_head(exchange: Exchange) -> None:
    """400: the headers are those of upload.headers, and the announced size is the declared one."""
    request, session = exchange.head, _session(exchange)
    for header, value in uploads.headers(exchange.sandbox, session).items():
        name = header.lower().encode()
        found = request.headers.get(name)
        if name in request.repeated or found is None or found.strip() != value.encode():
            shown = "nothing" if found is None else excerpt(found.decode("latin-1"))
            shown = "more than one" if name in request.repeated else shown
            remedy = "send every header of upload.headers as it is"
            raise invalid_request(
                name.decode(), shown, f"{value} as in upload.headers", remedy
            )
    request.check_encoding()
    announced = request.announced_bytes()
    if announced and announced != session.size_bytes:
        raise _wrong_size(session, count_of(announced, "byte"))


def _wrong_size(session: UploadSession, found: str) -> Problem:
    """Return the refusal of a wrong size; where bytes were accepted, it is a conflict (D16)."""
    if session.digest is not None:
        return uploads.bytes_conflict(
            session,
            f"found {found}; expected those that {session.id} accepted already, or a new session",
        )
    remedy = f"send exactly {count_of(session.size_bytes, 'byte')}, or create a session for a file of this size"
    return invalid_request(
        "the body", found, f"size_bytes, {session.size_bytes}", remedy
    )


async def _read_bytes(exchange: Exchange) -> None:
    """Read exactly the declared bytes, and their SHA-256. Bytes that were accepted before are not kept again.

    Raises:
        Problem: there are more or fewer, or more than may be held.
        ClientDisconnectedError: they stopped half way.
    """
    body, session, sandbox = exchange.body, _session(exchange), exchange.sandbox
    images = sandbox.images  # a reset gives the sandbox others
    hasher, gathered = (
        hashlib.sha256(),
        io.BytesIO(),
    )  # which hands its bytes out without a copy
    try:
        while body.has_more:
            piece = await body.take()
            if body.size_bytes > session.size_bytes:
                raise _wrong_size(
                    session, f"more than {count_of(session.size_bytes, 'byte')}"
                )
            hasher.update(piece)
            if session.digest is None:
                sandbox.check_memory(len(piece))
                gathered.write(piece)
                images.account(len(piece))
    finally:
        images.account(-gathered.tell())
    if body.size_bytes < session.size_bytes:
        raise _wrong_size(session, count_of(body.size_bytes, "byte"))
    exchange.content, exchange.fingerprint = gathered.getvalue(), hasher.digest()


def _check_bytes(exchange: Exchange) -> None:
    """409: the session has not accepted other bytes. 404 or 410: the session is still there, and open."""
    uploads.check_bytes(_session(exchange), exchange.fingerprint.hex(), exchange.now)


def _commit(exchange: Exchange, _found: None) -> str:
    return uploads.accept(
        exchange.sandbox,
        _session(exchange),
        exchange.fingerprint.hex(),
        exchange.content or b"",
    )


async def _render(exchange: Exchange, token: object) -> Answer:
    content, request_id = (
        json_bytes({"upload_token": token}),
        (b"request-id", exchange.request_id.encode()),
    )
    length, added = (
        (b"content-length", b"%d" % len(content)),
        fault_headers(exchange, is_refusal=False),
    )
    status = 201 if exchange.sandbox.readings.upload_status == "created" else 200  # D16
    return Answer(status, (JSON_TYPE, NOSNIFF, length, request_id, *added), content)


def _session(exchange: Exchange) -> UploadSession:
    """Find the session: once more after each wait, since its sandbox may be reset or deleted meanwhile."""
    home = None if exchange.head.query_string else exchange.home
    return uploads.find_signed(home, exchange.resource_id, _parts(exchange.head)[2])


_UPLOAD = Route(
    byte_surface="upload",
    is_read=False,
    codes=BYTE_CODES,
    entrance=(
        Step(Check.RESOURCE, _check_address),
        allowing("POST"),
        Step(Check.CREDENTIAL, _check_credential),
    ),
    before_admission=(Step(Check.STATE, _check_window), Step(Check.SHAPE, _check_head)),
    prepare=_read_bytes,
    after_admission=(Step(Check.STATE, _check_bytes),),
    commit=_commit,
    render=_render,
)
