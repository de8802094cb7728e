"""Chance. Owns the seed and the named streams drawn from it; the only place that imports `random`.

Every stream has a name, so that one more draw here changes nothing there (architecture, "one seed, named streams").
"""

import hashlib
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seed:
    """The number from which everything follows that a client did not give."""

    value: int

    def digest(self, *names: str | int) -> bytes:
        """Return 32 bytes that depend on the seed and the names alone."""
        text = "\x1f".join([str(self.value), *map(str, names)])
        return hashlib.sha256(text.encode()).digest()

    def stream(self, *names: str | int) -> random.Random:
        """Return a fresh generator of numbers for the named purpose; the same names give the same numbers."""
        return random.Random(self.digest("stream", *names))

    def number(self, *names: str | int) -> int:
        """Return one number from 0 to 2**32 - 1 for the named purpose."""
        return int.from_bytes(self.digest("number", *names)[:4])
