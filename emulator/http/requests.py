"""A request as HTTP brings it: its head, its body, JSON and query, read from ASGI and checked for shape (D02, D03).

Must not know what is asked for, nor any state.
"""

import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from itertools import accumulate
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import orjson

from emulator.domain.problems import Problem, excerpt
from emulator.http.connection import connection_of
from emulator.kernel.timestamps import SECOND_MS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MAXIMUM_KEY_CHARACTERS = 255
"""Of an Idempotency-Key (D58)."""
MAXIMUM_BODY_BYTES = 1024 * 1024
MAXIMUM_DEPTH = 254
"""Levels of arrays and objects in JSON: as many as can be written again (D56)."""
DRAIN_LIMIT_BYTES = 80 * 1024 * 1024
"""How much of a refused body is read and dropped, so that its sender sees the answer instead of a reset."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")

_LONG_FRACTION = re.compile(rb"(?<![0-9.])(?:(?=[0-9.]{17})[0-9]*\.[0-9]|[0-9]{16,}[eE])")
"""A number with so many digits that a float could round it to an integer."""
_EXACT_BELOW = 2**53
"""Up to here there is a number between any whole one and the next."""
_LONGEST_INTEGER = 19
"""Characters of an integer that is read as one, in 64 bits."""
_LONGEST_POWER = 20
"""Characters of an exponent that are read: more say nothing more."""


class ClientDisconnectedError(Exception):
    """The client went away before its request was whole; nothing has happened."""


class Request:
    """The head of a request."""

    __slots__ = ("_public_url", "_scope", "headers", "method", "path", "query_string", "repeated")

    def __init__(self, scope: Scope, public_url: str | None) -> None:
        self.method: str = scope["method"]
        raw_path: bytes = scope.get("raw_path") or b""
        self.path: str = _path(raw_path) if b"%2" in raw_path else scope["path"]
        self.query_string: bytes = scope["query_string"]
        pairs: list[tuple[bytes, bytes]] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(pairs)
        self.repeated = _repeated(pairs) if len(self.headers) != len(pairs) else frozenset()
        self._scope = scope
        self._public_url = public_url

    @property
    def origin(self) -> str:
        """How the links in an answer start: the public address, else the one that the client used."""
        if self._public_url is not None:
            return self._public_url
        host = self.headers.get(b"host")  # one that was accepted at the door
        if host is not None:
            return f"{self._scope['scheme']}://{host.decode()}"
        name, port = self._scope.get("server") or ("127.0.0.1", None)
        return f"{self._scope['scheme']}://{name}:{port}" if port else f"{self._scope['scheme']}://{name}"

    @property
    def public_authority(self) -> str | None:
        """Host and port of the public address, in lower case, if there is one."""
        return None if self._public_url is None else self._public_url.lower().partition("://")[2].partition("/")[0]

    def connection(self) -> tuple[str | None, float | None]:
        """Return the client's address and the time of the connection; None if the server does not provide it."""
        connection = connection_of(self._scope)
        return (None, None) if connection is None or connection.peer is None else (connection.peer, connection.made_ms)

    def bearer_key(self) -> str | None:
        """Return the key of `Authorization: Bearer`, or None if it has no such form (section 5, D48)."""
        value = self.headers.get(b"authorization")
        if value is None or b"authorization" in self.repeated:
            return None
        scheme, _, key = value.decode("latin-1").partition(" ")
        return key.strip() if scheme.lower() == "bearer" else None

    def idempotency_key(self) -> str:
        """Return the Idempotency-Key (section 4). Raises Problem invalid_request if there is not exactly one (D48), or it is too long (D58)."""
        value = self.headers.get(b"idempotency-key", b"").strip()
        if not value or b"idempotency-key" in self.repeated:
            found = "more than one" if value else "none"
            raise Problem(
                "invalid_request",
                f"Idempotency-Key: found {found}; expected one such header on every POST and PATCH",
                remedy="send exactly one Idempotency-Key header",
            )
        if len(value) > MAXIMUM_KEY_CHARACTERS:
            raise Problem(
                "invalid_request",
                f"Idempotency-Key: found {len(value)} characters; expected at most {MAXIMUM_KEY_CHARACTERS}",
                remedy=f"send an Idempotency-Key of at most {MAXIMUM_KEY_CHARACTERS} characters",
            )
        return value.decode("latin-1")

    def content_type(self) -> bytes | None:
        """Return the Content-Type. Raises Problem invalid_request if there are two, which HTTP does not allow (D59)."""
        if b"content-type" in self.repeated:
            raise _unfit_media_type("more than one such header")
        return self.headers.get(b"content-type")

    def check_encoding(self) -> None:
        """Refuse a compressed body: the specification promises no support for it (D52). Raises Problem invalid_request."""
        encoding = self.headers.get(b"content-encoding")
        if encoding is not None and encoding.strip().lower() != b"identity":
            found = excerpt(encoding.decode("latin-1"))
            raise Problem(
                "invalid_request",
                f"Content-Encoding: found {found}; expected none",
                remedy="send the body as it is, without a Content-Encoding",
            )

    def has_body(self) -> bool:
        """Whether the head announces a body."""
        return b"transfer-encoding" in self.headers or self.headers.get(b"content-length", b"0").strip(b"0 ") != b""

    def announces_more_than(self, limit_bytes: int) -> bool:
        """Whether the head announces a body that is too large, so that it need not be read to be refused."""
        announced = self.headers.get(b"content-length", b"0")
        return announced.isdigit() and int(announced) > limit_bytes


def _path(raw_path: bytes) -> str:
    """Decode a path step by step: a slash that was written `%2F` is part of its step, and stays written so (D53)."""
    return "/".join(unquote(step).replace("/", "%2F") for step in raw_path.decode("ascii", "replace").split("/"))


def _repeated(pairs: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    return frozenset(name for name, number in Counter(name for name, _ in pairs).items() if number > 1)


class Body:
    """The body of a request, taken from the connection piece by piece, once."""

    __slots__ = ("_bytes_per_second", "_pause", "_receive", "has_more", "size_bytes")

    def __init__(self, receive: Receive, is_announced: bool = True) -> None:
        self._receive = receive
        self.has_more = is_announced
        """Whether there is more to take."""
        self.size_bytes = 0
        """How many have come so far."""
        self._bytes_per_second = 0
        self._pause: Callable[[int], Awaitable[None]] | None = None

    def slow_down(self, bytes_per_second: int, pause: Callable[[int], Awaitable[None]]) -> None:
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

    async def read(self, limit_bytes: int = MAXIMUM_BODY_BYTES) -> bytes | None:
        """Take all of it; None as soon as it is larger than the limit. Raises ClientDisconnectedError."""
        gathered = io.BytesIO(await self.take())  # it hands its bytes out without a copy
        gathered.seek(0, io.SEEK_END)
        while self.has_more and self.size_bytes <= limit_bytes:
            gathered.write(await self.take())
        return gathered.getvalue() if self.size_bytes <= limit_bytes else None

    async def drain(self) -> None:
        """Receive and discard the rest, within bounds: the connection stays open until the client has read the answer."""
        limit_bytes = self.size_bytes + DRAIN_LIMIT_BYTES
        while self.has_more and self.size_bytes <= limit_bytes:
            try:
                await self.take()
            except ClientDisconnectedError:
                return


async def until_gone(receive: Receive) -> None:
    """Wait until the client has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def check_no_body(body: bytes | None) -> None:
    """Refuse a body where the operation takes none (D44). Raises Problem invalid_request."""
    if body != b"":
        raise Problem(
            "invalid_request",
            "(body): found a body; expected none, this operation takes none",
            remedy="send no body",
        )


def parse_json(body: bytes | None, content_type: bytes | None) -> Any:
    """Read a JSON body (D03, D56).

    Raises:
        Problem: invalid_request, with status 413 for a body over 1 MiB.
    """
    if body is None:
        raise Problem(
            "invalid_request",
            f"(body): found more than {MAXIMUM_BODY_BYTES} bytes; expected fewer",
            status=413,
            remedy=f"send {MAXIMUM_BODY_BYTES} bytes at most",
        )
    _check_media_type(content_type)
    if not body:
        raise Problem("invalid_request", "(body): found nothing; expected a JSON object", remedy="send a JSON object")
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return _parse_unusual(body, error)
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:  # what it reads may be four times as deep as what it writes
        raise _too_deep() from None
    if b".0" in written and _LONG_FRACTION.search(body):
        return _parse_unusual(body)
    # orjson lets the last of two equal keys win. Every colon outside strings belongs to a key, and one inside a string
    # is kept as it is unless it was written as an escape, so a key was dropped only if colons are missing. Without this
    # fast path, by `_parse_unusual` alone, a POST takes 18 % more instructions.
    if b"\\u003" in body or body.count(b":") != written.count(b":"):
        _check_duplicate_keys(body)
    return value


def _too_deep() -> Problem:
    return Problem(
        "invalid_request",
        f"(body): found arrays and objects nested too deeply; expected at most {MAXIMUM_DEPTH} levels",
        remedy=f"nest arrays and objects in at most {MAXIMUM_DEPTH} levels",
    )


def _is_too_deep(body: bytes) -> bool:
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    return max(accumulate(1 if bracket in b"[{" else -1 for bracket in brackets), default=0) > MAXIMUM_DEPTH


def _parse_unusual(body: bytes, refusal: orjson.JSONDecodeError | None = None) -> Any:
    """Read JSON whose numbers the fast reader refuses or rounds; for all other JSON that it refuses, report the mistake.

    Raises:
        Problem: invalid_request.
    """

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1}"
        raise Problem(
            "invalid_request",
            f"(body): found 0x{body[error.start]:02x}, which is not UTF-8, at {place}; expected JSON in UTF-8",
            remedy=f"write the JSON in UTF-8, which it is not at {place}",
        ) from None
    if _is_too_deep(body):
        raise _too_deep()
    try:
        value = json.loads(
            text, parse_float=_number, parse_int=_integer, parse_constant=refuse, object_pairs_hook=_unique
        )
        orjson.dumps(value)  # half a surrogate pair is no text
    except (ValueError, TypeError):
        place = f"line {refusal.lineno} column {refusal.colno}" if refusal and refusal.pos else "the start"
        raise Problem(
            "invalid_request",
            f"(body): found text that is not JSON at {place}; expected JSON in UTF-8",
            remedy=f"correct the JSON at {place}",
        ) from None
    return value


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_INTEGER else _number(digits)


def _number(digits: str) -> float:
    """Read a number: one that is not whole as written is not rounded to a whole one (D52), and none is infinite."""
    value = max(min(float(digits), sys.float_info.max), -sys.float_info.max)
    if not value.is_integer() or abs(value) > _EXACT_BELOW or _is_whole(digits):
        return value
    return math.nextafter(value, math.inf)


def _is_whole(digits: str) -> bool:
    mantissa, _, power = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = (whole + fraction).rstrip("0")
    if not significant.strip("-"):
        return True  # a zero, however it is written
    zeros = len(whole + fraction) - len(significant)
    shift = int(power[:_LONGEST_POWER] or 0)
    return shift + zeros >= len(fraction)


def _check_media_type(content_type: bytes | None) -> None:
    if content_type == b"application/json":
        return
    if content_type is None:
        raise _unfit_media_type("none")
    media_type, _, parameters = content_type.decode("latin-1").lower().partition(";")
    media_type = media_type.strip()
    is_json = media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )
    charset = parameters.replace(" ", "").replace('"', "").partition("charset=")[2].partition(";")[0]
    if not is_json or charset not in ("", "utf-8", "utf8"):
        raise _unfit_media_type(excerpt(content_type.decode("latin-1")))


def _unfit_media_type(found: str) -> Problem:
    return Problem(
        "invalid_request",
        f"Content-Type: found {found}; expected application/json",
        remedy="send the header `Content-Type: application/json`",
    )


def _check_duplicate_keys(body: bytes) -> None:
    json.loads(body, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members. Raises Problem invalid_request for two of one name."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise Problem(
                "invalid_request",
                f"(body): found the key {excerpt(name)} twice; expected each key once",
                remedy=f"remove all but one of the keys {excerpt(name)}",
            )
        members[name] = value
    return members


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
            raise Problem(
                "invalid_request",
                f"{name}: found more than once; expected at most once",
                remedy=f"send the parameter {name} once",
            )
        given[name] = value
    return given


def _decode(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise Problem(
            "invalid_request",
            f"the query: found {excerpt(raw.decode('latin-1'))}; expected UTF-8",
            remedy="write the query in UTF-8",
        ) from None
