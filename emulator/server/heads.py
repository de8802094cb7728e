"""The heads of requests: the parsed form of one, and a cache of those that come again.

A client that polls sends the same bytes each time, and parsing them takes an eighth of the instructions of a small read. So
the heads of the last reads are kept, by their bytes. Must not know connections.
"""

from typing import Final

from msgspec import Struct

_MAXIMUM_HEADS: Final = 200
_MAXIMUM_BYTES: Final = 2 * 1024
"""The longest head that is kept."""
_READ: Final = b"GET "


class Head(Struct, frozen=True):
    """The head of a request, in the values of an ASGI scope."""

    method: str
    path: str
    raw_path: bytes
    query_string: bytes
    headers: list[tuple[bytes, bytes]]
    version: str
    keep_alive: bool
    """Whether the connection stays open after the answer."""
    expects_continue: bool
    """Whether the client waits for 100 Continue before it sends the body."""


class KnownHeads:
    """The heads of the last different reads, by their bytes."""

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}

    def find(self, data: bytes) -> Head | None:
        """Return the head with these bytes, if it is kept."""
        return self._heads.get(data) if data.startswith(_READ) else None

    def keep(self, data: bytes, head: Head) -> None:
        """Keep the head of a request without a body, if it is a read and not too long."""
        if data.startswith(_READ) and len(data) <= _MAXIMUM_BYTES:
            if len(self._heads) >= _MAXIMUM_HEADS:
                del self._heads[next(iter(self._heads))]
            self._heads[data] = head
