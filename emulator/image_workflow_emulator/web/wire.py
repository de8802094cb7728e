"""The connection under a request: how an answer leaves, whole, half or not at all.

An answer is sent in pieces, so that a slow reader costs little memory. A body that was refused before it was read is
read to its end and dropped, so that its sender sees the answer instead of a reset.
"""

import asyncio

from image_workflow_emulator.http.requests import (
    Body,
    Connection,
    Receive,
    Request,
    Send,
    Stop,
    wait_for_close,
)
from image_workflow_emulator.http.responses import PIECE_BYTES, Response
from image_workflow_emulator.kernel.timestamps import SECOND_MS

_PIECES_A_SECOND = 10
"""The number of pieces a second in which a slowed answer is sent."""


class LostAnswerError(ConnectionResetError):
    """The answer is lost, and the server gave no connection to lose it on: what in-process clients see instead."""


class Wire:
    """The connection to one client, for one answer."""

    __slots__ = ("_body", "_receive", "_request", "_send", "_stop", "has_client_gone")

    def __init__(
        self, request: Request, receive: Receive, send: Send, body: Body, stop: Stop
    ) -> None:
        self._request = request
        self._receive = receive
        self._send = send
        self._body = body
        self._stop = stop
        self.has_client_gone = False
        """Whether the client was found to have gone in a pause."""

    async def send(
        self, response: Response, bytes_per_second: int | None = None
    ) -> None:
        """Send an answer whole, without its body in answer to HEAD, at a speed of real time if one is given."""
        send, is_refused_early = self._send, self._body.has_more
        body = b"" if self._request.method == "HEAD" else response.body
        is_whole = self._request.can_send_whole and len(body) <= PIECE_BYTES
        if is_whole and not (is_refused_early or bytes_per_second):
            await self._connection().send_whole(
                response.status, (*response.headers, self._request.embedding), body
            )
            return
        await self._send_head(response)
        if bytes_per_second is not None or len(body) > PIECE_BYTES:
            if await self._send_pieces(body, bytes_per_second):
                return
            body = b""
        await send(
            {"type": "http.response.body", "body": body, "more_body": is_refused_early}
        )
        if is_refused_early:
            await self._body.drain()
            await send({"type": "http.response.body"})

    async def _send_pieces(self, body: bytes, bytes_per_second: int | None) -> bool:
        """Send bytes in pieces, at a speed of real time if one is given; return whether the client has gone."""
        piece_bytes = (
            PIECE_BYTES
            if bytes_per_second is None
            else max(bytes_per_second // _PIECES_A_SECOND, 1)
        )
        for begin in range(0, len(body), piece_bytes):
            piece = body[begin : begin + piece_bytes]
            await self._send(
                {"type": "http.response.body", "body": piece, "more_body": True}
            )
            if bytes_per_second is not None and await self.pause(
                len(piece) * SECOND_MS // bytes_per_second
            ):
                return True
        return False

    async def _send_head(self, response: Response) -> None:
        headers = (*response.headers, self._request.embedding)
        await self._send(
            {
                "type": "http.response.start",
                "status": response.status,
                "headers": headers,
            }
        )

    async def send_half(
        self, response: Response, bytes_per_second: int | None = None
    ) -> None:
        """Send the head and the first half of the body; nothing of an answer that is whole without a body."""
        if response.body and self._request.method != "HEAD":
            await self._send_head(response)
            await self._send_pieces(
                response.body[: len(response.body) // 2], bytes_per_second
            )

    async def pause(self, span_ms: int) -> bool:
        """Wait until a span of real time is over, the emulator stops or the client goes; return whether it went."""
        if (
            self._body.has_more
        ):  # as long as there is a body to read, a client that has gone is not noticed
            await self._stop.pause(span_ms)
            return False
        gone = asyncio.ensure_future(wait_for_close(self._receive))
        await self._stop.cut_short(gone, span_ms / SECOND_MS)
        self.has_client_gone = gone.done() and not gone.cancelled()
        return self.has_client_gone

    async def stall(self) -> None:
        """Send nothing until the client has gone or the emulator stops."""
        if await self._stop.cut_short(wait_for_close(self._receive)):
            await self.close()

    async def close(self) -> None:
        """Close the connection after the bytes sent so far, and wait until it is closed."""
        self._connection().transport.close()
        await wait_for_close(self._receive)

    async def reset(self) -> None:
        """Break the connection off, and wait until it is closed."""
        self._connection().reset()
        await wait_for_close(self._receive)

    def _connection(self) -> Connection:
        connection = self._request.connection
        if connection is None:
            raise LostAnswerError("a scenario lost the answer")
        return connection
