"""One request on a connection and its answer: uvicorn's cycle, made lighter.

uvicorn writes the head of an answer apart from its body, checks every header for bytes that only a defect could have put
there, and makes an event for each request though few wait for anything. Here an answer of the service comes in one
message (emulator.http.connection). Must not know how bytes become requests.
"""

import asyncio
from functools import cached_property
from typing import Any

from emulator.server.uvicorn_classes import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle


class Cycle(RequestResponseCycle):
    """A request and its answer."""

    access_log = False
    default_headers: list[tuple[bytes, bytes]] = []  # noqa: RUF012  # uvicorn only reads it
    disconnected = False
    response_started = False
    response_complete = False
    chunked_encoding: bool | None = None
    expected_content_length = 0
    more_body = True
    body: bytes | bytearray = b""  # type: ignore[assignment]  # few have one that comes in more pieces than one
    _is_awaited = False
    """Whether the application waits: for more of the body, or for the end of the connection."""
    _is_read = False
    """Whether the application was given the last piece of the body."""

    def __init__(
        self,
        protocol: HttpToolsProtocol,
        scope: Any,
        application: Any,
        keep_alive: bool,
        expects_continue: bool = False,
    ) -> None:
        # without uvicorn's own __init__, which sets all of the attributes above for each request
        self.scope = scope
        self.application = application
        self.transport = protocol.transport
        self.flow = protocol.flow
        self.logger = protocol.logger
        self.on_response = protocol.on_response_complete
        self.waiting_for_100_continue = expects_continue
        self.keep_alive = keep_alive

    @cached_property
    def message_event(self) -> asyncio.Event:  # type: ignore[override]
        """The event that wakes a request that waits, made for the first that does."""
        return asyncio.Event()

    # Called by the protocol -----------------------------------------------------------------------------------------

    def take(self, body: bytes) -> None:
        """Take a piece of the body."""
        if not self.body:
            self.body = body
        else:
            if isinstance(self.body, bytes):  # many small chunks may come at once
                self.body = bytearray(self.body)
            self.body += body
        self._wake()

    def end_body(self) -> None:
        """Note that the body is whole."""
        self.more_body = False
        self._wake()

    def disconnect(self) -> None:
        """Note that the client has gone: nothing more comes, and nobody waits for the answer."""
        self.disconnected = True
        self._wake()

    def _wake(self) -> None:
        if self._is_awaited:
            self.message_event.set()

    # Called by the application (ASGI) -------------------------------------------------------------------------------

    async def receive(self) -> Any:
        """Return the next piece of the body; after the last, wait until the client has gone."""
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        while not (self.disconnected or self.response_complete or self._has_news()):
            self.flow.resume_reading()
            self._is_awaited = True
            await self.message_event.wait()
            self.message_event.clear()
        if self.disconnected or self.response_complete:
            return {"type": "http.disconnect"}
        piece, self.body, self._is_read = bytes(self.body), b"", not self.more_body
        return {"type": "http.request", "body": piece, "more_body": self.more_body}

    def _has_news(self) -> bool:
        return bool(self.body) or not (self.more_body or self._is_read)

    async def send(self, message: Any) -> None:
        """Send a part of the answer, or all of it if the message has head and body."""
        if self.waiting_for_100_continue and self.more_body:
            self.keep_alive = False  # only the client knows whether its body follows, or its next request
        if "status" not in message or "body" not in message:
            await super().send(message)
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        self.response_started = self.response_complete = True
        lines = [STATUS_LINE[message["status"]]]
        for name, value in message["headers"]:
            lines += (name, b": ", value, b"\r\n")
        lines += (b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n", message["body"])
        self.transport.write(b"".join(lines))
        self._wake()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
