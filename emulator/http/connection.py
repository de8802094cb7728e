"""What the server adds to ASGI: a handle on the connection under a request, and answers in one message.

Where the scope has the handle, the message `http.response.start` may bring the whole `body`; nothing follows it then. Such
an answer has a Content-Length, unless its status allows no body, and says nothing about the connection.
"""

from collections.abc import Mapping
from typing import Any, Protocol

CONNECTION_EXTENSION = "emulator.connection"


class Connection(Protocol):
    """The connection under a request."""

    @property
    def peer(self) -> str | None:
        """The client's address and port; None where there is none, as on a Unix socket."""

    @property
    def made_ms(self) -> float:
        """When it was opened, as `emulator.kernel.clock.host_elapsed_ms` counts."""

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""

    def close(self) -> None:
        """Close it after the bytes sent so far, though the answer is incomplete."""


def connection_of(scope: Mapping[str, Any]) -> Connection | None:
    """Return the connection of a request; None where the server hands none in."""
    extensions = scope.get("extensions")
    if extensions is None or CONNECTION_EXTENSION not in extensions:
        return None
    connection: Connection = extensions[CONNECTION_EXTENSION]["connection"]
    return connection
