"""The connection under a request: how an answer leaves, whole, half or not at all.

An answer is sent in pieces, so that a slow reader costs little memory.
"""

import asyncio

from image_workflow_emulator.http.answers import PIECE_BYTES, Answer
from image_workflow_emulator.http.bodies import Body, wait_for_close
from image_workflow_emulator.http.heads import Connection, Head, Receive, Send
from image_workflow_emulator.http.stops import Stop
from image_workflow_emulator.kernel.timestamps import SECOND_MS

_PIECES_A_SECOND = 10
"""The number of pieces a second in which a slowed answer is sent."""


class LostAnswerError(ConnectionResetError):
    """The answer is lost, and there is no connection to lose it on: what clients in this
    process see instead.
    """


class Wire:
    """The connection to one client, for one answer."""

    __slots__ = (
        "_body",
        "_head",
        "_receive",
        "_send",
        "_sends_whole",
        "_stop",
        "has_client_gone",
    )

    def __init__(
        self,
        head: Head,
        receive: Receive,
        send: Send,
        body: Body,
        stop: Stop,
        sends_whole: bool,
    ) -> None:
        self._head = head
        self._sends_whole = sends_whole
        self._receive = receive
        self._send = send
        self._body = body
        self._stop = stop
        self.has_client_gone = False
        """Whether the client was found to have gone in a pause."""

    async def send(self, answer: Answer, bytes_per_second: int | None = None) -> None:
        """Send an answer whole, without its body if HEAD was asked.

        `bytes_per_second` is a speed of real time, if one is wanted.
        """
        body = answer.body
        if self._head.method == "HEAD":
            body = b""
        if bytes_per_second is None and len(body) <= PIECE_BYTES:
            await self._send_at_once(answer, body)
            return
        await self._send_head(answer)
        if await self._send_pieces(body, bytes_per_second):
            return
        await self._send({"type": "http.response.body", "body": b""})

    async def _send_at_once(self, answer: Answer, body: bytes) -> None:
        """Send a short answer, in one write if the server offers that."""
        connection = self._head.connection
        if self._sends_whole and connection is not None and connection.can_send_whole:
            headers = (*answer.headers, self._head.embedding)
            await connection.send_whole(answer.status, headers, body)
            return
        await self._send_head(answer)
        await self._send({"type": "http.response.body", "body": body})

    async def _send_head(self, answer: Answer) -> None:
        start = {
            "type": "http.response.start",
            "status": answer.status,
            "headers": (*answer.headers, self._head.embedding),
        }
        await self._send(start)

    async def _send_pieces(self, body: bytes, bytes_per_second: int | None) -> bool:
        """Send bytes in pieces; return whether the client has gone."""
        piece_bytes = PIECE_BYTES
        if bytes_per_second is not None:
            piece_bytes = max(bytes_per_second // _PIECES_A_SECOND, 1)
        for begin in range(0, len(body), piece_bytes):
            piece = body[begin : begin + piece_bytes]
            message = {"type": "http.response.body", "body": piece, "more_body": True}
            await self._send(message)
            if bytes_per_second is None:
                continue
            piece_ms = len(piece) * SECOND_MS // bytes_per_second
            if await self.pause(piece_ms):
                return True
        return False

    async def send_half(
        self,
        answer: Answer,
        bytes_per_second: int | None = None,
    ) -> None:
        """Send the head and the first half of the body; nothing of an answer that is
        whole without a body.
        """
        if answer.body and self._head.method != "HEAD":
            await self._send_head(answer)
            half = answer.body[: len(answer.body) // 2]
            await self._send_pieces(half, bytes_per_second)

    async def pause(self, span_ms: int) -> bool:
        """Wait until a span of real time is over, the emulator stops or the client leaves;
        return whether it left.
        """
        if self._body.has_more:  # until it is read, a client that leaves is not noticed
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
        connection = self._head.connection
        if connection is None:
            raise LostAnswerError("a scenario lost the answer")
        return connection
