"""Middleware that reads what a client still sends of a body that was refused early.

uvicorn discards the rest of a body where the connection stays open. Where it closes
after the answer (`Connection: close`, HTTP/1.0), the client would see a reset instead
of the answer: there, the rest is read and dropped first. Must not know what was asked.
"""

from typing import Any, Final

from image_workflow_emulator.http.heads import Message, Receive, Scope, Send

MAX_DRAINED_BYTES: Final = 80 * 1024 * 1024
"""How much of a refused body is read and dropped: more than an upload may have."""


class Drain:
    """ASGI middleware; every request passes it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass a request on, and read the rest of its body where it has to be read."""
        if scope["type"] == "http" and _closes_with_body(scope):
            draining = _DrainedRequest(receive, send)
            await self._app(scope, draining.receive, draining.send)
        else:
            await self._app(scope, receive, send)


def _closes_with_body(scope: Scope) -> bool:
    """Return whether a request has a body and its connection closes with the answer."""
    headers = dict(scope["headers"])
    if b"expect" in headers:
        return False  # its client does not send the body unless it is asked to
    has_body = b"content-length" in headers or b"transfer-encoding" in headers
    if not has_body:
        return False
    connection = headers.get(b"connection", b"").lower()
    return b"close" in connection or scope["http_version"] == "1.0"


class _DrainedRequest:
    """The two functions of one request whose body is read to its end."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._has_more = True

    async def receive(self) -> Message:
        message = await self._receive()
        self._has_more = message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get(
            "more_body",
            False,
        )
        if not (is_last and self._has_more):
            await self._send(message)
            return
        await self._send({**message, "more_body": True})
        await self._discard_rest()
        await self._send({"type": "http.response.body"})

    async def _discard_rest(self) -> None:
        discarded_bytes = 0
        while self._has_more and discarded_bytes <= MAX_DRAINED_BYTES:
            message = await self.receive()
            discarded_bytes += len(message.get("body", b""))
