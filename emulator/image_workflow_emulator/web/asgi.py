"""The service as an ASGI application: a request arrives, is answered, enters the journal, and its answer goes out."""

from typing import Any

import orjson

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.http.requests import (
    Body,
    Message,
    Receive,
    Request,
    Scope,
    Send,
    Stop,
)
from image_workflow_emulator.http.responses import JSON_TYPE, Response
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestRecord, digest
from image_workflow_emulator.service.sandbox.calls import Caller
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web import direct_uploads, files, pipeline
from image_workflow_emulator.web.exchange import Exchange, Route
from image_workflow_emulator.web.pictures import PictureWorker
from image_workflow_emulator.web.rendering import DIRECT_UPLOADS_PREFIX, FILES_PREFIX
from image_workflow_emulator.web.v1 import V1
from image_workflow_emulator.web.wire import Wire

FAULT_HEADER = b"emulator-fault"
MIN_KEY_LENGTH = 8
"""A shorter key is not searched for in requests: it may be there by chance."""


_SURFACES = {FILES_PREFIX: files.find, DIRECT_UPLOADS_PREFIX: direct_uploads.find}
"""The surface of each beginning of a path; all other paths are those of `/v1`."""


class Service:
    """Every path but the control plane's."""

    def __init__(
        self,
        contract: Contract,
        sandboxes: Sandboxes,
        pictures: PictureWorker,
        public_url: str | None,
        stop: Stop,
    ) -> None:
        self._sandboxes = sandboxes
        self._pictures = pictures
        self._stop = stop
        self._public_url = public_url
        self._v1 = V1(contract, sandboxes)

    async def __call__(self, request: Request, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = Body(receive, request.has_body())
        exchange = self._exchange(request, body)
        journal = exchange.sandbox.journal
        journal.arrive(exchange.record)
        response = await pipeline.answer(exchange)
        if _leave(exchange, journal, response):
            for watcher in self._sandboxes.watchers:
                watcher(exchange.sandbox, exchange.record)
        if response is None:
            return
        if exchange.sandbox.playbooks:
            exchange.note_answer()
        wire = Wire(request, receive, send, body, self._stop)
        await exchange.fault.wire(exchange, response, wire)
        if wire.has_client_gone:
            exchange.record.is_unheard = True

    async def ask_off_record(
        self,
        sandbox: Sandbox,
        scope: Scope,
        key: str,
        method: str,
        path: str,
        content: bytes,
    ) -> dict[str, Any]:
        """Ask `/v1` with a valid key. The request is not journaled, rate-limited or matched by rules.

        `scope` is that of the request behind it. Raises Problem where it is refused.
        """
        request_id = _unrouted_id(sandbox)
        headers = [(name, value) for name, value in scope["headers"] if name == b"host"]
        headers += (
            (b"authorization", f"Bearer {key}".encode()),
            (b"idempotency-key", request_id.encode()),
            JSON_TYPE,
        )
        asked = {
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
        }
        request = Request({**scope, **asked}, self._public_url)

        async def receive() -> Message:
            return {"type": "http.request", "body": content, "more_body": False}

        exchange = self._exchange(request, Body(receive, bool(content)), request_id)
        exchange.is_off_record = True
        response = await pipeline.answer(exchange)
        if exchange.record.problem is not None:
            raise exchange.record.problem
        assert response is not None
        return dict(orjson.loads(response.body))

    def _exchange(
        self, request: Request, body: Body, request_id: str | None = None
    ) -> Exchange:
        """Begin an exchange. Unknown callers get Request-Ids of their own sequence: they change none of a test."""
        find = _SURFACES.get(request.path[: request.path.find("/", 1) + 1])
        home, caller, route, resource_id = (
            find(self._sandboxes, request) if find else self._v1.find(request)
        )
        sandbox = home or self._sandboxes.default
        if request_id is None:
            request_id = (
                _unrouted_id(sandbox)
                if home is None
                else sandbox.identifiers.next("req")
            )
        headers, connection = request.headers, request.connection
        authorization, peer = (
            headers.get(b"authorization"),
            None if connection is None else connection.peer,
        )
        now = sandbox.clock.now()
        record = RequestRecord(
            at=now,
            request_id=request_id,
            method=request.method,
            path=request.path,
            query=request.query_string,
            credential=None if caller is None else caller.credential,
            team=None if caller is None else caller.account.team,
            unknown_credential=digest(authorization)
            if caller is None and authorization is not None
            else None,
            has_authorization=authorization is not None,
            shows_key=_shows_key(sandbox, caller, route, request),
            key_header=headers.get(b"idempotency-key"),
            user_agent_header=headers.get(b"user-agent"),
            content_type_header=headers.get(b"content-type", b"")
            if body.has_more
            else None,
            fault_header=None if route.operation is None else headers.get(FAULT_HEADER),
            connection=peer,
            operation=route.operation,
            byte_surface=route.byte_surface,
            checks=route.checks,
            steps_passed=route.steps_passed,
        )
        return Exchange(
            sandboxes=self._sandboxes,
            pictures=self._pictures,
            stop=self._stop,
            request=request,
            body=body,
            sandbox=sandbox,
            has_home=home is not None,
            caller=caller,
            route=route,
            resource_id=resource_id,
            record=record,
            now=now,
        )


def _leave(exchange: Exchange, journal: Journal, response: Response | None) -> bool:
    """Complete the record in the journal of its arrival: a reset gives the sandbox another one. False if it was
    cleared.
    """
    record, request, clock = exchange.record, exchange.request, exchange.sandbox.clock
    if response is not None and record.outcome != "lost":
        record.status, record.response_headers = (
            response.status,
            (*response.headers, request.embedding),
        )
        if record.byte_surface == "download" and record.problem is None:
            record.response_body_bytes = len(response.body)
        else:
            record.response_body = response.body
    record.is_unheard = (
        request.connection is not None and request.connection.transport.is_closing()
    )
    if record.byte_surface == "upload":
        record.request_body_bytes = exchange.body.size_bytes
    return journal.leave(record, clock.now(), is_timed=not clock.skips_waits)


def _shows_key(
    sandbox: Sandbox, caller: Caller | None, route: Route, request: Request
) -> bool:
    """Whether a request shows the key of a credential where none belongs; a short key may be there by chance.

    A request with a known caller is searched for the caller's own key, any other for every key of the sandbox.
    """
    is_for_bytes = route.byte_surface is not None
    if not (
        is_for_bytes or request.query_string or b"idempotency-key" in request.headers
    ):
        return False
    keys = (
        sandbox.credentials
        if is_for_bytes or caller is None
        else [caller.credential.key]
    )
    others = (
        request.headers.values()
        if is_for_bytes
        else [request.headers.get(b"idempotency-key", b"")]
    )
    places = [request.query_string, *others]
    return any(
        key.encode() in place
        for key in keys
        if len(key) >= MIN_KEY_LENGTH
        for place in places
        if place
    )


def _unrouted_id(sandbox: Sandbox) -> str:
    """Return the Request-Id of a request that belongs to no sandbox."""
    return "req" + sandbox.identifiers.next("unrouted").removeprefix("unrouted")
