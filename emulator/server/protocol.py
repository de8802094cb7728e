"""One connection: uvicorn's own protocol, with hooks for limits, clocks, problems and faults on the wire.

Where a head or a body begins and ends is decided by uvicorn's parser alone. The hooks count what it reports, note what a
connection waits for, answer what is no request with a problem (section 7), and give scenarios a handle on the connection.
"""

import asyncio
import re
from collections.abc import Iterable
from itertools import chain, count
from typing import Any, Final, Literal

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from emulator.domain.problems import Problem
from emulator.http.connection import CONNECTION_EXTENSION, WHOLE_BODY, Connection
from emulator.http.problems import problem_response
from emulator.http.responses import OWN_ORIGIN, Header

HEAD_SECONDS: Final = 30.0
"""How long the head of a request may take, from its first byte to its last."""
BODY_SECONDS: Final = 30.0
"""How long a body may go without content while the server waits for it."""
IDLE_SECONDS: Final = 120.0
"""How long a connection may be open without a request."""
ANSWER_SECONDS: Final = 600.0
"""How long an answer may go on without a byte being taken by the system, which does so in steps of up to a megabyte."""
MAX_HEAD_BYTES: Final = 64 * 1024
"""Also the most bytes in a row that the parser takes without reporting a whole head, content, or the end of a body."""
MAX_PIPELINED: Final = 16
"""The number of waiting requests of a connection at which nothing more of it is parsed."""
MAX_UNREAD_BYTES: Final = 1024 * 1024
"""The most bytes read ahead of the request that is being answered, to see whether the client has gone."""
PIECE_BYTES: Final = 16 * 1024
"""The most bytes that the parser gets between two looks at the limits."""
RETRY_SECONDS: Final = 5
"""The Retry-After of a connection that is refused because there are too many."""

_SMALL_HEAD_BYTES: Final = MAX_HEAD_BYTES - PIECE_BYTES
"""A head need not be measured where the parser took fewer bytes: it began in the piece that ended the request before."""
_ABSOLUTE_TARGET: Final = re.compile(rb"https?://([^/?#]*)/?(.*)", re.IGNORECASE)


class Connections(ServerState):
    """The state that the connections of one server share."""

    connections: "set[WatchedProtocol]"  # type: ignore[assignment]

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self._unwritten: list[tuple[asyncio.Transport, bytes]] = []
        self.refused = 0
        """The number of connections refused since the last check, because there were too many."""
        self.request_ids = (f"req_{number:026x}" for number in count(1))
        """For bytes that never became a request: unique, and never that of a request."""

    def write_soon(self, transport: asyncio.Transport, data: bytes) -> None:
        """Write in one go with the other answers of this turn of the event loop.

        A client of many connections then wakes once for all of them, which saves the server a fifth of its time.
        """
        if not self._unwritten:
            asyncio.get_running_loop().call_soon(self.flush)
        self._unwritten.append((transport, data))

    def flush(self) -> None:
        """Write the answers that wait, except to clients that have left meanwhile."""
        unwritten, self._unwritten = self._unwritten, []
        for transport, data in unwritten:
            if not transport.is_closing():
                transport.write(data)

    def make_room(self, newcomer: "WatchedProtocol") -> bool:
        """Close the connection that has been idle for longest; return False if no other one is idle."""
        self.flush()
        idle = [each for each in self.connections if each.is_idle and each is not newcomer]
        if idle:
            min(idle, key=lambda each: each.heard_at).transport.close()
        return bool(idle)


class WatchedProtocol(HttpToolsProtocol):
    """One connection."""

    server_state: Connections
    _awaited: Literal["request", "head", "body"] = "request"
    """What the parser has to report next: a request, the end of its head, or the end of its body."""
    heard_at = 0.0
    """When the head or body that is awaited began, when content came last, or when the last answer was complete."""
    _unparsed: bytearray
    """Bytes that wait until fewer requests do."""
    _framing_bytes = 0
    """The bytes that the parser took since it last reported a head, content, or the end of a body."""
    _answering: RequestResponseCycle | None = None
    """The last request that the application was given; those behind it are in the pipeline."""
    _refusal = b""
    """The answer with which the connection ends; it may wait for others. Nothing is parsed any more."""
    _unsent_bytes = 0
    """How many bytes of answers the client had not taken when the connection was last looked at."""
    _taken_at = 0.0
    """When that number last changed."""

    # What the transport reports -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, if there is room for one more."""
        super().connection_made(transport)
        self._unparsed = bytearray()
        self._extensions: dict[str, dict[object, object]] = {
            CONNECTION_EXTENSION: {"connection": Connection(transport, self.client)}
        }
        if len(self.connections) > self.server_state.limit and not self.server_state.make_room(self):
            self.server_state.refused += 1
            self._refuse(Problem("service_unavailable", "There are too many connections.", retry_after=RETRY_SECONDS))
            return
        self.heard_at = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection. uvicorn tells only the last request, which may wait behind the one that is being answered."""
        super().connection_lost(exc)
        self.pipeline.clear()
        if self._answering is not None:
            _disconnect(self._answering)

    def eof_received(self) -> None:
        """Answer what was asked before the client ended its side; the transport closes after this."""
        self.server_state.flush()

    def data_received(self, data: bytes) -> None:
        """Parse bytes, or keep them while many requests wait."""
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        while self._unparsed and len(self.pipeline) < MAX_PIPELINED:
            if self._refusal or self.transport.is_closing():
                self._unparsed.clear()
                return
            piece = self._unparsed[:PIECE_BYTES]
            del self._unparsed[:PIECE_BYTES]
            self._framing_bytes += len(piece)
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as stop:
                self._unparsed[:0] = self._head_without_offer() + piece[stop.args[0] :]
            except httptools.HttpParserError as error:
                self.logger.warning("Invalid HTTP request received.")
                self._refuse(_problem_of(error))
            else:
                if self._framing_bytes > MAX_HEAD_BYTES:
                    detail = f"{self._framing_bytes} bytes came without the end of a head, and without content."
                    self._refuse(Problem("invalid_request", detail))
        if self._unparsed:
            self.flow.pause_reading()

    def _head_without_offer(self) -> bytes:
        """Return the head at which the parser stopped, to be parsed again without its offer of another protocol.

        Java's HttpClient sends `Upgrade: h2c` with its first request. The parser takes such an offer as agreed, and the
        body of the request as bytes of that protocol.
        """
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    # What the parser reports ----------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin a request, at its first byte."""
        self._awaited, self.heard_at = "head", self.loop.time()
        super().on_message_begin()
        self.scope["extensions"] = self._extensions

    def on_headers_complete(self) -> None:
        """Let a request be answered, after those before it. Raises Problem."""
        self._check_head()
        self._framing_bytes = 0
        if self.parser.should_upgrade():  # the parser stops here, and gets the head again
            return
        absolute = None if self.url.startswith(b"/") else _ABSOLUTE_TARGET.match(self.url)
        if absolute is not None:  # its host overrules the header (RFC 9112)
            self.headers[:] = [(name, absolute[1] if name == b"host" else value) for name, value in self.headers]
            self.url = b"/" + absolute[2]
        super().on_headers_complete()
        self._awaited, self.heard_at = "body", self.loop.time()
        self.headers = []  # of trailers, which are no headers of the request
        if self.expect_100_continue:
            self.cycle.keep_alive = False  # only the client knows whether its body follows, or its next request
        if self.pipeline:  # uvicorn reads no more, and would not see the client leave
            self.flow.resume_reading()

    def _check_head(self) -> None:
        """Refuse a head that is too large, or of another protocol. Raises Problem."""
        if (
            self._framing_bytes > _SMALL_HEAD_BYTES
            and len(self.url) + sum(map(len, chain.from_iterable(self.headers))) > MAX_HEAD_BYTES
        ):
            detail = f"The head of a request may have {MAX_HEAD_BYTES} bytes at most."
        elif (version := self.parser.get_http_version()) not in ("1.1", "1.0"):
            detail = f"HTTP/{version} is not spoken here; expected HTTP/1.1."
        elif self.parser.get_method() == b"CONNECT":
            detail = "CONNECT is not allowed here: the emulator is no proxy."
        else:
            return
        raise Problem("invalid_request", detail)

    def on_body(self, body: bytes) -> None:
        """Take content."""
        self._framing_bytes, self.heard_at = 0, self.loop.time()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request, at its last byte."""
        if not self.parser.should_upgrade():
            self._framing_bytes, self._awaited = 0, "request"
            super().on_message_complete()

    # Answers --------------------------------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, self._answer)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Let the application answer; write head and body of an answer in one piece that it hands in whole."""
        cycle = self._answering
        assert cycle is not None

        async def send_at_once(message: Any) -> None:
            if WHOLE_BODY not in message:
                await send(message)
                return
            if self.flow.write_paused:
                await self.flow.drain()
            if cycle.disconnected:
                return
            cycle.response_started = cycle.response_complete = True
            answer = _answer_bytes(message["status"], message["headers"], message[WHOLE_BODY], cycle.keep_alive)
            self.server_state.write_soon(self.transport, answer)
            if not cycle.keep_alive:
                self._close()
            self.on_response_complete()

        await self.app(scope, receive, send_at_once)

    def on_response_complete(self) -> None:
        """Go on with the requests behind the one that is answered. uvicorn would start a timer after each answer."""
        if self.transport.is_closing():
            return
        self.heard_at = self.loop.time()
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        if self._refusal:
            self._end_refused()
        elif self._unparsed:
            self._parse()

    def _refuse(self, problem: Problem) -> None:
        """Answer bytes that are no request with a problem, after the requests before them, and close the connection."""
        if self._awaited == "body":  # it never comes to its end
            if self.cycle.response_started:
                self.transport.close()
                return
            _disconnect(self.cycle)
            if self.pipeline:
                self.pipeline.popleft()
        answer = problem_response(problem, next(self.server_state.request_ids), problem.retry_after, (OWN_ORIGIN,))
        self._refusal = _answer_bytes(answer.status, answer.headers, answer.body, keep_alive=False)
        self._end_refused()

    def _end_refused(self) -> None:
        """Send the refusal if it is its turn."""
        current = self._answering
        if not self.pipeline and (current is None or current.response_complete or current.disconnected):
            self.server_state.write_soon(self.transport, self._refusal)
            self._close()

    def _close(self) -> None:
        """Close the connection behind its last answer."""
        self.server_state.flush()
        self.transport.close()

    # What the server asks -------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether it is open without a request."""
        is_answered = self._answering is None or (self._answering.response_complete and not self.pipeline)
        return self._awaited == "request" and is_answered and not self.transport.is_closing()

    def end_if_overdue(self, now: float) -> bool:
        """Close the connection if it is idle for long, or its client keeps the server waiting; return whether it did the latter."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._taken_at = unsent_bytes, now
        if unsent_bytes and now - self._taken_at > ANSWER_SECONDS:
            self.transport.abort()
            return True
        if self._refusal or self.transport.is_closing():
            return False
        if self._unparsed or self.flow.read_paused:
            self.heard_at = now  # the server keeps its client waiting
            if len(self._unparsed) + len(self.cycle.body) < MAX_UNREAD_BYTES:
                self.flow.resume_reading()  # that the client has left is behind what it sent
            return False
        silence = now - self.heard_at
        if self.is_idle and silence > IDLE_SECONDS:
            self.transport.close()
            return False
        if self._awaited == "head" and silence > HEAD_SECONDS:
            detail = f"The head of a request must come within {HEAD_SECONDS:g} s."
            self._refuse(Problem("invalid_request", detail, status=408))
        elif self._awaited == "body" and silence > BODY_SECONDS:
            self.transport.abort()
        else:
            return False
        return True


def _problem_of(error: httptools.HttpParserError) -> Problem:
    """Return how bytes are refused that the parser, or one of the methods that it calls, does not take."""
    reason = error.__context__  # what such a method raised
    if isinstance(reason, Problem):
        return reason
    return Problem("invalid_request", f"The bytes are no HTTP/1.1 request: {reason or error}.")


def _answer_bytes(status: int, headers: Iterable[Header], body: bytes, keep_alive: bool) -> bytes:
    """Write a whole answer, whose headers are known to be sound: they are the emulator's own."""
    lines = [b"%s: %s" % header for header in headers]
    if not keep_alive:
        lines.append(b"connection: close")
    return b"%s%s\r\n\r\n%s" % (STATUS_LINE[status], b"\r\n".join(lines), body)


def _disconnect(cycle: RequestResponseCycle) -> None:
    """Tell a request that its client has gone."""
    cycle.disconnected = True
    cycle.message_event.set()
