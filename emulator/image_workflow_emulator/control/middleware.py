"""Middleware of the control plane: the control token, and what every answer has."""

import hmac
from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from image_workflow_emulator.control import PREFIX, REQUEST_ID_KIND, is_own_file
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.heads import HEAD, Head
from image_workflow_emulator.kernel.seed import Identifiers

_OWN_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""The state of a sandbox must not be cached, nor shown in a page of another origin."""


class OwnAnswers:
    """Gives each request an id, and each answer its headers; HEAD gets no body.

    Also keeps a slash within a step of a path apart from those between steps, before
    the routes see it.
    """

    def __init__(self, app: ASGIApp, identifiers: Identifiers) -> None:
        self._app = app
        self._identifiers = identifiers

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass one request on."""
        head: Head = scope[HEAD]
        request_id = self._identifiers.next(REQUEST_ID_KIND)
        scope["path"] = head.path
        scope["state"] = {"request_id": request_id}

        async def send_own(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Request-Id"] = request_id
                for name, value in _OWN_HEADERS.items():
                    headers.setdefault(name, value)
            elif head.method == "HEAD":
                message["body"] = b""
            await send(message)

        await self._app(scope, receive, send_own)


class ControlToken:
    """Requires the control token, if there is one.

    Health, for which others wait, and the page's own files need none.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass one request on. Raises Problem authentication_required."""
        head: Head = scope[HEAD]
        if self._token is not None and not _is_open(head.path):
            _check_token(head.bearer_key(), self._token)
        await self._app(scope, receive, send)


def _is_open(path: str) -> bool:
    return path == f"{PREFIX}/health" or is_own_file(path)


def _check_token(sent: str | None, token: str) -> None:
    found = "none"
    if sent:
        sent_bytes = sent.encode("latin-1")
        if hmac.compare_digest(sent_bytes, token.encode()):
            return
        found = "another"
    detail = f"Authorization: found {found}; expected `Bearer` and the control token"
    raise Problem("authentication_required", detail, check=Check.CREDENTIAL)
