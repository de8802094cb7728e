"""One connection: uvicorn's own protocol, with hooks for limits, clocks, problems and faults on the wire.

Where a head or a body begins and ends is decided by uvicorn's parser alone. The hooks count what it reports, note what a
connection waits for, answer what is no request with a problem (section 7), and give scenarios a handle on the connection.
"""

import asyncio
import re
from itertools import chain
from typing import Any, Final, Literal

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from emulator.domain.problems import Problem
from emulator.http.connection import CONNECTION_EXTENSION, Connection
from emulator.http.problems import problem_response
from emulator.http.responses import OWN_ORIGIN

HEAD_SECONDS: Final = 30.0
"""How long the head of a request may take, from its first byte to its last."""
BODY_SECONDS: Final = 30.0
"""How long a body may go without content while the server waits for it."""
ANSWER_SECONDS: Final = 600.0
"""How long an answer may go on without a byte being taken by the system, which does so in steps of up to a megabyte."""
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_FRAMING_BYTES: Final = 64 * 1024
"""The most bytes in a row that the parser takes without reporting a whole head, content, or the end of a body."""
MAX_PIPELINED: Final = 16
"""The number of waiting requests of a connection at which nothing more of it is parsed."""
MAX_UNREAD_BYTES: Final = 1024 * 1024
"""The most bytes read ahead of the request that is being answered, to see whether the client has gone."""
PIECE_BYTES: Final = 16 * 1024
"""The most bytes that the parser gets between two looks at the limits."""
RETRY_SECONDS: Final = 5
"""The Retry-After of a connection that is refused because there are too many."""

_ABSOLUTE_TARGET: Final = re.compile(rb"https?://([^/?#]*)/?(.*)", re.IGNORECASE)


class Connections(ServerState):
    """The state that the connections of one server share."""

    connections: "set[WatchedProtocol]"  # type: ignore[assignment]

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.refused = 0
        """The number of connections refused since the last check, because there were too many."""
        self._refusals = 0

    def next_request_id(self) -> str:
        """Return a Request-Id for bytes that never became a request: unique, and never that of a request."""
        self._refusals += 1
        return f"req_{self._refusals:026x}"

    def make_room(self) -> bool:
        """Close the connection that has been idle for longest; return False if none is idle."""
        ends = [(timer.when(), each) for each in self.connections if (timer := each.timeout_keep_alive_task)]
        idle = [(at, each) for at, each in ends if not each.transport.is_closing()]
        if idle:
            min(idle, key=lambda entry: entry[0])[1].timeout_keep_alive_handler()
        return bool(idle)


class WatchedProtocol(HttpToolsProtocol):
    """One connection."""

    server_state: Connections
    _awaited: Literal["request", "head", "body"] = "request"
    """What the parser has to report next: a request, the end of its head, or the end of its body."""
    _heard_at = 0.0
    """When the head or body that is awaited began, or when content came last."""
    _unparsed = b""
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
        self._extensions: dict[str, dict[object, object]] = {
            CONNECTION_EXTENSION: {"connection": Connection(transport, self.client)}
        }
        if len(self.connections) > self.server_state.limit and not self.server_state.make_room():
            self.server_state.refused += 1
            self._refuse(Problem("service_unavailable", "There are too many connections.", retry_after=RETRY_SECONDS))
            return
        # uvicorn starts this timer after each answer: a connection without a request is idle as well
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection. uvicorn tells only the last request, which may wait behind the one that is being answered."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self.pipeline.clear()
        if self._answering is not None:
            _disconnect(self._answering)

    def data_received(self, data: bytes) -> None:
        """Parse bytes, or keep them while many requests wait."""
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        while self._unparsed and len(self.pipeline) < MAX_PIPELINED:
            if self._refusal or self.transport.is_closing():
                self._unparsed = b""
                return
            piece, self._unparsed = self._unparsed[:PIECE_BYTES], self._unparsed[PIECE_BYTES:]
            self._framing_bytes += len(piece)
            try:
                self.parser.feed_data(piece)
            except httptools.HttpParserUpgrade as stop:
                self._unparsed = self._head_without_offer() + piece[stop.args[0] :] + self._unparsed
            except httptools.HttpParserError as error:
                self.logger.warning("Invalid HTTP request received.")
                self._refuse(_problem_of(error))
            else:
                if self._framing_bytes > MAX_FRAMING_BYTES:
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
        self._unset_keepalive_if_required()
        self._awaited, self._heard_at = "head", self.loop.time()
        super().on_message_begin()
        self.scope["extensions"] = self._extensions

    def on_headers_complete(self) -> None:
        """Let a request be answered, after those before it. Raises Problem."""
        self._framing_bytes = 0
        self._check_head()
        if self.parser.should_upgrade():  # the parser stops here, and gets the head again
            return
        absolute = None if self.url.startswith(b"/") else _ABSOLUTE_TARGET.match(self.url)
        if absolute is not None:  # its host overrules the header (RFC 9112)
            self.headers[:] = [(name, absolute[1] if name == b"host" else value) for name, value in self.headers]
            self.url = b"/" + absolute[2]
        super().on_headers_complete()
        self._awaited, self._heard_at = "body", self.loop.time()
        self.headers = []  # of trailers, which are no headers of the request
        if self.expect_100_continue:
            self.cycle.keep_alive = False  # only the client knows whether its body follows, or its next request
        if self.pipeline:  # uvicorn reads no more, and would not see the client leave
            self.flow.resume_reading()

    def _check_head(self) -> None:
        """Refuse a head that is too large, or of another protocol. Raises Problem."""
        if len(self.url) + sum(map(len, chain.from_iterable(self.headers))) > MAX_HEAD_BYTES:
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
        self._framing_bytes, self._heard_at = 0, self.loop.time()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request, at its last byte."""
        if not self.parser.should_upgrade():
            self._framing_bytes, self._awaited = 0, "request"
            super().on_message_complete()

    # Answers --------------------------------------------------------------------------------------------------------

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on with the requests behind the one that is answered."""
        super().on_response_complete()
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
        answer = problem_response(problem, self.server_state.next_request_id(), problem.retry_after, (OWN_ORIGIN,))
        headers = b"".join(b"%s: %s\r\n" % header for header in answer.headers)
        self._refusal = b"%sconnection: close\r\n%s\r\n%s" % (STATUS_LINE[answer.status], headers, answer.body)
        self._end_refused()

    def _end_refused(self) -> None:
        """Send the refusal if it is its turn."""
        current = self._answering
        if not self.pipeline and (current is None or current.response_complete or current.disconnected):
            self.transport.write(self._refusal)
            self.transport.close()

    # What the server asks -------------------------------------------------------------------------------------------

    def end_if_overdue(self, now: float) -> bool:
        """Close the connection if its client keeps the server waiting; return whether it was closed."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._taken_at = unsent_bytes, now
        if unsent_bytes and now - self._taken_at > ANSWER_SECONDS:
            self.transport.abort()
            return True
        if self._refusal or self.transport.is_closing():
            return False
        if self._unparsed or self.flow.read_paused:
            self._heard_at = now  # the server keeps its client waiting
            if len(self._unparsed) + len(self.cycle.body) < MAX_UNREAD_BYTES:
                self.flow.resume_reading()  # that the client has left is behind what it sent
            return False
        silence = now - self._heard_at
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


def _disconnect(cycle: RequestResponseCycle) -> None:
    """Tell a request that its client has gone."""
    cycle.disconnected = True
    cycle.message_event.set()
