"""An answer as HTTP takes it, and how a refusal looks (section 7, D08). Must not know what else is answered, nor any state."""

from typing import NamedTuple

from emulator.domain.problems import Problem
from emulator.kernel.json_bytes import json_bytes

Header = tuple[bytes, bytes]
JSON_TYPE: Header = (b"content-type", b"application/json")
PROBLEM_TYPE: Header = (b"content-type", b"application/problem+json")


class Response(NamedTuple):
    """An answer, ready to be sent."""

    status: int
    headers: tuple[Header, ...]
    body: bytes


def problem_response(problem: Problem, request_id: str, retry_after: int | None) -> Response:
    """Render a refusal (section 7, D08)."""
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
    headers = [PROBLEM_TYPE, (b"content-length", b"%d" % len(body)), (b"request-id", request_id.encode())]
    if retry_after is not None:
        headers.append((b"retry-after", b"%d" % retry_after))
    if problem.allow is not None:
        headers.append((b"allow", problem.allow.encode()))
    return Response(problem.status, tuple(headers), body)
