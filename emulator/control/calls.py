"""A request to the control plane on its way: body read, sandbox found and settled, handler asked, answer sent.

Between the read body and the answer nothing waits, so what is asked for is done as a whole (only a move of the clock may
let held requests go on in between). Must not know what an endpoint does.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakKeyDictionary

import orjson

from emulator.contract import Contract
from emulator.control import REQUEST_ID_KIND
from emulator.control.fields import Fields
from emulator.domain.problems import Check, Problem, excerpt
from emulator.http.failures import internal_error
from emulator.http.requests import (
    MAXIMUM_BODY_BYTES,
    Body,
    ClientDisconnectedError,
    Receive,
    Request,
    Scope,
    Send,
    check_no_body,
    parse_json,
    read_query,
    send_response,
)
from emulator.http.responses import JSON_TYPE, Header, Response, problem_response
from emulator.http.stopping import Stop
from emulator.kernel.identifiers import Identifiers
from emulator.scenario.library import LibraryEntry, ScenarioLibrary
from emulator.scenario.vocabulary import OperationFacts
from emulator.service import engine
from emulator.service.sandbox import Sandbox, SandboxOptions
from emulator.service.sandboxes import Sandboxes
from emulator.settings import Settings


@dataclass(slots=True)
class ControlPlane:
    """What the endpoints work on. `options` are the process's: how a sandbox begins that says nothing of its own."""

    sandboxes: Sandboxes
    contract: Contract
    settings: Settings
    options: SandboxOptions
    library: ScenarioLibrary
    facts: OperationFacts
    identifiers: Identifiers = field(default_factory=lambda: Identifiers(0))
    """Of its own requests: looking at a sandbox must not change what the sandbox says next."""
    sandboxes_named: int = 0
    """How many sandboxes were given an id because their creation named none."""
    stop: Stop = field(default_factory=Stop)
    """Ends every wait when the emulator is about to stop."""
    created_with: WeakKeyDictionary[Sandbox, SandboxOptions] = field(default_factory=WeakKeyDictionary)
    """What the creation of a sandbox asked for, its scenario aside."""
    _library_entries: list[LibraryEntry] | None = None

    def options_of(self, sandbox: Sandbox) -> SandboxOptions:
        """Return how a sandbox begins without a scenario (or before one has its say)."""
        return self.created_with.get(sandbox, sandbox.options)

    @property
    def library_entries(self) -> list[LibraryEntry]:
        """The library, read once: it is shipped, and does not change while the process runs."""
        if self._library_entries is None:
            self._library_entries = self.library.entries()
        return self._library_entries


@dataclass(slots=True)
class Call:
    """An endpoint being called: what has been found out so far, for the handler."""

    plane: ControlPlane
    request: Request
    sandbox: Sandbox
    now: int
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    receive: Receive
    """Brings nothing more, but the news that the client has gone away."""
    _json: Any

    def fields(self, *known: str) -> Fields:
        """Return the fields of the JSON body. Raises Problem invalid_request: it has others, or is no object."""
        return Fields(self._json, known)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler answers: a value to be sent as JSON, or bytes of a type of their own; None for nothing (204)."""

    value: object
    status: int = 200
    media_type: bytes = b""
    headers: tuple[Header, ...] = ()


Handler = Callable[[Call], Reply | Awaitable[Reply]]
BodyKind = Literal["none", "json", "text", "empty", "file"]
"""What an action takes: no body, a JSON object, a text in any notation, nothing that says anything (`{}` at most), or a file
as large as the emulator's memory for images."""


@dataclass(frozen=True, slots=True)
class Action:
    """What one method of a path does, and what it takes."""

    handler: Handler
    body: BodyKind = "none"
    query: tuple[str, ...] = ()


class Endpoint:
    """The ASGI application of one path."""

    def __init__(self, plane: ControlPlane, actions: Mapping[str, Action]) -> None:
        self._plane = plane
        self._actions = actions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, self._plane.settings.public_url)
        body = Body(receive) if request.has_body() else None
        await respond(
            self._plane, request, send, body, lambda: self._answer(request, scope["path_params"], body, receive)
        )

    async def _answer(
        self, request: Request, parameters: Mapping[str, str], coming: Body | None, receive: Receive
    ) -> Reply:
        action = self._find_action(request.method)
        limit_bytes = self._plane.settings.max_memory if action.body == "file" else MAXIMUM_BODY_BYTES
        body = await _read(request, coming, limit_bytes)
        content = _read_content(action.body, body, limit_bytes, request.headers.get(b"content-type"))
        query = read_query(request.query_string, action.query)
        sandbox = find_sandbox(self._plane, parameters.get("sandbox"))
        now = engine.enter(sandbox)
        call = Call(self._plane, request, sandbox, now, parameters, query, body or b"", receive, content)
        reply = action.handler(call)
        return reply if isinstance(reply, Reply) else await reply

    def _find_action(self, method: str) -> Action:
        action = self._actions.get("GET" if method == "HEAD" else method)
        if action is None:
            methods = self._actions.keys() | ({"HEAD"} if "GET" in self._actions else set())
            allow = ", ".join(sorted(methods))
            raise Problem(
                "invalid_request",
                f"{excerpt(method)}: this path does not take it; expected one of {allow}",
                status=405,
                check=Check.ROUTE,
                allow=allow,
            )
        return action


async def respond(
    plane: ControlPlane, request: Request, send: Send, body: Body | None, answer: Callable[[], Awaitable[Reply]]
) -> None:
    """Send what is answered, or the problem that was raised instead (the form is the service's, section 7)."""
    request_id = plane.identifiers.next(REQUEST_ID_KIND)
    try:
        response = _render(await answer(), request_id)
    except Problem as problem:
        response = problem_response(problem, request_id, problem.retry_after)
    except ClientDisconnectedError:
        return
    except Exception as error:
        response = problem_response(internal_error(error, request, request_id), request_id, None)
    if request.method == "HEAD":
        response = response._replace(body=b"")
    await send_response(send, response, body)


async def _read(request: Request, body: Body | None, limit_bytes: int) -> bytes | None:
    if body is None:
        return b""
    return None if request.announces_more_than(limit_bytes) else await body.read(limit_bytes)


def find_sandbox(plane: ControlPlane, identifier: str | None) -> Sandbox:
    """Return the sandbox that a path names, the default one if it names none. Raises Problem not_found."""
    if identifier is None:
        return plane.sandboxes.default
    sandbox = plane.sandboxes.by_id.get(identifier)
    if sandbox is None:
        raise Problem("not_found", f"{excerpt(identifier)}: there is no such sandbox")
    return sandbox


def _read_content(kind: BodyKind, body: bytes | None, limit_bytes: int, content_type: bytes | None) -> Any:
    """Read a body as its action takes it. Raises Problem invalid_request, with status 413 for one that is too large."""
    if kind == "json":
        return parse_json(body, content_type)
    if kind == "none":
        check_no_body(body)
    elif body is None:
        found = f"more than {limit_bytes} bytes"
        raise Problem("invalid_request", f"(body): found {found}; expected fewer", status=413)
    elif kind == "empty" and body:
        Fields(parse_json(body, content_type), ())
    return None


def _render(reply: Reply, request_id: str) -> Response:
    identified: Header = (b"request-id", request_id.encode())
    if reply.value is None:
        return Response(204, (identified, *reply.headers), b"")
    body = reply.value if isinstance(reply.value, bytes) else orjson.dumps(reply.value)
    content_type = (b"content-type", reply.media_type) if reply.media_type else JSON_TYPE
    # What is true of a sandbox now is no answer to who asks again later.
    headers = (content_type, (b"content-length", b"%d" % len(body)), (b"cache-control", b"no-store"), identified)
    return Response(reply.status, (*headers, *reply.headers), body)
