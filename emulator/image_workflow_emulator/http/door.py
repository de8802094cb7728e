"""Middleware that refuses a request before anything else of the application sees it.

Owns the order of these checks: the Host, then the page for which a browser sent the
request. Requests that it refuses are not in any journal, and their Request-Ids change
none of a test. What is accepted is the guard's to say.
"""

from typing import Any

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.answers import Answer, problem_answer
from image_workflow_emulator.http.browser_redirects import is_redirected
from image_workflow_emulator.http.guard import Guard
from image_workflow_emulator.http.heads import HEAD, Head, Receive, Scope, Send
from image_workflow_emulator.http.surfaces import (
    CONTROL_DOCUMENTS,
    FILES_PREFIX,
    is_control_path,
)
from image_workflow_emulator.kernel.seed import Identifiers


class Door:
    """ASGI middleware; every request passes it first."""

    def __init__(
        self,
        app: Any,
        guard: Guard,
        identifiers: Identifiers,
        public_url: str | None,
    ) -> None:
        self._app = app
        self._guard = guard
        self._identifiers = identifiers
        self._public_url = public_url

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass a request on with its head, or answer with the reason of its refusal."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = Head(scope, self._public_url)
        if head.path.startswith(FILES_PREFIX):
            head.embedding = self._guard.picture_policy(head)
        try:
            self._check(head)
        except Problem as problem:
            await _send(self._refusal(problem, head), head, send)
            return
        scope[HEAD] = head
        await self._app(scope, receive, send)

    def _check(self, head: Head) -> None:
        self._guard.check_host(head)
        if is_redirected(head):
            return  # nothing changes, and the other page cannot read the answer
        if is_control_path(head.path):
            is_document = head.path in CONTROL_DOCUMENTS
            self._guard.check_own_page(head, is_document=is_document)
        else:
            self._guard.check_page(head)

    def _refusal(self, problem: Problem, head: Head) -> Answer:
        kind = "req"
        if is_control_path(head.path):
            kind = "ctl"
        return problem_answer(problem, self._identifiers.next(kind), None)


async def _send(
    answer: Answer,
    head: Head,
    send: Send,
) -> None:
    body = answer.body
    if head.method == "HEAD":
        body = b""
    headers = [*answer.headers, head.embedding]
    start = {"type": "http.response.start", "status": answer.status}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": body})
