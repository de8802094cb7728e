"""The service as an ASGI application: a request arrives, is answered, enters the journal, and its answer goes out."""

from collections.abc import Mapping
from typing import Any

import orjson

from image_workflow_emulator.domain.problems import Check
from image_workflow_emulator.http.requests import Body, ClientDisconnectedError, Message, Receive, Request, Scope, Send
from image_workflow_emulator.http.responses import Header, Response
from image_workflow_emulator.http.stopping import Stop
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestBuilder, digest
from image_workflow_emulator.service.sandbox import admission
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web import pipeline
from image_workflow_emulator.web.exchange import Exchange, Surface
from image_workflow_emulator.web.pictures import PictureWorker
from image_workflow_emulator.web.wire import Wire

FAULT_HEADER = b"emulator-fault"
MIN_KEY_LENGTH = 8
"""A shorter key is not looked for in requests: it may stand there by chance."""


class Service:
    """Every path but the control plane's."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        pictures: PictureWorker,
        surfaces: Mapping[str, Surface],
        default: Surface,
        public_url: str | None,
        stop: Stop,
    ) -> None:
        """`surfaces` are found by how a path begins, such as `/v1/`; `default` takes what belongs to none of them."""
        self._sandboxes = sandboxes
        self._pictures = pictures
        self._stop = stop
        self._surfaces = surfaces
        self._default = default
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, self._public_url)
        surface = self._surfaces.get(request.path[: request.path.find("/", 1) + 1], self._default)
        body = Body(receive, request.has_body())
        exchange = self._arrive(surface, request, body)
        journal = exchange.sandbox.journal
        try:
            response = await pipeline.answer(exchange, surface)
        except ClientDisconnectedError:
            exchange.builder.outcome = "abandoned"
            _leave(exchange, journal)
            return
        _note_response(exchange.builder, response, request.embedding)
        _leave(exchange, journal)
        if exchange.sandbox.playbooks:
            exchange.note_answer()
        wire = Wire(request, receive, send, body, self._stop)
        await exchange.fault.wire(exchange, response, wire)
        if wire.has_client_gone:
            journal.note_unheard(exchange.builder.sequence)

    async def ask_off_record(
        self, sandbox: Sandbox, scope: Scope, key: str, method: str, path: str, content: bytes
    ) -> dict[str, Any]:
        """Ask `/v1` as a client with this key would: no journal has the request, no rate counts it, no rule strikes it.

        `scope` is that of the request behind it. Raises Problem where it is refused.
        """
        request_id = _unrouted_id(sandbox)
        own = {b"authorization": f"Bearer {key}".encode(), b"idempotency-key": f"off the record {request_id}".encode()}
        if content:
            own |= {b"content-type": b"application/json", b"content-length": b"%d" % len(content)}
        host = [(name, value) for name, value in scope["headers"] if name == b"host"]
        asked = {"method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
        request = Request({**scope, **asked, "headers": [*host, *own.items()]}, self._public_url)

        async def receive() -> Message:
            return {"type": "http.request", "body": content, "more_body": False}

        exchange = self._exchange(self._default, request, Body(receive, bool(content)), request_id)
        exchange.is_off_record = True
        response = await pipeline.answer(exchange, self._default)
        if Check.RATE in exchange.builder.passed:
            admission.forget_request(exchange.call)
        if exchange.builder.problem is not None:
            raise exchange.builder.problem
        answer: dict[str, Any] = orjson.loads(response.body)
        return answer

    def _arrive(self, surface: Surface, request: Request, body: Body) -> Exchange:
        """Note the arrival in the journal of the sandbox."""
        exchange = self._exchange(surface, request, body)
        exchange.sandbox.journal.arrive(exchange.builder)
        return exchange

    def _exchange(self, surface: Surface, request: Request, body: Body, request_id: str | None = None) -> Exchange:
        """Begin an exchange. Unknown callers have Request-Ids of another sequence, so that those of a test stay the same."""
        home, caller = surface.find_home(request)
        route, resource_id = surface.find_route(request)
        sandbox = home or self._sandboxes.default
        if request_id is None:
            request_id = _unrouted_id(sandbox) if home is None else sandbox.identifiers.next("req")
        builder = RequestBuilder(sandbox.clock.now(), request_id, request.method, request.path)
        headers, connection = request.headers, request.connection
        builder.query = request.query_string
        builder.operation, builder.byte_surface, builder.checks = route.operation, route.byte_surface, route.checks
        if route.operation is not None:
            builder.passed.append(Check.ROUTE)
            builder.fault_header = headers.get(FAULT_HEADER)
        builder.has_authorization = b"authorization" in headers
        if caller is not None:
            builder.credential, builder.team = caller.credential, caller.account.team
        elif builder.has_authorization:
            builder.unknown_credential = digest(headers[b"authorization"])
        builder.key_header = headers.get(b"idempotency-key")
        builder.user_agent_header = headers.get(b"user-agent")
        builder.shows_key = _shows_key(builder, sandbox, headers)
        if body.has_more:
            builder.content_type_header = headers.get(b"content-type", b"")
        if connection is not None and connection.peer is not None:
            builder.connection, builder.connected_ms = connection.peer, connection.made_ms
        return Exchange(
            self._sandboxes,
            self._pictures,
            self._stop,
            request,
            body,
            sandbox,
            home is not None,
            caller,
            route,
            resource_id,
            builder,
            builder.at,
        )


def _note_response(builder: RequestBuilder, response: Response, embedding: Header) -> None:
    """Write down what was answered, with the header that is added when it is sent; of a file, its size."""
    if builder.outcome == "lost":
        return
    builder.status, builder.response_headers = response.status, (*response.headers, embedding)
    if builder.byte_surface == "download" and builder.problem is None:
        builder.response_body_bytes = len(response.body)
    else:
        builder.response_body = response.body


def _leave(exchange: Exchange, journal: Journal) -> None:
    """Complete the record in the journal of its arrival: a reset gives the sandbox another one."""
    builder, clock, connection = exchange.builder, exchange.sandbox.clock, exchange.request.connection
    builder.is_unheard = connection is not None and connection.is_closing
    if builder.byte_surface == "upload":
        builder.request_body_bytes = exchange.body.size_bytes
    journal.leave(builder, clock.now(), is_timed=not clock.skips_waits)


def _shows_key(builder: RequestBuilder, sandbox: Sandbox, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request shows the key of a credential where none belongs; a short key may be there by chance."""
    places = [builder.query] if builder.query else []
    if builder.byte_surface is not None:
        places += headers.values()
    elif b"idempotency-key" in headers:
        places.append(headers[b"idempotency-key"])
    keys = [key.encode() for key in sandbox.credentials if len(key) >= MIN_KEY_LENGTH] if places else ()
    return any(key in place for key in keys for place in places)


def _unrouted_id(sandbox: Sandbox) -> str:
    """Return the Request-Id of a request that belongs to no sandbox."""
    return "req" + sandbox.identifiers.next("stray").removeprefix("stray")
