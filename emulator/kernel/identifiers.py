"""Identifiers. Owns their form: a prefix for the kind and 26 characters that increase with creation (D09)."""

import hashlib
from collections.abc import Mapping

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: its order as text is its order as numbers."""

_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_COUNTER_PAIRS = 4
_RANDOM_BYTES = 12


def _base32(number: int, pairs: int) -> str:
    """Write a number in base 32, two characters at a time."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(10 * (pairs - 1), -1, -10)])


class Identifiers:
    """The identifiers of one sandbox: each kind counts for itself, so one more call here changes no id there (D09)."""

    def __init__(self, seed_value: int, counters: Mapping[str, int] | None = None) -> None:
        self._key = hashlib.sha256(f"identifiers\x1f{seed_value}".encode()).digest()
        self.counters: dict[str, int] = dict(counters or {})

    def next(self, prefix: str) -> str:
        """Return the next identifier of the kind that the prefix names."""
        count = self.counters.get(prefix, 0) + 1
        self.counters[prefix] = count
        digest = hashlib.blake2b(f"{prefix}\x1f{count}".encode(), digest_size=_RANDOM_BYTES, key=self._key).digest()
        return f"{prefix}_{_base32(count, _COUNTER_PAIRS)}{_base32(int.from_bytes(digest), 9)}"
