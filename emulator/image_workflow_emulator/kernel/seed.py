"""What follows from the seed, and cannot be guessed: chance, identifiers, and the
signatures of links and cursors.

Every draw has a name, so that one more here changes nothing there.

An identifier is a prefix for the kind and hexadecimal digits that increase with
creation (D09). The first ten digits count the kind; the others, 16 of them or 32 in
long identifiers (D68), follow from the seed and make an identifier hard to guess.
"""

import hashlib
import hmac
import re
from functools import lru_cache
from typing import Annotated, Final

from msgspec import Meta, Struct

MAX_SEED = 2**63 - 1


class Seed(Struct, frozen=True):
    """The number that determines everything that clients do not."""

    value: Annotated[int, Meta(ge=0, le=MAX_SEED)]

    def digest(self, *names: str | int) -> bytes:
        """Return 32 bytes that depend on the seed and the names alone."""
        text = _joined(self.value, *names)
        return hashlib.sha256(text.encode()).digest()

    def number(self, *names: str | int) -> int:
        """Return one number from 0 to 2**32 - 1 for the named purpose."""
        digest = self.digest("number", *names)
        return int.from_bytes(digest[:4])


_COUNT_DIGITS = 10
_RANDOM_DIGITS = 16
_BLOCK = 8
"""How many identifiers share one digest, each with its own part of it."""


class Identifiers:
    """The identifiers of one sandbox: each kind counts for itself, so one more call
    here changes no id there (D09).

    `counters` holds by prefix how many there are of each kind, and is changed in place.
    """

    def __init__(
        self,
        seed_value: int,
        counters: dict[str, int] | None = None,
        *,
        is_long: bool = False,
    ) -> None:
        self._key = b"identifiers %d" % seed_value
        self._repeats = 1
        if is_long:
            self._repeats = 2
        if counters is None:
            counters = {}
        self.counters = counters

    def next(self, prefix: str) -> str:
        """Return the next identifier of the kind that the prefix names."""
        count = self.counters.get(prefix, 0) + 1
        self.counters[prefix] = count
        return self._identifier(prefix, count)

    def place_of(self, identifier: str) -> int | None:
        """Return the number of an identifier among those of its kind, counted from 1;
        None if it was not given here.
        """
        prefix, _, digits = identifier.partition("_")
        count_digits = digits[:_COUNT_DIGITS]
        if not re.fullmatch("[0-9a-f]+", count_digits):
            return None
        count = int(count_digits, 16)
        if not 1 <= count <= self.counters.get(prefix, 0):
            return None
        if identifier != self._identifier(prefix, count):
            return None
        return count

    def _identifier(self, prefix: str, count: int) -> str:
        block, place = divmod(count, _BLOCK)
        block_digits = _digest(self._key, prefix, block)
        begin = place * _RANDOM_DIGITS
        end = begin + _RANDOM_DIGITS
        digits = block_digits[begin:end] * self._repeats
        return f"{prefix}_{count:010x}{digits}"


@lru_cache(maxsize=100)
def _digest(
    key: bytes,
    prefix: str,
    block: int,
) -> str:
    """Return the digits of a block of identifiers: requests that follow each other need
    the same one.
    """
    name = f"{prefix} {block}".encode()
    return hashlib.blake2b(name, key=key).hexdigest()


_SIGNATURE: Final = re.compile(r"(?<=[/-])[0-9a-f]{32}(?=$|\.[a-z]+$)")
"""Its form at the end of a link: after a slash, or between an id and the ending of a
file's name."""


class Signer:
    """Makes and checks signatures with its own key; any changed character invalidates
    one.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, *parts: str | int) -> str:
        """Return 32 hexadecimal digits that only this signer gives for these parts."""
        encoded = _joined(*parts).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(encoded, digest_size=16, key=self._key)
        return digest.hexdigest()

    def verify(self, signature: str, *parts: str | int) -> bool:
        """Tell whether this signer gave the signature for these parts."""
        encoded = signature.encode("utf-8", "surrogatepass")
        expected = self.sign(*parts).encode()
        return hmac.compare_digest(encoded, expected)


def _joined(*parts: str | int) -> str:
    """Join parts by a control character, so that their ends stay apart."""
    return "\x1f".join(map(str, parts))


def without_signature(path: str) -> str:
    """Return the path of a link without its signature, for people: it names the
    resource, and gives no access.
    """
    return _SIGNATURE.sub("…", path)
