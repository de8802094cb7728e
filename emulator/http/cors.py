"""Pages of other origins in browsers: which may call, and what they may read (the CORS protocol of the Fetch standard).

Stands before an application and changes no answer but for its headers. Must not know what is asked for.
"""

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final

from emulator.http.requests import Receive, Scope, Send

ANY_ORIGIN: Final = "*"
EXPOSED: Final = b"Request-Id, Retry-After, Location, Deprecation, Sunset, Link, Emulator-Rule"
"""The headers that a program may read beyond those that every program may."""

_METHODS: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE"
_KEPT_SECONDS: Final = b"600"

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = tuple[tuple[bytes, bytes], ...]


class Cors:
    """Lets programs of some origins call an application, all but what lies under one path."""

    def __init__(
        self, application: Application, origins: Collection[str], closed_prefix: str, next_request_id: Callable[[], str]
    ) -> None:
        """`next_request_id` names the preflights, which are no requests to the application."""
        self._application = application
        self._next_request_id = next_request_id
        self._origins = frozenset(origin.encode("latin-1", "replace") for origin in origins)
        self._allows_any = ANY_ORIGIN in origins
        self._closed_prefix = closed_prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight here; pass any other request on, and add to its answer the origin that may read it."""
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        origin = headers.get(b"origin")
        if origin is None or scope["path"].startswith(self._closed_prefix):
            await self._application(scope, receive, send)
            return
        allowed = self._allowance(origin)
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            request_id = (b"request-id", self._next_request_id().encode())
            granted = (request_id, *_preflight(headers, allowed))
            await send({"type": "http.response.start", "status": 204, "headers": granted})
            await send({"type": "http.response.body", "body": b""})
            return

        async def send_allowed(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": (*message["headers"], *allowed)}
            await send(message)

        await self._application(scope, receive, send_allowed if allowed else send)

    def _allowance(self, origin: bytes) -> Headers:
        exposed = (b"access-control-expose-headers", EXPOSED)
        if self._allows_any:
            return ((b"access-control-allow-origin", b"*"), exposed)
        if origin in self._origins:
            return ((b"access-control-allow-origin", origin), (b"vary", b"Origin"), exposed)
        return ()


def _preflight(headers: dict[bytes, bytes], allowed: Headers) -> Headers:
    """Allow what the preflight asks for: the service itself decides on methods and headers."""
    if not allowed:
        return ()
    granted = (
        *allowed,
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", headers.get(b"access-control-request-headers", b"")),
        (b"access-control-max-age", _KEPT_SECONDS),
    )
    if headers.get(b"access-control-request-private-network") == b"true":
        return (*granted, (b"access-control-allow-private-network", b"true"))
    return granted
