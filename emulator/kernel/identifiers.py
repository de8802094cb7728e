"""Identifiers. Owns their form: a prefix for the kind and 26 hexadecimal digits that increase with creation (D09)."""

import hashlib
from collections.abc import Mapping

_RANDOM_BYTES = 8


class Identifiers:
    """The identifiers of one sandbox: each kind counts for itself, so one more call here changes no id there (D09)."""

    def __init__(self, seed_value: int, counters: Mapping[str, int] | None = None) -> None:
        self._hash = hashlib.blake2b(digest_size=_RANDOM_BYTES, key=b"identifiers %d" % seed_value)
        self.counters: dict[str, int] = dict(counters or {})

    def next(self, prefix: str) -> str:
        """Return the next identifier of the kind that the prefix names."""
        count = self.counters.get(prefix, 0) + 1
        self.counters[prefix] = count
        digest = self._hash.copy()
        digest.update(b"%s %d" % (prefix.encode(), count))
        return f"{prefix}_{count:010x}{digest.hexdigest()}"
