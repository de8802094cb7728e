"""Redirects of the paths that browsers ask for by habit, or that people type.

They leave no trace: no journal has them, and they change no Request-Id of a test.
"""

from typing import Any, Final

from image_workflow_emulator.http.answers import OWN_ORIGIN
from image_workflow_emulator.http.heads import HEAD, Head, Receive, Scope, Send
from image_workflow_emulator.kernel.seed import Identifiers

ICON: Final = "_emulator/page/icon.svg"
_PATHS: Final = ("/", "/favicon.ico", "/_emulator/")


def is_redirected(head: Head) -> bool:
    """Return whether a browser asks for such a path.

    A request with a key comes from a client with a wrong base URL: the service answers
    it.
    """
    is_read = head.method in ("GET", "HEAD")
    return head.path in _PATHS and is_read and b"authorization" not in head.headers


class BrowserRedirect:
    """Redirects a path that browsers ask for by habit, or that people type.

    The redirect is relative, so that it stays below a public address. Any other request
    for the path goes to the application behind it: one with a key comes from a client
    with a wrong base URL.
    """

    def __init__(
        self,
        target: str,
        app: Any,
        identifiers: Identifiers,
        id_kind: str,
    ) -> None:
        self._target = target
        self._app = app
        self._identifiers = identifiers
        self._id_kind = id_kind

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Redirect a browser, or pass the request on."""
        head: Head = scope[HEAD]
        if not is_redirected(head):
            await self._app(scope, receive, send)
            return
        target = self._target.encode()
        if head.query_string:
            target += b"?" + head.query_string
        headers = [
            (b"location", target),
            (b"content-length", b"0"),
            (b"request-id", self._identifiers.next(self._id_kind).encode()),
            OWN_ORIGIN,
        ]
        start = {"type": "http.response.start", "status": 302, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": b""})
