"""One connection: uvicorn's own protocol, with the five things that it cannot do.

- Faults on the wire and whole answers need the connection: each request gets it in its
  scope (`RequestConnection`).
- Bytes that are no HTTP/1.1 request are answered with a problem (section 7), not with
  plain text.
- The head of a request is bounded.
- A connection above the limit is refused; requests on the others go on.
- Java's HttpClient offers `Upgrade: h2c` with its first request, whose body uvicorn
  would lose: the head is parsed again without the offer.

Where a head or a body ends is decided by uvicorn's parser alone. Beside methods of
asyncio.Protocol and of the parser's callbacks, these private names of uvicorn are used,
in this file only: `STATUS_LINE`, `HttpToolsProtocol.parser`, `.cycle`, `.flow`,
`.pipeline`, `.url`, `.headers`, `.scope`, `.expect_100_continue`, `_unset_keepalive_if_required`, and of
`RequestResponseCycle` its state (`disconnected`, `keep_alive`, `more_body`,
`response_started`, `response_complete`), `flow`, `message_event` and `on_response`.
"""

import asyncio
import logging
import socket
import struct
import weakref
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.answers import OWN_ORIGIN, Header, problem_answer
from image_workflow_emulator.http.heads import CONNECTION

MAX_HEAD_BYTES: Final = 64 * 1024
"""The most bytes without a whole head, content, or the end of a body. The last piece
that was read is not counted: asyncio reads up to 256 KiB at once."""
_NO_LINGER: Final = struct.pack("ii", 1, 0)
"""Makes the system reset a connection that is closed."""
_TLS_HANDSHAKE: Final = b"\x16\x03"
_HTTP2_PREFACE: Final = b"PRI * HTTP/2"
_LOGGER: Final = logging.getLogger("image_workflow_emulator.server")


class ConnectionState(ServerState):
    """The state that the connections of one server share."""

    def __init__(self, max_connections: int) -> None:
        super().__init__()
        self.max_connections = max_connections
        self.refused_connections = 0
        """How many were refused since the last report in the log."""
        self.request_ids: Iterator[str] = (f"req_{number:026x}" for number in count(1))
        """Request-Ids for bytes that never became a request."""


class RequestConnection:
    """The connection under one request, as the application sees it."""

    __slots__ = ("_cycle_reference", "peer", "transport")

    def __init__(
        self,
        cycle: RequestResponseCycle,
        transport: asyncio.Transport,
        peer: str | None,
    ) -> None:
        # The scope of the cycle has this object: held firmly, neither would be freed.
        self._cycle_reference = weakref.ref(cycle)
        self.transport = transport
        self.peer = peer
        """The client's address and port; None where there is none, as on a Unix socket."""

    @property
    def _cycle(self) -> RequestResponseCycle:
        """Uvicorn's request, which lives until the application has answered it."""
        cycle = self._cycle_reference()
        assert cycle is not None
        return cycle

    @property
    def can_send_whole(self) -> bool:
        """Whether nothing has to be read from the client before the connection closes."""
        cycle = self._cycle
        return cycle.keep_alive or not cycle.more_body

    async def send_whole(
        self,
        status: int,
        headers: Iterable[Header],
        body: bytes,
    ) -> None:
        """Answer the request with head and body in one write.

        `headers` are the emulator's own and known to be valid.
        """
        cycle = self._cycle
        if cycle.flow.write_paused:
            await cycle.flow.drain()
        if cycle.disconnected:
            return
        cycle.response_started = True
        cycle.response_complete = True
        cycle.message_event.set()
        head = [STATUS_LINE[status], b"\r\n".join(map(b": ".join, headers))]
        if not cycle.keep_alive:
            head.append(b"\r\nconnection: close")
        self.transport.write(b"".join((*head, b"\r\n\r\n", body)))
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()

    def reset(self) -> None:
        """Break the connection off at once, so that the client sees a reset."""
        connection = self.transport.get_extra_info("socket")
        # A socket that is closing already has no options to set.
        if connection is not None and not self.transport.is_closing():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.transport.abort()


class Connection(HttpToolsProtocol):
    """One connection."""

    server_state: ConnectionState
    _unreported_bytes = 0
    """The bytes since the parser reported a head, content or the end of a body."""
    _peer: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, or refuse it where there are too many."""
        super().connection_made(transport)
        self._open_cycles: list[RequestResponseCycle] = []
        if self.client is not None:
            self._peer = f"{self.client[0]}:{self.client[1]}"
        if len(self.connections) > self.server_state.max_connections:
            self.server_state.refused_connections += 1
            detail = "There are too many connections."
            self._refuse(Problem("service_unavailable", detail, retry_after=5))

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection. uvicorn informs only the last of several requests."""
        super().connection_lost(exc)
        self._disconnect_requests()

    def data_received(self, data: bytes) -> None:
        """Parse bytes."""
        self._unset_keepalive_if_required()
        while data and not self.transport.is_closing():
            data = self._parse(data)

    def _parse(self, data: bytes) -> bytes:
        """Parse bytes, and return those that have to be parsed again."""
        self._unreported_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self.parser.get_method() == b"CONNECT":
                self.send_400_response("CONNECT is not allowed here: this is no proxy.")
                return b""
            self._unreported_bytes = 0
            return self._head_without_upgrade() + data[upgrade.args[0] :]
        except httptools.HttpParserError as error:
            self._note_other_protocol(data)
            reason = error.__context__ or error  # of a callback, its own
            self.send_400_response(f"The bytes are no HTTP/1.1 request: {reason}.")
            return b""
        if self._unreported_bytes > MAX_HEAD_BYTES:
            self.send_400_response("The head of the request is too large.")
        return b""

    def _head_without_upgrade(self) -> bytes:
        method = self.parser.get_method()
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (method, self.url, version)]
        for name, value in self.headers:
            if name != b"upgrade":
                lines.append(b"%s: %s" % (name, value))
        return b"\r\n".join([*lines, b"", b""])

    def _note_other_protocol(self, data: bytes) -> None:
        if data.startswith(_TLS_HANDSHAKE):
            _LOGGER.warning("a client speaks TLS (https://) here; use http://")
        elif data.startswith(_HTTP2_PREFACE):
            _LOGGER.warning("a client speaks HTTP/2 here; use HTTP/1.1")
        else:
            _LOGGER.warning("a client sent bytes that are no HTTP/1.1 request")

    # What the parser reports ----------------------------------------------------------

    def on_headers_complete(self) -> None:
        """Let a request be answered."""
        if self.parser.should_upgrade():
            return  # the parser stops here, and gets the head again
        self._unreported_bytes = 0
        super().on_headers_complete()
        if self.expect_100_continue:
            # Only the client knows whether its body follows, or its next request.
            self.cycle.keep_alive = False
        connection = RequestConnection(self.cycle, self.transport, self._peer)
        self.scope[CONNECTION] = connection  # type: ignore[literal-required]
        open_cycles = [each for each in self._open_cycles if not each.response_complete]
        self._open_cycles = [*open_cycles, self.cycle]
        self.headers = []  # what follows are trailers, which are no headers

    def on_body(self, body: bytes) -> None:
        """Take content."""
        self._unreported_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        if not self.parser.should_upgrade():
            self._unreported_bytes = 0
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request; read no more while one is waiting."""
        super().on_response_complete()
        if self.pipeline:
            self.flow.pause_reading()

    # Refusals -------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no request with a problem, and close the connection."""
        self._refuse(Problem("invalid_request", msg))

    def _refuse(self, problem: Problem) -> None:
        is_answering = any(cycle.response_started for cycle in self._unanswered())
        self._disconnect_requests()
        if not is_answering:  # else the problem would be taken for a part of the answer
            request_id = next(self.server_state.request_ids)
            answer = problem_answer(
                problem,
                request_id,
                problem.retry_after,
                (OWN_ORIGIN,),
            )
            headers = (*answer.headers, (b"connection", b"close"))
            fields = b"\r\n".join(map(b": ".join, headers))
            head = STATUS_LINE[answer.status] + fields
            self.transport.write(head + b"\r\n\r\n" + answer.body)
        self.transport.close()

    def _unanswered(self) -> list[RequestResponseCycle]:
        return [cycle for cycle in self._open_cycles if not cycle.response_complete]

    def _disconnect_requests(self) -> None:
        """Tell every request that is not answered yet that its client has gone."""
        for cycle in self._unanswered():
            cycle.disconnected = True
            cycle.message_event.set()
