"""What the server adds to ASGI: a handle on the connection under a request, for faults on the wire."""

import asyncio
import socket
import struct

from image_workflow_emulator.kernel.clock import host_elapsed_ms

CONNECTION = "emulator.connection"
"""Where a scope has the handle."""
WHOLE_BODY = "emulator.body"
"""Where the message that starts an answer may have all of its body, for a server that hands in a connection: no other
message follows. Head and body are then written in one piece."""


class Connection:
    """The connection under a request."""

    def __init__(self, transport: asyncio.Transport, client: tuple[str, int] | None) -> None:
        self._transport = transport
        self.peer = None if client is None else f"{client[0]}:{client[1]}"
        """The client's address and port; None where there is none, as on a Unix socket."""
        self.made_ms = host_elapsed_ms()
        """When it was opened, as `image_workflow_emulator.kernel.clock.host_elapsed_ms` counts."""

    @property
    def is_closing(self) -> bool:
        """Whether it is closed, or about to be: its client has gone."""
        return self._transport.is_closing()

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""
        connection = self._transport.get_extra_info("socket")
        if connection is not None and not self._transport.is_closing():  # else the client has left by itself
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def close(self) -> None:
        """Close it after the bytes sent so far, though the answer is incomplete."""
        self._transport.close()
