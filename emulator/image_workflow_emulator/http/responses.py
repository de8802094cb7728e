"""An answer as HTTP takes it. Must not know what is answered, nor any state."""

from msgspec import Struct

Header = tuple[bytes, bytes]
JSON_TYPE: Header = (b"content-type", b"application/json")  # D72
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
"""Tells a browser not to guess the type of an answer."""
OWN_ORIGIN: Header = (b"cross-origin-resource-policy", b"same-origin")
"""Tells a browser that no page of another origin may embed an answer."""
PIECE_BYTES = 256 * 1024
"""A longer body is sent in pieces of this size, so that a slow reader costs little memory."""


class Response(Struct, frozen=True, gc=False):
    """An answer, ready to be sent."""

    status: int
    headers: tuple[Header, ...]
    body: bytes
