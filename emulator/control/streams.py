"""Answers that are sent piece by piece, until all are sent or the client has gone.

Starlette's own cancels the iterator when a client goes. Here it is told, and ends by itself; and large pieces are cut.
"""

from collections.abc import AsyncIterator, Callable, Mapping

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from emulator.http.requests import ClientDisconnectedError, watching
from emulator.http.responses import PIECE_BYTES


class Stream(StreamingResponse):
    """An answer whose pieces come one by one; `leave` is called when the client has gone."""

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        headers: Mapping[str, str],
        media_type: str,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(pieces, headers=headers, media_type=media_type)
        self._pieces = pieces
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it. Raises ClientDisconnectedError: the client went away before it was whole."""
        with watching(receive) as gone:
            gone.add_done_callback(lambda _: self._leave())
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async for piece in self._pieces:
                for start in range(0, len(piece), PIECE_BYTES):
                    if gone.done():
                        raise ClientDisconnectedError
                    part = piece[start : start + PIECE_BYTES]
                    await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
