"""Requests and conversations as bytes, in the test's own process, without a socket.

The protocol that serves connections is driven by hand: bytes are handed to it in
pieces, what it writes is kept, and then its client leaves. Nothing but files of the
control plane waits for a clock, so a request that is never answered is found by
counting turns of the event loop. Knows nothing of what is asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import h11

from image_workflow_emulator.http.heads import CONNECTION
from image_workflow_emulator.server.connection import Connection, ConnectionState
from image_workflow_emulator.server.server import server_config
from tests.fuzzing.cases import in_pieces
from tests.support.emulator_client import HOST
from tests.support.served import PATIENCE_SECONDS

TURNS = 60
"""Turns of the event loop in which all must happen that needs no more bytes.

They are many times what it takes.
"""

THREAD_SECONDS = 0.5
"""Time limit for the control plane to read a file in a thread."""


Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Message, Receive, Send], Any]


@dataclass(slots=True)
class WireRequest:
    method: bytes
    target: bytes
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes | None = None
    is_chunked: bool = False
    version: bytes = b"HTTP/1.1"

    def written(self, chance: Random) -> bytes:
        """Return its bytes; a chunked body is in chunks of any size."""
        headers = [(b"Host", HOST.encode()), *self.headers]
        body = self.body or b""
        if self.body is not None and self.is_chunked:
            headers.append((b"Transfer-Encoding", b"chunked"))
            body = chunked(in_pieces(self.body, chance))
        elif self.body is not None:
            headers.append((b"Content-Length", b"%d" % len(self.body)))
        lines = [b"%s %s %s" % (self.method, self.target, self.version)]
        lines += [b"%s: %s" % header for header in headers]
        return b"\r\n".join([*lines, b"", body])


def chunked(chunks: Iterable[bytes]) -> bytes:
    """Write a body in chunks."""
    written = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks]
    return b"".join([*written, b"0\r\n\r\n"])


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""

    @property
    def is_of_the_parser(self) -> bool:
        """Whether it refuses bytes that never became a request."""
        headers = dict(self.headers)
        request_id = headers.get(b"request-id", b"")
        return request_id.startswith(b"req_0000000000")


@dataclass(slots=True)
class HandledRequest:
    """A request that the application got; `status` is 0 until it is answered."""

    method: str
    path: str
    status: int = 0


@dataclass(slots=True)
class Conversation:
    requests: list[HandledRequest] = field(default_factory=list)
    written: bytes = b""
    was_closed: bool = False
    """Whether the server closed the connection."""
    most_waiting: int = 0
    """Largest number of requests that waited at a time for those before them."""

    @property
    def asked_control_plane(self) -> bool:
        paths = [request.path for request in self.requests]
        return any(path.startswith("/_emulator") for path in paths)

    def responses(self) -> list[Response]:
        """Read what was written, strictly. Raises AssertionError."""
        methods = [request.method for request in self.requests]
        return list(read_responses(self.written, methods))


class Transport(asyncio.Transport):
    """Keeps what is written.

    It closes as a real one does, in a later turn of the event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        addresses = {
            "sockname": ("127.0.0.1", 8038),
            "peername": ("127.0.0.1", 50000),
        }
        super().__init__(addresses)
        self._loop = loop
        self.protocol: Connection | None = None
        self.written = bytearray()
        self.is_reading_paused = False
        self.unsent_bytes = 0
        self._is_closing = False

    def get_write_buffer_size(self) -> int:
        return self.unsent_bytes

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._is_closing:
            self.written += data

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            assert self.protocol is not None
            self._loop.call_soon(self.protocol.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self.is_reading_paused = True

    def resume_reading(self) -> None:
        self.is_reading_paused = False


async def converse(
    application: AsgiApplication,
    pieces: Iterable[bytes],
    limit: int = 1,
) -> Conversation:
    """Connect, send pieces one after another, wait for all answers, and leave.

    Raises:
        AssertionError: a request is still going on after its client has left.
    """
    conversation = Conversation()
    loop = asyncio.get_running_loop()
    state = ConnectionState(limit)
    config = server_config(_noted(application, conversation))
    protocol = Connection(config, state, {}, loop)
    transport = Transport(loop)
    transport.protocol = protocol
    protocol.connection_made(transport)
    for piece in pieces:
        await turns(lambda: not transport.is_reading_paused or transport.is_closing())
        if transport.is_closing() or transport.is_reading_paused:
            break
        protocol.data_received(piece)
        waiting = len(protocol.pipeline)
        conversation.most_waiting = max(conversation.most_waiting, waiting)
        await asyncio.sleep(0)
    for _ in range(1 + len(protocol.pipeline)):
        await turns(lambda: not (state.tasks or protocol.pipeline))
    if conversation.asked_control_plane and state.tasks:
        await asyncio.wait(state.tasks, timeout=THREAD_SECONDS)
    conversation.was_closed = transport.is_closing()
    if not conversation.was_closed:
        protocol.eof_received()
        transport.close()
    await _end(state, conversation)
    conversation.written = bytes(transport.written)
    return conversation


async def _end(state: ConnectionState, conversation: Conversation) -> None:
    """Wait until all requests are over. Raises AssertionError."""
    await turns(lambda: not state.tasks)
    if state.tasks:
        await asyncio.wait(state.tasks, timeout=PATIENCE_SECONDS)
    unfinished = len(state.tasks)
    for task in state.tasks:
        task.cancel()
    assert unfinished == 0, f"{unfinished} requests go on: {conversation.requests}"


async def turns(is_enough: Callable[[], bool] = lambda: False) -> None:
    """Let the event loop turn until it is enough, but at most `TURNS` times."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
        if is_enough():
            return


class _NotedConnection:
    """The connection under a request, which notes the status of a whole answer."""

    def __init__(self, connection: Any, note_status: Callable[[int], None]) -> None:
        self._connection = connection
        self._note_status = note_status

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def send_whole(
        self,
        status: int,
        headers: Iterable[tuple[bytes, bytes]],
        body: bytes,
    ) -> None:
        self._note_status(status)
        await self._connection.send_whole(status, headers, body)


def _noted(application: AsgiApplication, conversation: Conversation) -> Any:
    async def note(
        scope: Message,
        receive: Receive,
        send: Send,
    ) -> None:
        request = HandledRequest(scope["method"], scope["path"])
        conversation.requests.append(request)

        def note_status(status: int) -> None:
            request.status = status

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                note_status(message["status"])
            await send(message)

        scope[CONNECTION] = _NotedConnection(scope[CONNECTION], note_status)
        await application(scope, receive, noting)

    return note


# Responses ----------------------------------------------------------------------------


def read_responses(written: bytes, methods: Sequence[str]) -> Iterable[Response]:
    """Read a sequence of responses to requests of some methods, strictly.

    Raises AssertionError.
    """
    unanswered = list(methods)
    while written:
        method = unanswered[0] if unanswered else "GET"
        response, rest = _read_first(written, method)
        if response.is_of_the_parser:
            response, rest = _read_first(written, "GET")
        else:
            assert unanswered, "there are more answers than requests"
            del unanswered[0]
        written = rest
        yield response


def _read_first(written: bytes, method: str) -> tuple[Response, bytes]:
    """Read the first response, to a request of a method.

    Returns it and what follows it. Raises AssertionError.
    """
    client = h11.Connection(h11.CLIENT)
    request = h11.Request(
        method=method,
        target="/",
        headers=[("Host", HOST)],
    )
    client.send(request)
    client.send(h11.EndOfMessage())
    client.receive_data(written)
    head = None
    body = b""
    try:
        while not isinstance(event := client.next_event(), h11.EndOfMessage):
            assert event is not h11.NEED_DATA, f"{written[:200]!r} is not complete"
            if isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
    except h11.RemoteProtocolError as error:
        raise AssertionError(f"no response: {written[:200]!r}") from error
    assert head is not None
    rest, _is_closed = client.trailing_data
    return Response(head.status_code, tuple(head.headers), body), rest
