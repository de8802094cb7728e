"""One uvicorn server and its connections: uvicorn's own protocol, with hooks for limits, clocks, problems and faults on
the wire.

Where a head or a body begins and ends is decided by uvicorn's parser alone. The hooks count what it reports, note what
a connection waits for, answer what is no request with a problem (section 7), and give scenarios a handle on the
connection.

Every few seconds the server checks all connections and ends overdue ones, so that a request costs nothing more. A limit
that is reached is logged with its remedy, once for each check.
"""

import asyncio
import logging
import re
import resource
import socket
import struct
from collections.abc import Iterable
from itertools import count
from typing import Any, Final, Literal

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import Server, ServerState

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.requests import CONNECTION
from image_workflow_emulator.http.responses import OWN_ORIGIN, Header, problem_response
from image_workflow_emulator.kernel.wording import excerpt

REQUEST_SECONDS: Final = 30.0
"""How long the head of a request may take, and its body may go without content while the server waits for it."""
IDLE_SECONDS: Final = 120.0
"""How long a connection may be open without a request."""
ANSWER_SECONDS: Final = 600.0
"""How long an answer may go on without a byte being taken by the system, which does so in steps of up to a megabyte."""
MAX_HEAD_BYTES: Final = 64 * 1024
"""The most bytes in a row that the parser takes without reporting a whole head, content, or the end of a body, but for
two pieces in which these may begin and end."""
MAX_UNREAD_BYTES: Final = 1024 * 1024
"""The most bytes read ahead of the request that is being answered, to see whether the client has gone."""
PIECE_BYTES: Final = 16 * 1024
"""The most bytes that the parser gets between two checks of the limits."""
MAX_CONNECTIONS: Final = 1_000
SPARE_FILES: Final = 64
"""File descriptors for the log, helpers and files that are read. At most half of what the process may have."""
_TICKS: Final = 50
"""Connections are checked every 50 ticks of uvicorn, which are 5 seconds."""
_LOGGER = logging.getLogger("image_workflow_emulator.server")
_LAST_REQUEST: Final = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
"""A request that is parsed in place of refused bytes, so that their refusal is answered in turn."""
_ABSOLUTE_TARGET: Final = re.compile(rb"https?://([^/?#]*)/?(.*)", re.IGNORECASE)


class Connections(ServerState):
    """The state that the connections of one server share."""

    connections: "set[WatchedProtocol]"  # type: ignore[assignment]

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.refused = 0
        """The number of connections refused since the last check, because there were too many."""
        self.request_ids = (f"req_{number:026x}" for number in count(1))
        """For bytes that never became a request: unique, and never that of a request."""

    def make_room(self, newcomer: "WatchedProtocol") -> bool:
        """Close the connection that has been idle for longest; return False if no other one is idle."""
        idle = [
            each for each in self.connections if each.is_idle and each is not newcomer
        ]
        if idle:
            min(idle, key=lambda each: each.heard_at).transport.close()
        return bool(idle)


class WatchedProtocol(HttpToolsProtocol):
    """One connection."""

    server_state: Connections
    _awaited: Literal["request", "head", "body"] = "request"
    """The next report of the parser: a request, the end of its head, or the end of its body."""
    heard_at = 0.0
    """When the head or body that is awaited began, when content came last, or when the last answer was complete."""
    _unparsed: bytearray
    """Bytes that wait until no request does."""
    _framing_bytes = 0
    """The bytes that the parser took since it last reported a head, content, or the end of a body."""
    _answering: RequestResponseCycle | None = None
    """The last request that the application was given; those behind it are in the pipeline."""
    _is_refused = False
    """Whether the connection ends with the answer to the last request in the pipeline. Nothing is parsed any more."""
    _is_pipelined = False
    """Whether the request that is being answered has waited in the pipeline."""
    _is_half_closed = False
    """Whether the client has ended its side while requests were in the pipeline."""
    _unsent_bytes = 0
    """How many bytes of answers the client had not taken when the connection was last checked."""
    _taken_at = 0.0
    """When that number last changed."""

    # Reports of the transport ---------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, if there is room for one more."""
        super().connection_made(transport)
        self._unparsed = bytearray()
        self.peer = (
            None if self.client is None else f"{self.client[0]}:{self.client[1]}"
        )
        if len(
            self.connections
        ) > self.server_state.limit and not self.server_state.make_room(self):
            self.server_state.refused += 1
            self._refuse(
                Problem(
                    "service_unavailable",
                    "There are too many connections.",
                    retry_after=5,
                )
            )
            return
        self.heard_at = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection. uvicorn informs only the last request, and another may be being answered."""
        super().connection_lost(exc)
        self.pipeline.clear()
        if self._answering is not None:
            _disconnect(self._answering)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection open until the requests in the pipeline are answered; else its client has gone."""
        self._is_half_closed = self._is_pipelined or bool(self.pipeline)
        return self._is_half_closed

    def data_received(self, data: bytes) -> None:
        """Parse bytes, or keep them while a request waits for the one before it."""
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        while self._unparsed and not self.pipeline:
            if self._is_refused or self.transport.is_closing():
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
                # The parser wraps an error that a method below has raised.
                reason = (
                    error.__context__
                    if isinstance(error, httptools.HttpParserCallbackError)
                    else error
                )
                detail = f"The bytes are no HTTP/1.1 request: {reason}."
                self._refuse(
                    reason
                    if isinstance(reason, Problem)
                    else Problem("invalid_request", detail)
                )
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
        lines = [
            b"%s %s HTTP/%s"
            % (
                self.parser.get_method(),
                self.url,
                self.parser.get_http_version().encode(),
            )
        ]
        lines += [
            b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"
        ]
        return b"\r\n".join([*lines, b"", b""])

    # Reports of the parser ------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin a request, at its first byte."""
        self._awaited, self.heard_at = "head", self.loop.time()
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[literal-required]

    def on_headers_complete(self) -> None:
        """Let a request be answered, after those before it. Raises Problem."""
        if (version := self.parser.get_http_version()) not in ("1.1", "1.0"):
            raise Problem(
                "invalid_request",
                f"HTTP/{version} is not spoken here; expected HTTP/1.1.",
            )
        self._framing_bytes = 0
        if (
            self.parser.should_upgrade()
        ):  # the parser stops here, and gets the head again
            if self.parser.get_method() == b"CONNECT":
                raise Problem(
                    "invalid_request",
                    "CONNECT is not allowed here: the emulator is no proxy.",
                )
            return
        if not self.url.startswith((b"/", b"*")):
            self._take_absolute_target()
        super().on_headers_complete()
        self._awaited, self.heard_at = "body", self.loop.time()
        self.headers = []  # of trailers, which are no headers of the request
        if self.expect_100_continue:
            self.cycle.keep_alive = False  # only the client knows whether its body follows, or its next request
        if self.pipeline:  # uvicorn reads no more, and would not see the client leave
            self.flow.resume_reading()

    def _take_absolute_target(self) -> None:
        """Let the host of the target overrule the header (RFC 9112). Raises Problem for one that is not http."""
        absolute = _ABSOLUTE_TARGET.match(self.url)
        if absolute is None:
            found = excerpt(self.url.decode("latin-1"))
            raise Problem(
                "invalid_request",
                f"the target: found {found}; expected a path, or an http address",
            )
        self.headers[:] = [
            (name, absolute[1] if name == b"host" else value)
            for name, value in self.headers
        ]
        self.url = b"/" + absolute[2]

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
        super()._start_asgi_task(cycle, app)

    async def send_whole(
        self, status: int, headers: Iterable[Header], body: bytes
    ) -> None:
        """Answer the request with head and body in one piece."""
        if self.flow.write_paused:
            await self.flow.drain()
        cycle = self._answering
        if cycle is None or cycle.disconnected:
            return
        cycle.response_started = cycle.response_complete = True
        head = b"\r\n".join(
            map(b": ".join, headers)
        )  # known to be sound: the emulator's own
        end = b"\r\n\r\n" if cycle.keep_alive else b"\r\nconnection: close\r\n\r\n"
        self.transport.write(b"".join((STATUS_LINE[status], head, end, body)))
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""
        connection = self.transport.get_extra_info("socket")
        if (
            connection is not None and not self.transport.is_closing()
        ):  # else the client has left by itself
            connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
        self.transport.abort()

    def on_response_complete(self) -> None:
        """Go on with the requests behind the one that is answered. uvicorn would start a timer after each answer."""
        if self.transport.is_closing():
            return
        self.heard_at = self.loop.time()
        self.flow.resume_reading()
        self._is_pipelined = bool(self.pipeline)
        if self._is_pipelined:
            self._start_asgi_task(*self.pipeline.pop())
        if self._unparsed:
            self._parse()
        if self._is_half_closed and self.cycle.response_complete:
            self.transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Answer bytes that are no request with a problem, as if they were one more, and close the connection."""
        if self._awaited == "body":  # it never comes to its end
            if self.cycle.response_started:
                self.transport.close()
                return
            _disconnect(self.cycle)
            self.cycle.response_complete = True
            if self.pipeline:
                self.pipeline.popleft()
                self.cycle = (
                    self.pipeline[0][0]
                    if self.pipeline
                    else self._answering or self.cycle
                )
        answer = problem_response(
            problem,
            next(self.server_state.request_ids),
            problem.retry_after,
            (OWN_ORIGIN,),
        )

        async def refuse(_scope: Any, _receive: Any, _send: Any) -> None:
            await self.send_whole(answer.status, answer.headers, answer.body)

        self.app, self._is_refused = refuse, True
        self.parser = httptools.HttpRequestParser(self)
        self.parser.feed_data(_LAST_REQUEST)

    # Questions of the server ----------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether it is open without a request."""
        is_answered = self._answering is None or (
            self._answering.response_complete and not self.pipeline
        )
        return (
            self._awaited == "request"
            and is_answered
            and not self.transport.is_closing()
        )

    def end_if_overdue(self, now: float) -> bool:
        """Close the connection if it is idle for long, or its client too slow; return whether it was too slow."""
        unsent_bytes = self.transport.get_write_buffer_size()
        if unsent_bytes != self._unsent_bytes:
            self._unsent_bytes, self._taken_at = unsent_bytes, now
        if unsent_bytes and now - self._taken_at > ANSWER_SECONDS:
            self.transport.abort()
            return True
        if self._is_refused or self.transport.is_closing():
            return False
        if self._is_half_closed and now - self.heard_at > REQUEST_SECONDS:
            self.transport.close()
            return True
        if self._unparsed or self.flow.read_paused:
            self.heard_at = now  # the server keeps its client waiting
            if len(self._unparsed) + len(self.cycle.body) < MAX_UNREAD_BYTES:
                self.flow.resume_reading()  # that the client has left is behind what it sent
            return False
        silence = now - self.heard_at
        if self.is_idle and silence > IDLE_SECONDS:
            self.transport.close()
            return False
        if self._awaited == "request" or silence <= REQUEST_SECONDS:
            return False
        detail = (
            f"The {self._awaited} of a request must come within {REQUEST_SECONDS:g} s."
        )
        self._refuse(Problem("invalid_request", detail, status=408))
        return True


def _disconnect(cycle: RequestResponseCycle) -> None:
    """Notify a request that its client has gone."""
    cycle.disconnected = True
    cycle.message_event.set()


def connection_limit() -> int:
    """Return how many connections this process can hold: fewer where its limit of open files is low."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    spare = min(SPARE_FILES, files // 2)
    return (
        MAX_CONNECTIONS
        if files == resource.RLIM_INFINITY
        else max(min(MAX_CONNECTIONS, files - spare), 1)
    )


def server_config(application: Any) -> Config:
    """Return how uvicorn serves an ASGI application."""
    return Config(
        application,
        http=WatchedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
    )


class WatchedServer(Server):
    """A server that ends connections that are slow for too long."""

    def __init__(self, application: Any) -> None:
        super().__init__(server_config(application))
        self.server_state: Connections = Connections(connection_limit())

    async def on_tick(self, counter: int) -> bool:
        """Check connections now and then."""
        if counter % _TICKS == 0:
            self._close_overdue()
        return await super().on_tick(counter)

    def cut_connections(self) -> int:
        """Break off every connection, and return how many there were: no request is answered any more."""
        connections = list(self.server_state.connections)
        for connection in connections:
            connection.transport.abort()
        return len(connections)

    def _close_overdue(self) -> None:
        state, now = self.server_state, asyncio.get_running_loop().time()
        ended = sum(
            connection.end_if_overdue(now) for connection in list(state.connections)
        )
        if ended:
            text = "closed %d connections: a request must go on within %d s, an answer must be read on within %d s"
            _LOGGER.warning(text, ended, REQUEST_SECONDS, ANSWER_SECONDS)
        if state.refused:
            _LOGGER.warning(
                "refused %d connections: there may be %d at most; close idle ones in the client's pool, or "
                "raise the limit of open files (ulimit -n) if it is lower than %d",
                *(state.refused, state.limit, MAX_CONNECTIONS + SPARE_FILES),
            )
            state.refused = 0
