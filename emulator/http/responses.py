"""An answer as HTTP takes it. Must not know what is answered, nor any state."""

from typing import NamedTuple

Header = tuple[bytes, bytes]
JSON_TYPE: Header = (b"content-type", b"application/json")
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
"""Tells a browser not to guess the type of an answer."""


class Response(NamedTuple):
    """An answer, ready to be sent."""

    status: int
    headers: tuple[Header, ...]
    body: bytes
