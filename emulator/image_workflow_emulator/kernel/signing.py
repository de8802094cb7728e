"""Signatures. Owns how a link, a token or a cursor is bound to what it was issued for."""

import hashlib
import hmac
import re
from typing import Final

_SIGNATURE: Final = re.compile(r"(?<=[/-])[0-9a-f]{32}(?=$|\.[a-z]+$)")
"""Its form at the end of a link: after a slash, or between an id and the ending of a file's name."""


class Signer:
    """Makes and checks signatures with its own key; any changed character invalidates one."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, *parts: str | int) -> str:
        """Return 32 hexadecimal digits that only this signer gives for these parts."""
        text = "\x1f".join(map(str, parts))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._key).hexdigest()

    def verify(self, signature: str, *parts: str | int) -> bool:
        """Tell whether this signer gave the signature for these parts."""
        return hmac.compare_digest(signature.encode("utf-8", "surrogatepass"), self.sign(*parts).encode())


def without_signature(path: str) -> str:
    """Return the path of a link without its signature, for people: it names the resource, and gives no access."""
    return _SIGNATURE.sub("…", path)
