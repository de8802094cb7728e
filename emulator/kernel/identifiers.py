"""Identifiers. Owns their form: a prefix for the kind and 26 hexadecimal digits that increase with creation (D09)."""

import hashlib
from collections.abc import Mapping

_RANDOM_DIGITS = 16
_BLOCK = 8
"""How many identifiers share one digest, each with its own part of it."""


class Identifiers:
    """The identifiers of one sandbox: each kind counts for itself, so one more call here changes no id there (D09)."""

    def __init__(self, seed_value: int, counters: Mapping[str, int] | None = None) -> None:
        self._key = b"identifiers %d" % seed_value
        self.counters: dict[str, int] = dict(counters or {})
        self._digests: dict[str, tuple[int, str]] = {}
        """By prefix: the block that was last used, and its digest."""

    def next(self, prefix: str) -> str:
        """Return the next identifier of the kind that the prefix names."""
        count = self.counters.get(prefix, 0) + 1
        self.counters[prefix] = count
        block, place = divmod(count, _BLOCK)
        known, digits = self._digests.get(prefix, (-1, ""))
        if known != block:
            digits = hashlib.blake2b(b"%s %d" % (prefix.encode(), block), key=self._key).hexdigest()
            self._digests[prefix] = block, digits
        return f"{prefix}_{count:010x}{digits[place * _RANDOM_DIGITS : (place + 1) * _RANDOM_DIGITS]}"
