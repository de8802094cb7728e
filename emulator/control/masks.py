"""Hides keys: no key of a sandbox is ever shown whole."""

from os.path import commonprefix
from typing import Final

from emulator.service.sandbox import Sandbox

_SHORTEST_SECRET: Final = 8
"""A shorter key is a word that may stand anywhere; it is masked only where it stands as a key."""
_MAX_SHOWN: Final = 8
"""Limit of the characters of a key that are shown."""


class Masks:
    """Hides the keys of a sandbox, wherever a client may have put one."""

    def __init__(self, sandbox: Sandbox) -> None:
        keys = [key for key in sandbox.credentials if len(key) >= _SHORTEST_SECRET]
        # The longest first: a key may begin with another one.
        self._texts = [(key, mask_key(key)) for key in sorted(keys, key=len, reverse=True)]
        self._bytes = [(key.encode(), mask.encode()) for key, mask in self._texts]
        # How all of them begin: most texts hold nothing like it, and need no look for each key.
        self._beginning = commonprefix(keys)  # noqa: RUF071  texts, not paths
        self._beginning_bytes = self._beginning.encode()

    def of_text(self, text: str) -> str:
        """Return a text without whole keys."""
        if self._beginning not in text:
            return text
        for key, mask in self._texts:
            text = text.replace(key, mask)
        return text

    def of_optional(self, text: str | None) -> str | None:
        """Return a text without whole keys, if there is one."""
        return None if text is None else self.of_text(text)

    def of_bytes(self, data: bytes) -> bytes:
        """Return JSON without whole keys."""
        if self._beginning_bytes not in data:
            return data
        for key, mask in self._bytes:
            data = data.replace(key, mask)
        return data


def mask_key(key: str) -> str:
    """Show the beginning of a key: what GET /team shows as its prefix, and never more than half of it."""
    return key[: min(len(key) // 2, _MAX_SHOWN)] + "…"
