"""One connection, and how its bytes become requests: uvicorn's protocol, with some corrections and one addition.

A client that offers to change to another protocol (`Upgrade: h2c`, which Java's HttpClient sends with every request) is
answered in HTTP/1.1: the parser would take the offer as agreed, and lose the body of the request. The head of a request
has a maximum size. Both need the whole head at once, so it is held back until it is complete. Chunk extensions and
trailers have a maximum size as well, and so has the queue of pipelined requests. A connection that is idle or slow for
too long is closed. A method that the parser does not know is accepted (D06). Bytes that are not a request are answered
with a problem like any other (section 7). The addition is a handle on the connection, for scenarios that break it.
"""

import asyncio
import re
import socket
import struct
from collections import deque
from collections.abc import Coroutine, Generator, Sized
from types import coroutine
from typing import Any, cast
from urllib.parse import unquote

import httptools

from emulator.domain.problems import Problem
from emulator.http.connection import CONNECTION_EXTENSION
from emulator.http.problems import problem_response
from emulator.kernel.clock import host_elapsed_ms
from emulator.server.batches import HoldingTransport
from emulator.server.connections import ANSWER_SECONDS, BODY_SECONDS, HEAD_SECONDS, IDLE_SECONDS, Connections
from emulator.server.cycles import Cycle
from emulator.server.garbage import REQUESTS_BETWEEN, collect_new
from emulator.server.heads import Head
from emulator.server.uvicorn_classes import HIGH_WATER_LIMIT, FlowControl, HttpToolsProtocol

MAXIMUM_HEAD_BYTES = 64 * 1024
MAXIMUM_FRAMING_BYTES = 64 * 1024
"""The most bytes of a chunked body that may come without content: lengths, their extensions, and trailers."""
MAXIMUM_WAITING = 16
"""The most unanswered requests of a connection: at this number, nothing more is read from it."""
_MOST_UNREAD_BYTES = 1024 * 1024
"""The most bytes read ahead of the request that is being answered, to see whether the client has gone."""
_RETRY_SECONDS = 5
"""The Retry-After of a connection that is refused because there are too many."""

_END_OF_HEAD = b"\r\n\r\n"
_BEGINNING_OF_HEAD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})(?: |\Z)")
"""A method, and the space behind it if that has arrived."""
_USUAL_BEGINNINGS = tuple(method + b" " for method in b"GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT".split())
_STAND_IN_METHOD = b"PURGE"
"""Replaces a method that the parser does not know: it knows this one, and no path allows it."""
_ABSOLUTE_TARGET = re.compile(rb"https?://([^/?#]*)", re.IGNORECASE)
_UPGRADE = re.compile(rb"\r\nupgrade[ \t]*:[^\r\n]*", re.IGNORECASE)


@coroutine
def _go_on(answering: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """Go on with a coroutine that has begun and waits for something, as `await` does."""
    while True:
        try:
            resume, value = answering.send, (yield awaited)
        except BaseException as error:  # such as a cancellation
            resume, value = answering.throw, error
        try:
            awaited = resume(value)
        except StopIteration:
            return


async def _finish(answering: Coroutine[Any, Any, None], awaited: Any) -> None:
    """Do the same as a coroutine proper: a task takes nothing else."""
    await _go_on(answering, awaited)


class _PatientFlow(FlowControl):
    """Resumes reading only while few requests wait. uvicorn resumes with each answer, though all others still wait."""

    def __init__(self, transport: asyncio.Transport, unanswered: Sized) -> None:
        super().__init__(transport)
        self._unanswered = unanswered

    def resume_reading(self) -> None:
        """Called when an answer is whole, and when a request wants more of its body."""
        if self.read_paused and len(self._unanswered) < MAXIMUM_WAITING:
            super().resume_reading()


class PatientHttpProtocol(HttpToolsProtocol):
    """One connection."""

    server_state: Connections
    cycle: Cycle
    _head: Head | None = None
    """The last head that the parser read."""

    unanswered: deque[Cycle]
    """The requests whose answers are not whole, in their order: the first is being answered, the others wait."""
    _between_requests = True
    _is_refused = False
    """Whether the connection ends with a refusal, which may still wait for other answers. Nothing more is read."""
    _held_back = b""
    """Bytes that are not parsed yet: a head that is not whole, and requests behind too many unanswered ones."""
    _body_left: int | None = None
    """How many bytes of the body are still to come; None if only the parser can tell, since it comes in chunks."""
    _framing_bytes = 0
    _unusual_method: str | None = None
    _heard_at = 0.0
    """When the connection was made, a head began, or a part of a body came, whichever was last."""
    _unsent_bytes = 0
    """How many bytes of answers the client had not taken when the connection was last looked at."""
    _taken_at = 0.0
    """When that number last changed."""
    made_ms = 0.0
    peer: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called once, when the connection is there."""
        transport = cast(asyncio.Transport, HoldingTransport(transport, self.server_state.batch))
        super().connection_made(transport)
        self.made_ms = host_elapsed_ms()
        if self.client is not None:
            self.peer = f"{self.client[0]}:{self.client[1]}"
        self.unanswered = deque()
        self.flow = _PatientFlow(transport, self.unanswered)
        self._heard_at = self.loop.time()
        if len(self.connections) > self.server_state.limit:
            self.server_state.refused += 1
            self._refuse(503, "service_unavailable", "The emulator has as many connections as it can hold.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Called once, when the connection is gone. A request that is still being answered goes on without it.

        uvicorn tells only the last request. What leads back to the connection is cut: the garbage collector would not
        find a circle that has lived for long (emulator.server.garbage).
        """
        for cycle in self.unanswered:
            cycle.disconnect()
        self.unanswered.clear()
        super().connection_lost(exc)
        self.cycle = None  # type: ignore[assignment]  # nothing asks for it any more

    def end_if_overdue(self, now: float) -> bool:
        """Close the connection if it keeps the server waiting; return whether it was closed."""
        if self._is_unread(now):
            self.transport.abort()
            return True
        silence = now - self._heard_at
        if self._is_refused or self.transport.is_closing():
            return False
        if self.flow.read_paused:
            if len(self._held_back) + len(self.cycle.body) < _MOST_UNREAD_BYTES:
                FlowControl.resume_reading(self.flow)  # once, since the client's leaving is behind what it sent
            return False
        if self._held_back:
            if silence > HEAD_SECONDS:
                self._refuse(408, "invalid_request", f"The head of a request must come within {HEAD_SECONDS:g} s.")
                return True
        elif not self._between_requests:
            if silence > BODY_SECONDS:
                self.transport.abort()
                return True
        elif silence > IDLE_SECONDS and not self.unanswered:
            self.transport.close()
            return True
        return False

    def _is_unread(self, now: float) -> bool:
        """Whether the client has left its answers unread for too long. A closing connection waits for them as well."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._taken_at = unsent_bytes, now
        return bool(unsent_bytes) and now - self._taken_at > ANSWER_SECONDS

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport: heads one by one, since the parser loses the bytes behind some of them."""
        while data and not self._is_refused and not self.transport.is_closing():
            if not self._between_requests:
                data = self._take_body(data)
            elif len(self.unanswered) < MAXIMUM_WAITING:
                data = self._take_head(data)
            else:
                self._held_back += data
                self.flow.pause_reading()
                return

    def _queue(self, cycle: Cycle) -> None:
        """Let a request be answered, after those before it."""
        self.unanswered.append(cycle)
        if len(self.unanswered) == 1:
            self.server_state.batch.answer(self._answer, cycle)

    def _answer(self, cycle: Cycle) -> None:
        """Answer a request: at once, or in a task if something has to be waited for.

        Most need no task: making one and running it takes 8 us, a fourth of a small request without the kernel's part.
        """
        answering = cycle.run_asgi(cycle.application)
        try:
            awaited = answering.send(None)
        except StopIteration:
            return
        task = self.loop.create_task(_finish(answering, awaited))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _take_head(self, data: bytes) -> bytes:
        """Parse one head, if it is whole, and return what comes after it."""
        if self._held_back:
            data = self._held_back + data
        else:
            self._heard_at = self.loop.time()
        end = data.find(_END_OF_HEAD)
        if end > MAXIMUM_HEAD_BYTES or (end < 0 and len(data) > MAXIMUM_HEAD_BYTES):
            self._refuse(400, "invalid_request", f"The head of a request may have {MAXIMUM_HEAD_BYTES} bytes at most.")
            return b""
        if end < 0 and b"\n\n" not in data and _BEGINNING_OF_HEAD.match(data):
            self._held_back = data
            return b""
        self._held_back = b""
        end = len(data) if end < 0 else end + len(_END_OF_HEAD)  # without an end it is no head: the parser says why
        head, rest = data[:end], data[end:]
        known = self.server_state.heads.find(head)
        if known is not None:
            self._begin(known)
            self.cycle.end_body()
        else:
            self._parse_head(head)
        return rest

    def _parse_head(self, data: bytes) -> None:
        """Let the parser read a head; it calls the `on_` methods."""
        head = _UPGRADE.sub(b"", data) if b"upgrade" in data.lower() else data
        if not head.startswith(_USUAL_BEGINNINGS):
            head = self._with_known_method(head)
        before = self._head
        self._feed(head)
        if self._head is not None and self._head is not before and self._between_requests:  # no body follows
            self.server_state.heads.keep(data, self._head)

    def _feed(self, data: bytes) -> None:
        """Let the parser read bytes. Those that are no request are refused."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # after CONNECT, which is refused like any other method
            pass
        except httptools.HttpParserError as error:  # which hides the one of its helper for addresses behind another
            self.logger.warning("Invalid HTTP request received.")
            detail = f"The bytes are no HTTP/1.1 request: {error.__context__ or error}."
            self._refuse(400, "invalid_request", detail)

    def _with_known_method(self, head: bytes) -> bytes:
        """Return a head whose method the parser knows, and remember the other (D06)."""
        beginning = _BEGINNING_OF_HEAD.match(head)
        if beginning is None:
            return head
        self._unusual_method = beginning[1].decode()
        return _STAND_IN_METHOD + head[beginning.end(1) :]

    def _take_body(self, data: bytes) -> bytes:
        """Parse bytes of a body, and return those behind it."""
        self._heard_at = self.loop.time()
        if self._body_left is None:  # in chunks: only the parser knows where they end
            if self._framing_bytes > MAXIMUM_FRAMING_BYTES:
                self._refuse(400, "invalid_request", f"A body came on for {self._framing_bytes} bytes without content.")
                return b""
            self._framing_bytes += len(data)
            self._feed(data)
            return b""
        body, rest = data[: self._body_left], data[self._body_left :]
        self._body_left -= len(body)
        self._feed(body)
        return rest

    def on_message_begin(self) -> None:
        """Called by the parser at the first byte of a request."""
        self._between_requests = False
        self._framing_bytes, self._body_left = 0, None
        self.url, self.headers = b"", []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser with a header, in the head or among the trailers."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Called by the parser at the end of the head of a request: begin to answer it, after those before it."""
        absolute = None if self.url.startswith(b"/") else _ABSOLUTE_TARGET.match(self.url)
        expects_continue = False
        for index, (name, value) in enumerate(self.headers):
            if name == b"content-length":
                self._body_left = int(value)
            elif name == b"expect" and value.lower() == b"100-continue":
                expects_continue = True
            elif absolute and name == b"host":  # which the target overrules (RFC 9112)
                self.headers[index] = (name, absolute[1])
        self._head = self._found_head(expects_continue)
        self.headers = []  # of trailers, which are no headers of the request
        self._begin(self._head)

    def _found_head(self, expects_continue: bool) -> Head:
        """Return the head that the parser has just read."""
        method, self._unusual_method = self._unusual_method or self.parser.get_method().decode("ascii"), None
        url, version = httptools.parse_url(self.url), self.parser.get_http_version()
        raw_path = url.path or b"/"  # an absolute target needs none
        path = raw_path.decode("ascii")
        return Head(
            method=method,
            path=unquote(path) if "%" in path else path,
            raw_path=raw_path,
            query_string=url.query or b"",
            headers=self.headers,
            version=version,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            expects_continue=expects_continue,
        )

    def _begin(self, head: Head) -> None:
        """Begin to answer a request, after those before it."""
        self.cycle = Cycle(self, self._scope(head), self.app, head.keep_alive, head.expects_continue)
        self._queue(self.cycle)

    def _scope(self, head: Head) -> Any:
        """Return the ASGI scope of a request."""
        return {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": head.version,
            "server": self.server,
            "client": self.client,
            "scheme": "http",
            "root_path": "",
            "method": head.method,
            "path": head.path,
            "raw_path": head.raw_path,
            "query_string": head.query_string,
            "headers": head.headers,
            "extensions": {CONNECTION_EXTENSION: {"connection": self}},
        }

    def on_body(self, body: bytes) -> None:
        """Called by the parser with content."""
        self._framing_bytes = 0
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.take(body)
            if len(cycle.body) > HIGH_WATER_LIMIT or len(self.unanswered) > 1:
                self.flow.pause_reading()

    def on_message_complete(self) -> None:
        """Called by the parser at the last byte of a request."""
        if not self.cycle.response_complete:
            self.cycle.end_body()
        self._between_requests = True
        self._heard_at = self.loop.time()

    def on_response_complete(self) -> None:
        """Called when an answer is whole: go on with the request that waits behind it."""
        self.server_state.total_requests += 1
        if self.server_state.total_requests % REQUESTS_BETWEEN == 0:
            collect_new()
        self.unanswered.popleft()
        if self.transport.is_closing():
            return
        if self.unanswered:
            self.server_state.batch.answer(self._answer, self.unanswered[0])
        if self._held_back and self.flow.read_paused:
            held, self._held_back = self._held_back, b""
            self.data_received(held)
        self.flow.resume_reading()

    def reset(self) -> None:
        """Reset the connection, as a scenario asks."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None and not self.transport.is_closing():  # else the client has left by itself
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def close(self) -> None:
        """Close the connection after the bytes that were sent, though the answer is not whole."""
        self.transport.close()

    def _refuse(self, status: int, code: str, detail: str) -> None:
        """Answer bytes that are no request with a problem, after the requests before them, and close the connection."""
        self._is_refused = True
        if self.unanswered and self.unanswered[-1].more_body:  # which never comes
            spoiled = self.unanswered.pop()
            spoiled.disconnect()
            if spoiled.response_started:
                self.transport.close()
                return
        problem = Problem(code, detail, status=status)
        retry_after = _RETRY_SECONDS if status == 503 else None
        answer = problem_response(problem, self.server_state.next_request_id(), retry_after)
        message = {"type": "http.response.start", "status": status, "headers": answer.headers, "body": answer.body}
        self._queue(Cycle(self, {}, lambda _scope, _receive, send: send(message), keep_alive=False))
