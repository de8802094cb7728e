"""The service as an ASGI application: a request arrives, is answered, enters the journal,
and its answer goes out.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import orjson

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.http.answers import JSON_TYPE, Answer
from image_workflow_emulator.http.bodies import Body
from image_workflow_emulator.http.heads import HEAD, Head, Message, Receive, Scope, Send
from image_workflow_emulator.http.stops import Stop
from image_workflow_emulator.http.surfaces import DIRECT_UPLOADS_PREFIX, FILES_PREFIX
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web import direct_uploads, files, pipeline
from image_workflow_emulator.web.exchange import Destination, Exchange
from image_workflow_emulator.web.fault_actions import FaultActions
from image_workflow_emulator.web.pictures import PictureWorker
from image_workflow_emulator.web.v1 import V1
from image_workflow_emulator.web.wire import Wire

MIN_KEY_LENGTH: Final = 8
"""A shorter key is not searched for in requests: it may be there by chance."""

Surface: TypeAlias = Callable[[Sandboxes, Head], Destination]
_BYTE_SURFACES: Final[dict[str, Surface]] = {
    FILES_PREFIX: files.find,
    DIRECT_UPLOADS_PREFIX: direct_uploads.find,
}
"""What finds the destination of a path, by its first step; all other paths are those of
`/v1`."""


class Service:
    """Every path except the control plane's."""

    def __init__(
        self,
        contract: Contract,
        sandboxes: Sandboxes,
        pictures: PictureWorker,
        public_url: str | None,
        stop: Stop,
        *,
        sends_whole: bool,
    ) -> None:
        """`sends_whole`: answers may go past `send`, in one write; not where somebody
        waits there to change them.
        """
        self._sandboxes = sandboxes
        self._pictures = pictures
        self._public_url = public_url
        self._stop = stop
        self._sends_whole = sends_whole
        self._v1 = V1(contract, sandboxes)

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request, which has passed the door."""
        head: Head = scope[HEAD]
        body = Body(receive, head.has_body())
        exchange = self._exchange(head, body)
        journal = exchange.sandbox.journal
        journal.arrive(exchange.record)
        answer = await pipeline.answer(exchange)
        if _leave(exchange, journal, answer):
            for watcher in self._sandboxes.watchers:
                watcher(exchange.sandbox, exchange.record)
        if answer is None:
            return
        if exchange.sandbox.playbooks:
            exchange.note_answer()
        wire = Wire(head, receive, send, body, self._stop, self._sends_whole)
        await exchange.fault.wire(FaultActions(exchange), answer, wire)
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
        """Ask `/v1` with a valid key, and return the JSON of the answer.

        The request is not journaled, rate-limited or matched by rules. `scope` is that
        of the request behind it.

        Raises:
            Problem: it is refused.
        """
        request_id = _unrouted_id(sandbox)
        headers = [(name, value) for name, value in scope["headers"] if name == b"host"]
        headers += [
            (b"authorization", f"Bearer {key}".encode()),
            (b"idempotency-key", request_id.encode()),
            JSON_TYPE,
        ]
        own_scope = {
            **scope,
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": headers,
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": content, "more_body": False}

        head = Head(own_scope, self._public_url)
        exchange = self._exchange(head, Body(receive, bool(content)), request_id)
        exchange.is_off_record = True
        answer = await pipeline.answer(exchange)
        if exchange.record.problem is not None:
            raise exchange.record.problem
        assert answer is not None
        return dict(orjson.loads(answer.body))

    def _exchange(
        self,
        head: Head,
        body: Body,
        request_id: str | None = None,
    ) -> Exchange:
        """Begin an exchange.

        Unknown callers get Request-Ids of their own sequence: they change none of a
        test.
        """
        destination = self._find(head)
        sandbox = destination.home or self._sandboxes.default
        if request_id is None:
            request_id = _next_request_id(sandbox, destination)
        now = sandbox.clock.now()
        record = _record(head, body, sandbox, destination, request_id, now)
        return Exchange(
            sandboxes=self._sandboxes,
            pictures=self._pictures,
            stop=self._stop,
            head=head,
            body=body,
            sandbox=sandbox,
            has_home=destination.home is not None,
            caller=destination.caller,
            route=destination.route,
            resource_id=destination.resource_id,
            record=record,
            now=now,
        )

    def _find(self, head: Head) -> Destination:
        first_step = head.path[: head.path.find("/", 1) + 1]
        find_bytes = _BYTE_SURFACES.get(first_step)
        if find_bytes is None:
            return self._v1.find(head)
        return find_bytes(self._sandboxes, head)


def _record(
    head: Head,
    body: Body,
    sandbox: Sandbox,
    destination: Destination,
    request_id: str,
    now: int,
) -> RequestRecord:
    route = destination.route
    caller = destination.caller
    return RequestRecord.arrived(
        head,
        at=now,
        request_id=request_id,
        has_body=body.has_more,
        credential=caller.credential if caller else None,
        team=caller.account.team if caller else None,
        shows_key=_shows_key(sandbox, destination, head),
        operation=route.operation,
        byte_surface=route.byte_surface,
        checks=route.checks,
        steps_passed=route.steps_passed,
    )


def _leave(
    exchange: Exchange,
    journal: Journal,
    answer: Answer | None,
) -> bool:
    """Complete the record in the journal of its arrival: a reset gives the sandbox
    another one. Return False if it was cleared.
    """
    record = exchange.record
    head = exchange.head
    clock = exchange.sandbox.clock
    if answer is not None and record.outcome != "lost":
        record.status = answer.status
        record.response_headers = (*answer.headers, head.embedding)
        if record.byte_surface == "download" and record.problem is None:
            record.response_body_bytes = len(answer.body)
        else:
            record.response_body = answer.body
    if exchange.caller is not None and record.request_body is not None:
        own_key = exchange.caller.credential.key
        record.shows_key |= _has_key(record.request_body, [own_key])
    if head.connection is not None:
        record.is_unheard = head.connection.transport.is_closing()
    if record.byte_surface == "upload":
        record.request_body_bytes = exchange.body.size_bytes
    return journal.leave(record, clock.now(), is_timed=not clock.skips_waits)


def _shows_key(
    sandbox: Sandbox,
    destination: Destination,
    head: Head,
) -> bool:
    """Return whether the head of a request shows the key of a credential where none
    belongs.

    A request with a known caller is searched for the caller's own key, any other for
    every key of the sandbox.
    """
    headers = head.headers
    places = [head.query_string]
    if destination.route.byte_surface is not None:
        places.extend(headers.values())
    else:
        places.append(headers.get(b"idempotency-key", b""))
        places.append(headers.get(b"user-agent", b""))
    keys: Iterable[str] = sandbox.credentials
    if destination.caller is not None:
        keys = [destination.caller.credential.key]
    return _has_key(b"\n".join(places), keys)


def _has_key(data: bytes, keys: Iterable[str]) -> bool:
    return any(len(key) >= MIN_KEY_LENGTH and key.encode() in data for key in keys)


def _next_request_id(sandbox: Sandbox, destination: Destination) -> str:
    if destination.home is None:
        return _unrouted_id(sandbox)
    return sandbox.identifiers.next("req")


def _unrouted_id(sandbox: Sandbox) -> str:
    """Return the Request-Id of a request that belongs to no sandbox."""
    return "req" + sandbox.identifiers.next("unrouted").removeprefix("unrouted")
