"""Hides keys: no key of a sandbox is ever shown whole."""

import re
from collections.abc import Iterable
from typing import Final

_SHORTEST_SECRET: Final = 8
"""A shorter key is a word that may stand anywhere; it is masked only where it stands as a key."""
_MAX_SHOWN: Final = 8
"""Limit of the characters of a key that are shown."""


class Masks:
    """Hides the keys of a sandbox, wherever a client may have put one."""

    def __init__(self, keys: Iterable[str]) -> None:
        secrets = [re.escape(key) for key in keys if len(key) >= _SHORTEST_SECRET]
        # The longest first: a key may begin with another one. Where there is none, nothing is found.
        found = "|".join(sorted(secrets, key=len, reverse=True)) or "(?!)"
        self._in_text, self._in_bytes = re.compile(found), re.compile(found.encode())

    def of_text(self, text: str) -> str:
        """Return a text without whole keys."""
        return self._in_text.sub(lambda key: mask_key(key[0]), text)

    def of_optional(self, text: str | None) -> str | None:
        """Return a text without whole keys, if there is one."""
        return None if text is None else self.of_text(text)

    def of_bytes(self, data: bytes) -> bytes:
        """Return JSON without whole keys."""
        return self._in_bytes.sub(lambda key: mask_key(key[0].decode()).encode(), data)


def mask_key(key: str) -> str:
    """Show the beginning of a key: what GET /team shows as its prefix, and never more than half of it."""
    return key[: min(len(key) // 2, _MAX_SHOWN)] + "…"
