"""An answer as HTTP takes it, and the form of a refusal (section 7, D08).

The one place that renders a Problem, for every surface. Must not know what is answered,
nor any state.
"""

from collections.abc import Collection

import msgspec
from msgspec import Struct

from image_workflow_emulator.domain.problems import Check, Problem

Header = tuple[bytes, bytes]
JSON_TYPE: Header = (b"content-type", b"application/json")  # D72
PROBLEM_TYPE: Header = (b"content-type", b"application/problem+json")
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
"""Tells a browser not to guess the type of an answer."""
OWN_ORIGIN: Header = (b"cross-origin-resource-policy", b"same-origin")
"""Tells a browser that no page of another origin may embed an answer."""
PIECE_BYTES = 256 * 1024
"""A longer body is sent in pieces of this size, so that a slow reader costs little
memory."""


class Answer(Struct, frozen=True, gc=False):
    """The answer to a request, ready to be sent."""

    status: int
    headers: tuple[Header, ...]
    body: bytes


def problem_answer(
    problem: Problem,
    request_id: str,
    retry_after: int | None,
    headers: tuple[Header, ...] = (),
) -> Answer:
    """Render a refusal.

    `retry_after` is in seconds; `headers` are added to the problem's own.
    """
    value = {
        "type": "about:blank",
        "title": problem.kind.title,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "request_id": request_id,
    }
    if problem.active_operation_id is not None:
        value["active_operation_id"] = problem.active_operation_id
    body = msgspec.json.encode(value)
    fields = [
        PROBLEM_TYPE,
        NOSNIFF,
        (b"content-length", b"%d" % len(body)),
        (b"request-id", request_id.encode()),
    ]
    if problem.status == 401:
        # Which every 401 needs (D61, RFC 9110).
        fields.append((b"www-authenticate", b"Bearer"))
    if retry_after is not None:
        fields.append((b"retry-after", b"%d" % retry_after))
    for name, text in problem.headers:
        fields.append((name.lower().encode(), text.encode()))
    return Answer(problem.status, (*fields, *headers), body)


def method_not_allowed(method: str, allowed: Collection[str]) -> Problem:
    """Return the 405 for a path that does not take a method (D06)."""
    methods = sorted(allowed)
    return Problem(
        "invalid_request",
        f"{method[:40]} is not allowed here; allowed: {', '.join(methods)}",
        status=405,
        check=Check.ROUTE,
        headers=(("Allow", ", ".join(methods)),),
        remedy=f"send it with the method {' or '.join(methods)}",
    )
