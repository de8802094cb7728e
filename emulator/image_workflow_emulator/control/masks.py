"""The keys of a sandbox, hidden: none is ever shown whole in what is told of requests."""

import re
from collections.abc import Iterable
from typing import Final

_SHORTEST_SECRET: Final = 8
"""A shorter key may be part of any word; it is masked only where it is shown as a
key."""
_MAX_SHOWN_CHARACTERS: Final = 8
"""Limit of the characters of a key that are shown."""
_NEVER: Final = "(?!)"
"""A pattern that matches nowhere."""


class Masks:
    """Hides the keys of a sandbox, wherever a client may have put one."""

    def __init__(self, keys: Iterable[str]) -> None:
        secrets = [re.escape(key) for key in keys if len(key) >= _SHORTEST_SECRET]
        secrets.sort(key=len, reverse=True)  # a key may begin with another one
        pattern = "|".join(secrets) or _NEVER
        self._in_text = re.compile(pattern)
        self._in_bytes = re.compile(pattern.encode())

    def of_text(self, text: str) -> str:
        """Return a text without whole keys."""

        def masked(match: re.Match[str]) -> str:
            return mask_key(match[0])

        return self._in_text.sub(masked, text)

    def of_bytes(self, data: bytes) -> bytes:
        """Return JSON without whole keys."""

        def masked(match: re.Match[bytes]) -> bytes:
            key = match[0].decode()
            return mask_key(key).encode()

        return self._in_bytes.sub(masked, data)


def mask_key(key: str) -> str:
    """Return the beginning of a key: what GET /team shows as its prefix, and never more
    than half of it.
    """
    shown_characters = min(len(key) // 2, _MAX_SHOWN_CHARACTERS)
    return key[:shown_characters] + "…"
