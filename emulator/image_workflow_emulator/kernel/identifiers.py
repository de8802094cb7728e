"""Identifiers. Owns their form: a prefix for the kind and hexadecimal digits that increase with creation (D09).

The first ten digits count the kind; the others, 16 of them or 32 in long identifiers (D68), follow from the seed and
make an identifier hard to guess.
"""

import hashlib
import re

_COUNT_DIGITS = 10
_RANDOM_DIGITS = 16
_HEXADECIMAL = re.compile("[0-9a-f]+")
_BLOCK = 8
"""How many identifiers share one digest, each with its own part of it."""


class Identifiers:
    """The identifiers of one sandbox: each kind counts for itself, so one more call here changes no id there (D09).

    `counters` holds by prefix how many there are of each kind, and is changed in place.
    """

    def __init__(self, seed_value: int, counters: dict[str, int] | None = None, *, is_long: bool = False) -> None:
        self._repeats = 2 if is_long else 1
        self._key = b"identifiers %d" % seed_value
        self.counters: dict[str, int] = {} if counters is None else counters
        self._digests: dict[str, tuple[int, str]] = {}
        """By prefix: the last block that was asked for, and its digest."""

    def next(self, prefix: str) -> str:
        """Return the next identifier of the kind that the prefix names."""
        count = self.counters[prefix] = self.counters.get(prefix, 0) + 1
        return self._identifier(prefix, count)

    def place_of(self, identifier: str) -> int | None:
        """Return the number of an identifier among those of its kind, counted from 1; None if it was not given here."""
        prefix, _, rest = identifier.partition("_")
        digits = rest[:_COUNT_DIGITS]
        count = int(digits, 16) if _HEXADECIMAL.fullmatch(digits) else 0
        is_known = 1 <= count <= self.counters.get(prefix, 0) and identifier == self._identifier(prefix, count)
        return count if is_known else None

    def _identifier(self, prefix: str, count: int) -> str:
        block, place = divmod(count, _BLOCK)
        kept = self._digests.get(prefix)
        if kept is None or kept[0] != block:
            digest = hashlib.blake2b(b"%s %d" % (prefix.encode(), block), key=self._key).hexdigest()
            kept = self._digests[prefix] = block, digest
        random = kept[1][place * _RANDOM_DIGITS : (place + 1) * _RANDOM_DIGITS]
        return f"{prefix}_{count:010x}{random * self._repeats}"
