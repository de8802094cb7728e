"""The head of a request to `/v1` and its byte surfaces, as ASGI brings it.

Must not know what is asked for, nor any state, nor what a body says (`json_bodies`).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, unquote

from image_workflow_emulator.domain.problems import Problem, invalid_request
from image_workflow_emulator.http.answers import OWN_ORIGIN, Header
from image_workflow_emulator.kernel.wording import excerpt, printable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_LOGGER = logging.getLogger("image_workflow_emulator.http")

MAX_KEY_CHARACTERS = 255
"""Limit of an Idempotency-Key (D58)."""
CONNECTION = "emulator.connection"
"""Where a scope has the connection under the request."""
HEAD = "emulator.head"
"""Where the scope of an accepted request has its `Head`."""


class Connection(Protocol):
    """The connection under a request, which the server adds to ASGI: for whole answers
    and for faults on the wire.
    """

    peer: str | None
    """The client's address and port; None where there is none, as on a Unix socket."""

    transport: asyncio.Transport
    """It is closing when it is closed, or about to be: its client has gone."""

    @property
    def can_send_whole(self) -> bool:
        """Whether nothing has to be read from the client before it closes."""

    async def send_whole(
        self,
        status: int,
        headers: Iterable[Header],
        body: bytes,
    ) -> None:
        """Answer the request with head and body in one write."""

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""


class Head:
    """The head of a request."""

    def __init__(self, scope: Scope, public_url: str | None) -> None:
        self.method: str = scope["method"]
        raw_path: bytes = scope.get("raw_path") or b""
        self.path: str = scope["path"]
        if b"%2" in raw_path:
            self.path = _decode_path(raw_path)
        self.query_string: bytes = scope["query_string"]
        pairs: list[tuple[bytes, bytes]] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(pairs)
        self.repeated = frozenset[bytes]()
        """The names of headers that came more than once."""
        if len(self.headers) < len(pairs):
            self.repeated = _repeated_names(pairs)
        self.connection: Connection | None = scope.get(CONNECTION)
        """None where the server hands none in."""
        self.embedding: Header = OWN_ORIGIN
        """The header that says which pages may embed the answer."""
        self.http_version: str = scope["http_version"]
        # The scope itself is not kept: it has this head, and neither would be freed.
        self._scheme: str = scope["scheme"]
        self._server: tuple[str, int | None] | None = scope.get("server")
        self._public_url = public_url

    @property
    def origin(self) -> str:
        """How the links in an answer start: the public address, else the client's."""
        return self._public_url or self._address

    @property
    def own_origins(self) -> tuple[str, ...]:
        """The addresses whose pages are the emulator's own: the public one, and the one
        that the client used.
        """
        if self._public_url is None:
            return (self._address,)
        return (self._address, self._public_url)

    @property
    def _address(self) -> str:
        host = self.headers.get(b"host")  # one that the guard accepted
        if host is not None:
            return f"{self._scheme}://{host.decode()}"
        name, port = self._server or ("127.0.0.1", None)
        if port:
            return f"{self._scheme}://{name}:{port}"
        return f"{self._scheme}://{name}"

    def bearer_key(self) -> str | None:
        """Return the key of `Authorization: Bearer`, or None if it has no such form
        (section 5, D48).
        """
        value = self.headers.get(b"authorization")
        if value is None or b"authorization" in self.repeated:
            return None
        return _key_of(value)

    def idempotency_key(self) -> str:
        """Return the Idempotency-Key (section 4).

        Raises:
            Problem: invalid_request, if there is not exactly one (D48), or it is too
                long (D58).
        """
        value = self.headers.get(b"idempotency-key", b"").strip()
        if not value:
            raise _wrong_key_count("none")
        if b"idempotency-key" in self.repeated:
            raise _wrong_key_count("more than one")
        if len(value) > MAX_KEY_CHARACTERS:
            raise invalid_request(
                "Idempotency-Key",
                f"{len(value)} characters",
                f"at most {MAX_KEY_CHARACTERS}",
                f"send an Idempotency-Key of at most {MAX_KEY_CHARACTERS} characters",
            )
        return value.decode("latin-1")

    def content_type(self) -> bytes | None:
        """Return the Content-Type.

        Raises:
            Problem: invalid_request if there are two, which HTTP does not allow (D59).
        """
        if b"content-type" in self.repeated:
            raise invalid_media_type("more than one such header")
        return self.headers.get(b"content-type")

    def check_encoding(self) -> None:
        """Refuse a compressed body, which the specification does not promise (D52).

        Raises:
            Problem: invalid_request.
        """
        encoding = self.headers.get(b"content-encoding")
        if encoding is None or encoding.strip().lower() == b"identity":
            return
        raise invalid_request(
            "Content-Encoding",
            excerpt(encoding.decode("latin-1")),
            "none",
            "send the body as it is, without a Content-Encoding",
        )

    def has_body(self) -> bool:
        """Return whether the head announces a body."""
        if b"transfer-encoding" in self.headers:
            return True
        return self.headers.get(b"content-length", b"0").strip(b"0 ") != b""

    def announced_bytes(self) -> int:
        """Return the announced size of the body in bytes; 0 if no size is announced."""
        announced = self.headers.get(b"content-length", b"0")
        if not announced.isdigit():
            return 0
        return int(announced)

    def internal_error(self, error: Exception, request_id: str) -> Problem:
        """Log a defect of the emulator that this request met, and return the problem to
        answer with.
        """
        _LOGGER.error(
            "%s %s failed (%s)",
            self.method,
            printable(self.path),
            request_id,
            exc_info=error,
        )
        return Problem("internal_error", "the emulator failed; its log has the cause")


def _repeated_names(pairs: list[tuple[bytes, bytes]]) -> frozenset[bytes]:
    counts = Counter(name for name, _ in pairs)
    return frozenset(name for name, number in counts.items() if number > 1)


@lru_cache(maxsize=1_000)
def _key_of(authorization: bytes) -> str | None:
    scheme, _, key = authorization.decode("latin-1").partition(" ")
    if scheme.lower() != "bearer":
        return None
    return key.strip(" \t")


def _wrong_key_count(found: str) -> Problem:
    return invalid_request(
        "Idempotency-Key",
        found,
        "one such header on every POST and PATCH",
        "send exactly one Idempotency-Key header",
    )


def _decode_path(raw_path: bytes) -> str:
    """Decode a path step by step: a slash that was written `%2F` belongs to its step,
    and stays written so (D53).
    """
    steps = raw_path.decode("ascii", "replace").split("/")
    return "/".join(unquote(step).replace("/", "%2F") for step in steps)


def encoded_path(path: str) -> str:
    """Write the path of a request as an address has it, which leads to the same path."""
    return quote(path, safe="/:@!$&'()*+,;=~").replace("%252F", "%2F")


def invalid_media_type(found: str) -> Problem:
    """Return the refusal of a Content-Type; `found` says in words what it was."""
    remedy = "send the header `Content-Type: application/json`"
    return invalid_request("Content-Type", found, "application/json", remedy)
