"""The surface of signed addresses that take the raw bytes of Upload Sessions (section 4,
D15, D16, D45).

Not authenticated with the credential; a request that brings one is refused. Bytes are
hashed as they come, and never more of them are kept than the session declared.
"""

import hashlib
import io
from typing import Final

import msgspec
from msgspec import Struct

from image_workflow_emulator.domain.problems import (
    BYTE_CODES,
    Check,
    Problem,
    invalid_request,
)
from image_workflow_emulator.domain.resources import UploadSession
from image_workflow_emulator.http.answers import JSON_TYPE, NOSNIFF, Answer
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
from image_workflow_emulator.web.resource_bodies import UploadTokenBody


class _Address(Struct, frozen=True):
    """The parts of a signed address; empty for any other."""

    sandbox_id: str = ""
    session_id: str = ""
    signature: str = ""


def _address_of(head: Head) -> _Address:
    parts = head.path.removeprefix(DIRECT_UPLOADS_PREFIX).split("/")
    if len(parts) != 3:
        return _Address()
    return _Address(*parts)


def find(sandboxes: Sandboxes, head: Head) -> Destination:
    """Find the sandbox and the session by the address."""
    address = _address_of(head)
    sandbox = sandboxes.by_id.get(address.sandbox_id)
    return Destination(sandbox, None, _UPLOAD, address.session_id)


def _session(exchange: Exchange) -> UploadSession:
    """Find the session: once more after each wait, since its sandbox may be reset or
    deleted meanwhile.

    Raises:
        Problem: upload_not_found.
    """
    home = exchange.home
    if exchange.head.query_string:
        home = None  # the address was altered
    signature = _address_of(exchange.head).signature
    return uploads.find_signed(home, exchange.resource_id, signature)


# Checks before the bytes are read -----------------------------------------------------


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
    """410: the window is open, checked before the bytes are read (D16). 404 once a
    finished session closed (D45).
    """
    uploads.check_window(_session(exchange), exchange.now)


def _check_head(exchange: Exchange) -> None:
    """400: the headers are those of upload.headers, and the announced size is the
    declared one.
    """
    head = exchange.head
    session = _session(exchange)
    for name, value in uploads.headers(exchange.sandbox, session).items():
        _check_header(head, name.lower(), value)
    head.check_encoding()
    announced_bytes = head.announced_bytes()
    if announced_bytes and announced_bytes != session.size_bytes:
        raise _wrong_size(session, count_of(announced_bytes, "byte"))


def _check_header(
    head: Head,
    name: str,
    value: str,
) -> None:
    sent = head.headers.get(name.encode())
    if sent is None:
        found = "nothing"
    elif name.encode() in head.repeated:
        found = "more than one"
    elif sent.strip() != value.encode():
        found = excerpt(sent.decode("latin-1"))
    else:
        return
    remedy = "send every header of upload.headers as it is"
    raise invalid_request(name, found, f"{value} as in upload.headers", remedy)


def _wrong_size(session: UploadSession, found: str) -> Problem:
    """Return the refusal of a wrong size; where bytes were accepted, it is a conflict
    (D16).
    """
    if session.digest is not None:
        expected = f"those that {session.id} accepted already, or a new session"
        return uploads.bytes_conflict(f"found {found}; expected {expected}")
    size = count_of(session.size_bytes, "byte")
    remedy = f"send exactly {size}, or create a session for a file of this size"
    expected = f"size_bytes, {session.size_bytes}"
    return invalid_request("the body", found, expected, remedy)


# The bytes ----------------------------------------------------------------------------


async def _read_bytes(exchange: Exchange) -> None:
    """Read exactly the declared bytes, and their SHA-256.

    Bytes that were accepted before are not kept again.

    Raises:
        ClientDisconnectedError: they stopped half way.
        Problem: there are more or fewer, or more than may be held.
    """
    body = exchange.body
    session = _session(exchange)
    sandbox = exchange.sandbox
    images = sandbox.images  # a reset gives the sandbox others
    size = count_of(session.size_bytes, "byte")
    hasher = hashlib.sha256()
    kept = io.BytesIO()  # which hands its bytes out without a copy
    try:
        while body.has_more:
            piece = await body.take()
            if body.size_bytes > session.size_bytes:
                raise _wrong_size(session, f"more than {size}")
            hasher.update(piece)
            if session.digest is None:
                sandbox.check_memory(len(piece))
                kept.write(piece)
                images.account(len(piece))
    finally:
        images.account(-kept.tell())
    if body.size_bytes < session.size_bytes:
        raise _wrong_size(session, count_of(body.size_bytes, "byte"))
    exchange.content = kept.getvalue()
    exchange.fingerprint = hasher.digest()


def _check_bytes(exchange: Exchange) -> None:
    """409: the session has not accepted other bytes. 404 or 410: the session is still
    there, and open.
    """
    digest = exchange.fingerprint.hex()
    uploads.check_bytes(_session(exchange), digest, exchange.now)


def _commit(exchange: Exchange, _checked: None) -> str:
    digest = exchange.fingerprint.hex()
    content = exchange.content or b""
    return uploads.accept(exchange.sandbox, _session(exchange), digest, content)


async def _render(exchange: Exchange, token: object) -> Answer:
    content = msgspec.json.encode(UploadTokenBody(str(token)))
    headers = (
        JSON_TYPE,
        NOSNIFF,
        (b"content-length", b"%d" % len(content)),
        (b"request-id", exchange.request_id.encode()),
        *fault_headers(exchange, is_refusal=False),
    )
    status = 200
    if exchange.sandbox.readings.upload_status == "created":  # D16
        status = 201
    return Answer(status, headers, content)


_UPLOAD: Final = Route(
    byte_surface="upload",
    is_read=False,
    codes=BYTE_CODES,
    entrance=(
        Step(Check.RESOURCE, _check_address),
        allowing("POST"),
        Step(Check.CREDENTIAL, _check_credential),
    ),
    before_admission=(
        Step(Check.STATE, _check_window),
        Step(Check.SHAPE, _check_head),
    ),
    prepare=_read_bytes,
    after_admission=(Step(Check.STATE, _check_bytes),),
    commit=_commit,
    render=_render,
)
