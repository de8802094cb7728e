"""A request as HTTP brings it: its head and query, its body as bytes, read from ASGI (D02), and its waits.

Must not know what is asked for, nor any state, nor what a body says (`json_bodies`).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, unquote, unquote_to_bytes

from image_workflow_emulator.domain.problems import Problem, invalid_request
from image_workflow_emulator.http.responses import OWN_ORIGIN, Header
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.kernel.wording import excerpt, printable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_LOGGER = logging.getLogger("image_workflow_emulator.http")

MAX_KEY_CHARACTERS = 255
"""Limit of an Idempotency-Key (D58)."""
MAX_BODY_BYTES = 1024 * 1024
MAX_DRAINED_BYTES = 80 * 1024 * 1024
"""How much of a refused body is read and dropped, so that its sender sees the answer instead of a reset."""


CONNECTION = "emulator.connection"
"""Where a scope has the connection under the request."""


class Connection(Protocol):
    """The connection under a request, which the server adds to ASGI: for whole answers and for faults on the wire."""

    peer: str | None
    """The client's address and port; None where there is none, as on a Unix socket."""

    transport: asyncio.Transport
    """It is closing when it is closed, or about to be: its client has gone."""

    async def send_whole(
        self, status: int, headers: Iterable[Header], body: bytes
    ) -> None:
        """Answer the request with head and body in one piece."""

    def reset(self) -> None:
        """Break it off at once, so that the client sees a reset."""


class ClientDisconnectedError(Exception):
    """The client went away before its request was whole; nothing has happened."""


class Request:
    """The head of a request."""

    def __init__(self, scope: Scope, public_url: str | None) -> None:
        self.method: str = scope["method"]
        raw_path: bytes = scope.get("raw_path") or b""
        self.path: str = _path(raw_path) if b"%2" in raw_path else scope["path"]
        self.query_string: bytes = scope["query_string"]
        pairs: list[tuple[bytes, bytes]] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(pairs)
        self.repeated = (
            frozenset[bytes]() if len(self.headers) == len(pairs) else _repeated(pairs)
        )
        """The names of headers that came more than once."""
        self.connection: Connection | None = scope.get(CONNECTION)
        """None where the server hands none in."""
        self.can_send_whole = self.connection is not None
        """Whether an answer may go past `send`, in one piece; not where somebody waits there to change it."""
        self.embedding: Header = OWN_ORIGIN
        """The header that says which pages may embed the answer."""
        self.scope = scope
        self._public_url = public_url

    @property
    def origin(self) -> str:
        """How the links in an answer start: the public address, else the one that the client used."""
        return self._public_url or self._address

    @property
    def own_origins(self) -> tuple[str, ...]:
        """The addresses whose pages are the emulator's own: the public one, and the one that the client used."""
        return (
            (self._address,)
            if self._public_url is None
            else (self._address, self._public_url)
        )

    @property
    def _address(self) -> str:
        scheme, host = (
            self.scope["scheme"],
            self.headers.get(b"host"),
        )  # one that the guard accepted
        if host is not None:
            return f"{scheme}://{host.decode()}"
        name, port = self.scope.get("server") or ("127.0.0.1", None)
        return f"{scheme}://{name}:{port}" if port else f"{scheme}://{name}"

    def bearer_key(self) -> str | None:
        """Return the key of `Authorization: Bearer`, or None if it has no such form (section 5, D48)."""
        value = self.headers.get(b"authorization")
        return (
            None
            if value is None or b"authorization" in self.repeated
            else _key_of(value)
        )

    def idempotency_key(self) -> str:
        """Return the Idempotency-Key (section 4).

        Raises:
            Problem: invalid_request, if there is not exactly one (D48), or it is too long (D58).
        """
        value = self.headers.get(b"idempotency-key", b"").strip()
        if not value or b"idempotency-key" in self.repeated:
            found, expected = (
                "more than one" if value else "none",
                "one such header on every POST and PATCH",
            )
            raise invalid_request(
                "Idempotency-Key",
                found,
                expected,
                "send exactly one Idempotency-Key header",
            )
        if len(value) > MAX_KEY_CHARACTERS:
            found, expected = (
                f"{len(value)} characters",
                f"at most {MAX_KEY_CHARACTERS}",
            )
            raise invalid_request(
                "Idempotency-Key",
                found,
                expected,
                f"send an Idempotency-Key of {expected} characters",
            )
        return value.decode("latin-1")

    def content_type(self) -> bytes | None:
        """Return the Content-Type. Raises Problem invalid_request if there are two, which HTTP does not allow (D59)."""
        if b"content-type" in self.repeated:
            raise invalid_media_type("more than one such header")
        return self.headers.get(b"content-type")

    def check_encoding(self) -> None:
        """Refuse a compressed body, which the specification does not promise (D52). Raises Problem invalid_request."""
        encoding = self.headers.get(b"content-encoding")
        if encoding is not None and encoding.strip().lower() != b"identity":
            found = excerpt(encoding.decode("latin-1"))
            remedy = "send the body as it is, without a Content-Encoding"
            raise invalid_request("Content-Encoding", found, "none", remedy)

    def has_body(self) -> bool:
        """Whether the head announces a body."""
        return (
            b"transfer-encoding" in self.headers
            or self.headers.get(b"content-length", b"0").strip(b"0 ") != b""
        )

    def announced_bytes(self) -> int:
        """Return the size of the body that the head announces; 0 where it announces none, or no size."""
        announced = self.headers.get(b"content-length", b"0")
        return int(announced) if announced.isdigit() else 0

    def internal_error(self, error: Exception, request_id: str) -> Problem:
        """Log a defect of the emulator that this request met, and return the problem to answer with."""
        _LOGGER.error(
            "%s %s failed (%s)",
            self.method,
            printable(self.path),
            request_id,
            exc_info=error,
        )
        return Problem("internal_error", "the emulator failed; its log has the cause")


def _repeated(pairs: list[tuple[bytes, bytes]]) -> frozenset[bytes]:
    return frozenset(
        name
        for name, number in Counter(name for name, _ in pairs).items()
        if number > 1
    )


@lru_cache(maxsize=1_000)
def _key_of(authorization: bytes) -> str | None:
    scheme, _, key = authorization.decode("latin-1").partition(" ")
    return key.strip(" \t") if scheme.lower() == "bearer" else None


def _path(raw_path: bytes) -> str:
    """Decode a path step by step: a slash that was written `%2F` is part of its step, and stays written so (D53)."""
    return "/".join(
        unquote(step).replace("/", "%2F")
        for step in raw_path.decode("ascii", "replace").split("/")
    )


def encoded_path(path: str) -> str:
    """Write the path of a request as it goes into an address, which leads to the same path."""
    return quote(path, safe="/:@!$&'()*+,;=~").replace("%252F", "%2F")


def invalid_media_type(found: str) -> Problem:
    """Return the refusal of a Content-Type; `found` says what was found."""
    remedy = "send the header `Content-Type: application/json`"
    return invalid_request("Content-Type", found, "application/json", remedy)


class Body:
    """The body of a request, taken from the connection piece by piece, once."""

    def __init__(self, receive: Receive, is_announced: bool = True) -> None:
        self._receive = receive
        self.has_more = is_announced
        """Whether there is more to take."""
        self.size_bytes = 0
        """The number of bytes that have come so far."""
        self._bytes_per_second = 0
        self._pause: Callable[[int], Awaitable[None]] | None = None

    def slow_down(
        self, bytes_per_second: int, pause: Callable[[int], Awaitable[None]]
    ) -> None:
        """Receive the rest at this speed; `pause` waits for a span of real time in milliseconds."""
        self._bytes_per_second, self._pause = bytes_per_second, pause

    async def take(self) -> bytes:
        """Take the next piece. Raises ClientDisconnectedError: the client went away before its body was whole."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.has_more = False
            raise ClientDisconnectedError
        self.has_more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        self.size_bytes += len(piece)
        if self._pause is not None:
            await self._pause(len(piece) * SECOND_MS // self._bytes_per_second)
        return piece

    async def read(self, limit_bytes: int = MAX_BODY_BYTES) -> bytes | None:
        """Take all of it; None as soon as it is larger than the limit. Raises ClientDisconnectedError."""
        pieces = [await self.take()]
        while self.has_more and self.size_bytes <= limit_bytes:
            pieces.append(await self.take())
        return (
            b"".join(pieces) if self.size_bytes <= limit_bytes else None
        )  # one piece is not copied

    async def drain(self) -> None:
        """Receive and discard the rest, within bounds, so that the client can read the answer."""
        limit_bytes = self.size_bytes + MAX_DRAINED_BYTES
        while self.has_more and self.size_bytes <= limit_bytes:
            try:
                await self.take()
            except ClientDisconnectedError:
                return


async def wait_for_close(receive: Receive) -> None:
    """Wait until the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def read_query(query_string: bytes, known: Collection[str]) -> dict[str, str]:
    """Read a query of known parameters, each at most once (D02).

    Raises:
        Problem: invalid_request.
    """
    given: dict[str, str] = {}
    for pair in query_string.split(b"&"):
        if not pair:
            continue
        raw_name, _, raw_value = pair.partition(b"=")
        name, value = _decode(raw_name), _decode(raw_value)
        if name not in known:
            expected = f"one of: {', '.join(known)}" if known else "none"
            raise Problem(
                "invalid_request",
                f"{excerpt(name)}: an unknown query parameter; expected {expected}",
                remedy=f"remove the parameter {excerpt(name)}",
            )
        if name in given:
            raise invalid_request(
                name,
                "more than once",
                "at most once",
                f"send the parameter {name} once",
            )
        given[name] = value
    return given


def _decode(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        found = excerpt(raw.decode("latin-1"))
        raise invalid_request(
            "the query", found, "UTF-8", "write the query in UTF-8"
        ) from None


class Stop:
    """Whether the emulator is stopping, and the waits that this ends. It belongs to the event loop of the requests."""

    def __init__(self) -> None:
        self.has_begun = False
        self._waiting: set[asyncio.Future[Any]] = set()

    def begin(self) -> None:
        """End all waits, from now on."""
        self.has_begun = True
        for waiting in self._waiting:
            waiting.cancel()

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time; a stop of the emulator ends the wait."""
        await self.cut_short(asyncio.sleep(span_ms / SECOND_MS))

    async def cut_short(
        self, awaitable: Awaitable[Any], timeout_seconds: float | None = None
    ) -> bool:
        """Wait for something, at most for a timeout; a stop of the emulator ends the wait. Return whether it did."""
        waiting = asyncio.ensure_future(awaitable)
        self._waiting.add(waiting)
        if self.has_begun:
            waiting.cancel()
        try:
            await asyncio.wait([waiting], timeout=timeout_seconds)
            if waiting.done() and not waiting.cancelled():
                waiting.result()  # raises what went wrong
            return waiting.cancelled()
        finally:
            self._waiting.discard(waiting)
            waiting.cancel()
