"""The signed addresses that take the raw bytes of Upload Sessions (section 4, D15, D16, D45).

Not authenticated with the credential; a request that brings one is refused. Bytes are hashed as they come, and never
more of them are kept than the session declared.
"""

import hashlib

from emulator.domain.problems import Problem, count_of, excerpt
from emulator.domain.resources import UploadSession
from emulator.http.failures import internal_error
from emulator.http.requests import Body, ClientDisconnectedError, Receive, Request, Scope, Send, send_response
from emulator.http.responses import JSON_TYPE, Response, problem_response
from emulator.kernel.json_bytes import json_bytes
from emulator.service import engine, uploads
from emulator.service.journal import GONE_NOTE
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web.links import DIRECT_UPLOADS_PREFIX

_BINDING = uploads.BINDING_HEADER.lower().encode()


class DirectUploads:
    """The ASGI application of the direct uploads."""

    def __init__(self, sandboxes: Sandboxes, public_url: str | None) -> None:
        self._sandboxes = sandboxes
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, self._public_url)
        sandbox_id, session_id, signature = _parts(request)
        sandbox = self._sandboxes.by_id.get(sandbox_id)
        home = sandbox or self._sandboxes.default
        journal, request_id = home.journal, home.identifiers.next("req")
        entry = journal.arrive(home.clock.now(), request_id, request.method, request.path)
        entry.note = "direct upload"
        body = Body(receive)
        try:
            token = await self._receive(request, sandbox, session_id, signature, body)
            content = json_bytes({"upload_token": token})
            length = (b"content-length", b"%d" % len(content))
            response = Response(200, (JSON_TYPE, length, (b"request-id", request_id.encode())), content)
        except Problem as problem:
            entry.problem = problem
            response = problem_response(problem, request_id, problem.retry_after)
        except ClientDisconnectedError:
            entry.note, entry.request_body_bytes = GONE_NOTE, body.size_bytes
            journal.leave(entry)
            return
        except Exception as error:
            entry.problem = internal_error(error, request, request_id)
            response = problem_response(entry.problem, request_id, None)
        entry.request_body_bytes = body.size_bytes
        entry.status, entry.response_body = response.status, response.body
        journal.leave(entry)
        await send_response(send, response, body)  # who sends too much hears of it at once (D16)

    async def _receive(
        self, request: Request, sandbox: Sandbox | None, session_id: str, signature: str, body: Body
    ) -> str:
        if sandbox is None or request.query_string:
            raise Problem(
                "upload_not_found",
                "the address: expected upload.url exactly as the session gave it",
                remedy="send the bytes to upload.url as it is, unchanged",
            )
        now = engine.enter(sandbox)
        session = uploads.find_signed(sandbox, session_id, signature)
        if request.method != "POST":
            raise Problem(
                "invalid_request",
                f"{request.method}: expected upload.method, POST",
                status=405,
                allow="POST",
                remedy="send it with the method POST",
            )
        if b"authorization" in request.headers:
            raise Problem(
                "invalid_request",
                "Authorization: found; expected none: the address is signed by itself",
                remedy="leave out the header Authorization",
            )
        uploads.check_window(session, now)
        _check_headers(request, sandbox, session)
        request.check_encoding()
        _check_announced_size(request, session)
        data, digest = await _read(body, session, sandbox)
        if sandbox.store.uploads.items.get(session.id) is None:
            raise Problem(
                "upload_not_found", "the sandbox was reset while the bytes came", remedy="create a new session"
            )
        return uploads.accept(sandbox, session.id, digest, data, engine.enter(sandbox))


def _parts(request: Request) -> tuple[str, str, str]:
    parts = request.path.removeprefix(DIRECT_UPLOADS_PREFIX).split("/")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _check_headers(request: Request, sandbox: Sandbox, session: UploadSession) -> None:
    """Every header of upload.headers must be there, as it was given (D16)."""
    expected = {b"content-type": session.content_type, _BINDING: uploads.binding(sandbox, session)}
    for name, value in expected.items():
        found = request.headers.get(name)
        if found is None or found.decode("latin-1").strip() != value:
            shown = "nothing" if found is None else excerpt(found.decode("latin-1"))
            raise Problem(
                "invalid_request",
                f"{name.decode()}: found {shown}; expected {value} as in upload.headers",
                remedy="send every header of upload.headers as it is",
            )


def _check_announced_size(request: Request, session: UploadSession) -> None:
    """Refuse a wrong size as soon as it is announced; where bytes were accepted, it is a conflict (D16)."""
    announced = request.headers.get(b"content-length")
    if announced is not None and announced.isdigit() and int(announced) != session.size_bytes:
        raise _wrong_size(session, count_of(int(announced), "byte"))


def _wrong_size(session: UploadSession, found: str) -> Problem:
    if session.digest is not None:
        return Problem(
            "upload_bytes_conflict",
            f"the body: found {found}; expected those that {session.id} accepted already, or a new session",
            remedy="send the bytes that were accepted, or create a new session for these",
        )
    return Problem(
        "invalid_request",
        f"the body: found {found}; expected size_bytes, {session.size_bytes}",
        remedy=f"send exactly {count_of(session.size_bytes, 'byte')}, or create a session for a file of this size",
    )


async def _read(body: Body, session: UploadSession, sandbox: Sandbox) -> tuple[bytes, str]:
    """Read exactly the declared bytes, and hash them on the way.

    Raises:
        Problem: there are more or fewer, or more than may be held.
        ClientDisconnectedError: they stopped half way.
    """
    hasher, pieces = hashlib.sha256(), []
    keeps = session.digest is None
    with sandbox.images.arriving() as count:
        while body.has_more:
            piece = await body.take()
            if body.size_bytes > session.size_bytes:
                raise _wrong_size(session, f"more than {count_of(session.size_bytes, 'byte')}")
            hasher.update(piece)
            if keeps:
                sandbox.check_memory(len(piece))
                count(len(piece))
                pieces.append(piece)
    if body.size_bytes < session.size_bytes:
        raise _wrong_size(session, count_of(body.size_bytes, "byte"))
    return b"".join(pieces), hasher.hexdigest()
