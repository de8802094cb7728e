"""The heads of requests: what the parser found in one, and those that may come again.

A client that polls or reads the same list sends the same bytes each time. Parsing them takes an eighth of the instructions
of a small read, so the heads of reads are kept for a while. Must not know connections.
"""

from typing import Final

from msgspec import Struct

_MAXIMUM_HEADS: Final = 200
_MAXIMUM_BYTES: Final = 2 * 1024
"""Of a head that is kept."""
_READ: Final = b"GET "


class Head(Struct, frozen=True):
    """The head of a request, as ASGI describes it."""

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
        """Return the head that these bytes are, if it is known."""
        return self._heads.get(data) if data.startswith(_READ) else None

    def keep(self, data: bytes, head: Head) -> None:
        """Keep the head of a request that has no body, if it is a read."""
        if data.startswith(_READ) and len(data) <= _MAXIMUM_BYTES:
            if len(self._heads) >= _MAXIMUM_HEADS:
                del self._heads[next(iter(self._heads))]
            self._heads[data] = head
