"""The body of a request as bytes, taken from the connection once, within bounds.

Must not know what a body says (`json_bodies`).
"""

from collections.abc import Awaitable, Callable
from typing import Final

from image_workflow_emulator.http.heads import Receive
from image_workflow_emulator.kernel.timestamps import SECOND_MS

MAX_BODY_BYTES: Final = 1024 * 1024


class ClientDisconnectedError(Exception):
    """The client left before its request was whole; nothing has happened."""


class Body:
    """The body of a request, taken from the connection piece by piece."""

    def __init__(self, receive: Receive, is_announced: bool = True) -> None:
        self._receive = receive
        self.has_more = is_announced
        """Whether there is more to take."""
        self.size_bytes = 0
        """The number of bytes that have come so far."""
        self._bytes_per_second = 0
        self._pause: Callable[[int], Awaitable[None]] | None = None

    def slow_down(
        self,
        bytes_per_second: int,
        pause: Callable[[int], Awaitable[None]],
    ) -> None:
        """Receive the rest at this speed.

        `pause` waits for a span of real time in milliseconds.
        """
        self._bytes_per_second = bytes_per_second
        self._pause = pause

    async def take(self) -> bytes:
        """Take the next piece.

        Raises:
            ClientDisconnectedError: the client left before its body was whole.
        """
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.has_more = False
            raise ClientDisconnectedError
        self.has_more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        self.size_bytes += len(piece)
        if self._pause is not None:
            await self._pause(len(piece) * SECOND_MS // self._bytes_per_second)
        return piece

    async def read(self, limit_bytes: int = MAX_BODY_BYTES) -> bytes | None:
        """Take all of it; return None as soon as it is larger than the limit.

        Raises:
            ClientDisconnectedError: the client left before its body was whole.
        """
        pieces = [await self.take()]
        while self.has_more and self.size_bytes <= limit_bytes:
            pieces.append(await self.take())
        if self.size_bytes > limit_bytes:
            return None
        return b"".join(pieces)  # one piece is not copied


async def wait_for_close(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
