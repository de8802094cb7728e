"""Chance. Owns the seed and what is drawn from it.

Every draw has a name, so that one more here changes nothing there.
"""

import hashlib
from typing import Annotated

from msgspec import Meta, Struct

MAX_SEED = 2**63 - 1


class Seed(Struct, frozen=True):
    """The number that determines everything that clients do not."""

    value: Annotated[int, Meta(ge=0, le=MAX_SEED)]

    def digest(self, *names: str | int) -> bytes:
        """Return 32 bytes that depend on the seed and the names alone."""
        text = "\x1f".join([str(self.value), *map(str, names)])
        return hashlib.sha256(text.encode()).digest()

    def number(self, *names: str | int) -> int:
        """Return one number from 0 to 2**32 - 1 for the named purpose."""
        return int.from_bytes(self.digest("number", *names)[:4])
