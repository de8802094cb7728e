"""How bytes on a connection become requests: uvicorn's protocol, with a few things put right and one added.

A client that offers to change to another protocol (`Upgrade: h2c`, which Java's HttpClient sends with every request) is
answered in HTTP/1.1: the parser would take the offer for agreed, and lose the body of the request. The head of a request
has a greatest size. Both need the whole head at once, so it is held back until it is complete. What stands between the
pieces of a body and behind it has a greatest size as well, and so has the queue of requests that wait for those before
them. A method that the parser does not know is a method all the same (D06). And bytes that are no request are answered
with a problem like any other (section 7). Added is a handle on the connection, for scenarios that break it.
"""

import asyncio
import re
import socket
import struct
import sys

from emulator.cli.server_parts import FlowControl, HttpToolsProtocol
from emulator.domain.problems import Problem
from emulator.http.connection import CONNECTION_EXTENSION
from emulator.http.problems import problem_response

MAXIMUM_HEAD_BYTES = 64 * 1024
MAXIMUM_FRAMING_BYTES = 64 * 1024
"""How much of a body in chunks may come without content: lengths, their extensions, and trailers."""
MAXIMUM_WAITING = 16
"""How many requests may wait for those before them on a connection before no more is read from it."""
NO_REQUEST_ID = "req_" + 26 * "0"
"""Stands where a Request-Id must be, for bytes that never became a request."""

_END_OF_HEAD = b"\r\n\r\n"
_BEGINNING_OF_HEAD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})(?: |\Z)")
"""A method, and the space behind it if that has come."""
_USUAL_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT"})
_STAND_IN_METHOD = b"PURGE"
"""Any that the parser knows and nothing here takes."""
_UPGRADE = re.compile(rb"\r\nupgrade[ \t]*:[^\r\n]*", re.IGNORECASE)


class _PatientFlow(FlowControl):
    """Reads on only while few requests wait. uvicorn's own reads on with each answer, though all others still wait."""

    def __init__(self, transport: asyncio.Transport, protocol: HttpToolsProtocol) -> None:
        super().__init__(transport)
        self._protocol = protocol

    def resume_reading(self) -> None:
        """Called when an answer is whole, and when a request wants more of its body."""
        if len(self._protocol.pipeline) < MAXIMUM_WAITING:
            super().resume_reading()


class PatientHttpProtocol(HttpToolsProtocol):
    """One connection."""

    _between_requests = True
    _held_back = b""
    _framing_bytes = 0
    _unusual_method: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called once, when the connection is there."""
        super().connection_made(transport)
        self.flow = _PatientFlow(transport, self)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport."""
        if self._between_requests:
            data = self._held_back + data if self._held_back else data
            end = data.find(_END_OF_HEAD)
            if end > MAXIMUM_HEAD_BYTES or (end < 0 and len(data) > MAXIMUM_HEAD_BYTES):
                self.send_400_response(f"The head of a request may have {MAXIMUM_HEAD_BYTES} bytes at most.")
                return
            beginning = _BEGINNING_OF_HEAD.match(data)
            if end < 0 and beginning:
                self._unset_keepalive_if_required()
                self._held_back = data
                return
            self._held_back = b""
            if b"upgrade" in data[:end].lower():
                data = _UPGRADE.sub(b"", data[:end]) + data[end:]
            if beginning and beginning[1] not in _USUAL_METHODS:
                self._unusual_method = beginning[1].decode()
                data = _STAND_IN_METHOD + data[beginning.end(1) :]
        elif self._framing_bytes > MAXIMUM_FRAMING_BYTES:
            self.send_400_response(f"A body came on for {self._framing_bytes} bytes without content.")
            return
        else:
            self._framing_bytes += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Called by the parser at the first byte of a request."""
        self._between_requests = False
        self._framing_bytes = 0
        super().on_message_begin()
        self.scope["extensions"] = {CONNECTION_EXTENSION: {"connection": self}}

    def on_headers_complete(self) -> None:
        """Called by the parser at the end of the head of a request."""
        super().on_headers_complete()
        if self._unusual_method:
            self.scope["method"], self._unusual_method = self._unusual_method, None
        self.headers = []  # of trailers, which are no headers of the request

    def on_body(self, body: bytes) -> None:
        """Called by the parser with content."""
        self._framing_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Called by the parser at the last byte of a request."""
        super().on_message_complete()
        self._between_requests = True

    def reset(self) -> None:
        """Break the connection off, so that the client sees a reset: a scenario asks for it (interfaces, section 7)."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def close(self) -> None:
        """Close the connection after what was sent, though the answer is not whole."""
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP request, and close the connection."""
        error = sys.exc_info()[1]
        if error is not None:  # the parser's, which hides the one of its helper for addresses behind another
            msg = f"The bytes are no HTTP/1.1 request: {error.__context__ or error}."
        problem = problem_response(Problem("invalid_request", msg), NO_REQUEST_ID, None)
        lines = [b"HTTP/1.1 400 Bad Request", *(b"%s: %s" % header for header in problem.headers), b"connection: close"]
        self.transport.write(b"\r\n".join([*lines, b"", problem.body]))
        self.transport.close()
