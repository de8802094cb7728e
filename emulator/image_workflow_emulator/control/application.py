"""The control plane as one ASGI application: its operations, its token, and how a refusal is answered.

Where an operation lies and what it takes says `contract/control-plane.yaml`; only the page has paths beside it.
"""

import hmac
import re
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from image_workflow_emulator.control import (
    PREFIX,
    REQUEST_ID_KIND,
    about,
    clock,
    events,
    given,
    journal,
    page,
    sandboxes,
    scenarios,
    teams,
    work,
)
from image_workflow_emulator.control.dispatch import (
    STATE_FILE,
    Action,
    ControlCall,
    ControlPlane,
    Handler,
    JsonResponse,
    action_of,
    contract,
    read_fields,
    read_parameters,
)
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.problems import Check, Problem, invalid_request
from image_workflow_emulator.http.json_bodies import check_no_body, parse_json
from image_workflow_emulator.http.problem_responses import internal_error, not_allowed, problem_response
from image_workflow_emulator.http.requests import MAX_BODY_BYTES, Body, ClientDisconnectedError, Request
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service import engine

_HEALTH: Final = f"{PREFIX}/health"
"""Answered without the control token, so that a wait for readiness does not need it."""
_NOSNIFF: Final = {"X-Content-Type-Options": "nosniff"}
MAX_IMAGE_BYTES: Final = 70 * 1024 * 1024
"""The limit of an upload."""
_MAX_VALUES: Final = 50_000
"""Values in a body of JSON: more than twice those that a scenario may have."""

_MODULES: Final = (about, clock, events, given, journal, sandboxes, scenarios, teams, work)
_PAGES: Final[Mapping[str, Handler]] = {
    "": page.show_page,
    "/reference": page.show_reference,
    "/page/{file}": page.show_file,
}


class Control:
    """Gives each request an id, checks its token, and answers it or its refusal.

    Between the read body and the answer nothing waits, so an action is carried out as a whole (only a move of the clock may
    let held requests go on in between).
    """

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._routes = [(_pattern(path), actions) for path, actions in _actions()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        head = Request(scope, self._plane.settings.public_url)
        body = Body(receive, head.has_body())
        request_id = self._plane.identifiers.next(REQUEST_ID_KIND)

        async def finish(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], head.embedding]
            else:
                if head.method == "HEAD":
                    message["body"] = b""
                if body.has_more and not message.get("more_body"):
                    await send({**message, "more_body": True})
                    await body.drain()
                    message["body"] = b""
            await send(message)

        try:
            response = await self._answer(head, body)
        except ClientDisconnectedError:
            return
        except Exception as error:
            response = _refuse(error, head, request_id)
        # The state of a sandbox must not be cached.
        for name, value in {"Request-Id": request_id, "Cache-Control": "no-store", **_NOSNIFF}.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, finish)

    async def _answer(self, head: Request, body: Body) -> Response:
        plane = self._plane
        _check_token(head, plane.settings.control_token)
        action, parameters = self._find(head)
        async with plane.taking_file if STATE_FILE in action.body else nullcontext():
            content = await _read_body(plane, action, head, body)
            fields: Any = {}
            if action.schema is not None and (content or action.needs_body):
                fields = parse_json(content, head.headers.get(b"content-type"), _MAX_VALUES)
            query = read_parameters(head.query_string, action.query)
            sandbox = plane.find_sandbox(parameters.get("sandbox"))
            if action.schema is not None:
                fields = read_fields(action.schema, fields, len(content))
            now = engine.enter(sandbox)
            call = ControlCall(plane, head, sandbox, now, parameters, query, content, fields, sandbox.store)
            value = action.handler(call)
            if isinstance(value, Awaitable):
                value = await value
        if isinstance(value, Response):
            return value
        return Response(status_code=action.status) if value is None else JsonResponse(value, action.status)

    def _find(self, head: Request) -> tuple[Action, Mapping[str, str]]:
        """Find the action of a request, and the parts of its path; a slash within one came as `%2F`. Raises Problem."""
        for pattern, actions in self._routes:
            if match := pattern.fullmatch(head.path):
                action = actions.get("GET" if head.method == "HEAD" else head.method)
                if action is None:
                    raise not_allowed(head.method, {*actions, *(["HEAD"] if "GET" in actions else [])})
                return action, {name: part.replace("%2F", "/") for name, part in match.groupdict().items()}
        raise Problem("not_found", f"{excerpt(head.path)}: there is no such path", check=Check.ROUTE)


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path: a parameter is one step of it; the path of a page has several."""
    path = path.replace("{path}", "(?P<path>.+)")
    return re.compile(re.escape(PREFIX) + re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path))


def _actions() -> Iterator[tuple[str, Mapping[str, Action]]]:
    """Iterate over all paths, each with its actions by method.

    What concerns one sandbox acts on `default`, and below `/sandboxes/{sandbox}` on another.
    """
    for path, handler in _PAGES.items():
        yield path, {"GET": Action(handler, query={"sandbox": "Sandbox"})}
    for path, item in contract()["paths"].items():
        operations = {method.upper(): operation for method, operation in item.items() if method != "servers"}
        actions = {method: action_of(_handler(one["operationId"]), one) for method, one in operations.items()}
        yield path, actions
        if "servers" not in item:
            yield f"/sandboxes/{{sandbox}}{path}", actions


def _handler(operation_id: str) -> Handler:
    """Return the function that has the name of an operation: `getClock` is answered by `get_clock`."""
    name = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", operation_id)
    function: Handler = next(vars(module)[name] for module in _MODULES if name in vars(module))
    return function


def _check_token(head: Request, token: str | None) -> None:
    """Require the control token, if there is one; health and the page's own files need none.

    Raises:
        Problem: authentication_required.
    """
    if token is None or head.path == _HEALTH or page.is_own_file(head.path):
        return
    found = head.bearer_key()
    if found is None or not hmac.compare_digest(found.encode("latin-1"), token.encode()):
        shown = "none" if found is None else "another"
        expected = "expected `Bearer` and the control token"
        raise Problem("authentication_required", f"Authorization: found {shown}; {expected}", check=Check.CREDENTIAL)


async def _read_body(plane: ControlPlane, action: Action, head: Request, body: Body) -> bytes:
    """Read the body. Raises Problem invalid_request, with status 413 for one that is too large."""
    if not body.has_more:
        return b""
    limit_bytes, expected, remedy = MAX_BODY_BYTES, "fewer", "send a smaller body"
    if "image/png" in action.body:
        limit_bytes = MAX_IMAGE_BYTES
    elif STATE_FILE in action.body:
        limit_bytes = plane.settings.max_memory
        expected, remedy = f"at most --max-memory {limit_bytes}", "start the emulator with a larger --max-memory"
    content = await body.read(limit_bytes) if head.announced_bytes() <= limit_bytes else None
    if not action.body:
        check_no_body(content)
    if content is None:
        raise invalid_request("(body)", f"more than {limit_bytes} bytes", expected, remedy, status=413)
    return content


def _refuse(error: Exception, head: Request, request_id: str) -> Response:
    """Answer with a problem, in the form of the service's."""
    if isinstance(error, DocumentError):
        error = Problem("invalid_request", str(error))
    problem = error if isinstance(error, Problem) else internal_error(error, head, request_id)
    rendered = problem_response(problem, request_id, problem.retry_after)
    response = Response(rendered.body, rendered.status)
    response.raw_headers = list(rendered.headers)
    return response
