"""The control plane as one ASGI application: its operations, its token, and how a refusal is answered.

Where an operation lies and what it takes says `contract/control-plane.yaml`; only the page has paths beside it.
"""

import hmac
import re
from collections.abc import Iterator, Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.routing import Route, Router
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
from image_workflow_emulator.control.dispatch import Action, ControlPlane, Handler, action_of, contract, endpoint
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.problem_responses import not_allowed, problem_response
from image_workflow_emulator.http.requests import Body, ClientDisconnectedError, Request
from image_workflow_emulator.kernel.wording import excerpt

_HEALTH: Final = f"{PREFIX}/health"
"""Answered without the control token, so that a wait for readiness does not need it."""

_MODULES: Final = (about, clock, events, given, journal, sandboxes, scenarios, teams, work)
_PAGES: Final[Mapping[str, Handler]] = {
    "": page.show_page,
    "/reference": page.show_reference,
    "/page/{file}": page.show_file,
}


class Control:
    """Gives each request an id, checks its token, and answers it or its refusal."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._router = Router(redirect_slashes=False)
        for path, actions in _actions():
            pattern = PREFIX + path.replace("{path}", "{path:path}")  # that of a page has folders
            self._router.routes.append(Route(pattern, endpoint(plane, actions), methods=[*actions]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        head = Request(scope, self._plane.settings.public_url)
        body = Body(receive, head.has_body())
        request_id = self._plane.identifiers.next(REQUEST_ID_KIND)
        scope["path"] = head.path  # in which a slash within a step is not one between two
        scope["app"] = self  # so that the router raises what it refuses
        scope["state"] = {"head": head, "body": body, "request_id": request_id}

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
            _check_token(head, self._plane.settings.control_token)
            await self._router(scope, receive, finish)
        except ClientDisconnectedError:
            pass
        except (Problem, DocumentError, HTTPException) as refusal:
            problem = _problem_of(refusal, head)
            answer = problem_response(problem, request_id, problem.retry_after)
            await finish({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            await finish({"type": "http.response.body", "body": answer.body})
        finally:
            scope["state"].clear()  # its head refers back to the scope


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


def _problem_of(refusal: Exception, head: Request) -> Problem:
    match refusal:
        case HTTPException(status_code=404):
            return Problem("not_found", f"{excerpt(head.path)}: there is no such path", check=Check.ROUTE)
        case HTTPException(headers=headers):
            return not_allowed(head.method, (headers or {})["Allow"].split(", "))
        case Problem() as problem:
            return problem
    return Problem("invalid_request", str(refusal))
