"""The form of a refusal on the wire (section 7, D08): the one place that renders a Problem, for every surface."""

import logging
from collections.abc import Collection

from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.requests import Request
from image_workflow_emulator.http.responses import NOSNIFF, Header, Response
from image_workflow_emulator.kernel.json_bytes import json_bytes
from image_workflow_emulator.kernel.printable import printable

PROBLEM_TYPE: Header = (b"content-type", b"application/problem+json")
CHALLENGE: Header = (b"www-authenticate", b"Bearer")
"""The header that every 401 needs (D61, RFC 9110)."""

_MAX_METHOD_CHARACTERS = 40
_LOGGER = logging.getLogger("image_workflow_emulator.http")


def problem_response(
    problem: Problem, request_id: str, retry_after: int | None, headers: tuple[Header, ...] = ()
) -> Response:
    """Render a refusal. `retry_after` is in seconds; `headers` are added to the problem's own."""
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
    body = json_bytes(value)
    fields = [PROBLEM_TYPE, NOSNIFF, (b"content-length", b"%d" % len(body)), (b"request-id", request_id.encode())]
    if problem.status == 401:
        fields.append(CHALLENGE)
    if retry_after is not None:
        fields.append((b"retry-after", b"%d" % retry_after))
    fields.extend((name.lower().encode(), value.encode()) for name, value in problem.headers)
    return Response(problem.status, (*fields, *headers), body)


def not_allowed(method: str, allowed: Collection[str]) -> Problem:
    """Return the 405 for a path that does not take a method (D06)."""
    listed = ", ".join(sorted(allowed))
    return Problem(
        "invalid_request",
        f"{method[:_MAX_METHOD_CHARACTERS]} is not allowed here; allowed: {listed}",
        status=405,
        check=Check.ROUTE,
        headers=(("Allow", listed),),
        remedy=f"send it with the method {listed.replace(', ', ' or ')}",
    )


def internal_error(error: Exception, request: Request, request_id: str) -> Problem:
    """Log a defect of the emulator, and return the problem to answer with."""
    _LOGGER.error("%s %s failed (%s)", request.method, printable(request.path), request_id, exc_info=error)
    return Problem("internal_error", "the emulator failed; its log has the cause")
