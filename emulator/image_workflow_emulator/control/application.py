"""The control plane as one Starlette application: its routes, its token, and how a problem is answered."""

import hmac
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
from image_workflow_emulator.control.dispatch import Action, ControlPlane, endpoint, head_of
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http import requests
from image_workflow_emulator.http.problem_responses import not_allowed, problem_response
from image_workflow_emulator.http.requests import Body, ClientDisconnectedError
from image_workflow_emulator.kernel.wording import excerpt

_HEALTH: Final = f"{PREFIX}/health"
"""Answered without the control token, so that a wait for readiness does not need it."""
_FILTERS: Final = ("operation", "status", "code", "team", "idempotency_key", "since", "before")

PROCESS_ROUTES: Final[Mapping[str, Mapping[str, Action]]] = {
    "": {"GET": Action(page.show_page, query=("sandbox",))},
    "/reference": {"GET": Action(page.show_reference, query=("sandbox",))},
    "/page/{file}": {"GET": Action(page.show_file)},
    "/health": {"GET": Action(about.health, settles=False)},
    "/contract": {"GET": Action(about.contract_as_json)},
    "/contract.json": {"GET": Action(about.contract_as_json)},
    "/contract.yaml": {"GET": Action(about.contract_as_yaml)},
    "/scenario.schema.json": {"GET": Action(about.show_schema)},
    "/world.schema.json": {"GET": Action(about.show_schema)},
    "/docs": {"GET": Action(about.show_documentation)},
    "/docs/{path}": {"GET": Action(about.show_documentation)},
    "/llms.txt": {"GET": Action(about.llms_text)},
    "/scenarios": {"GET": Action(scenarios.list_library)},
    "/scenarios/{scenario}": {"GET": Action(scenarios.show_library_scenario)},
    "/sandboxes": {
        "GET": Action(sandboxes.list_sandboxes),
        "POST": Action(sandboxes.create_sandbox, "optional", ("file",)),
    },
    "/sandboxes/{sandbox}": {
        "GET": Action(sandboxes.show_sandbox),
        "DELETE": Action(sandboxes.delete_sandbox),
    },
}
"""What concerns the whole process, by path and method."""

SANDBOX_ROUTES: Final[Mapping[str, Mapping[str, Action]]] = {
    "/readings": {"GET": Action(about.list_readings)},
    "/reset": {"POST": Action(sandboxes.reset_sandbox, "optional", settles=False)},
    "/clock": {"GET": Action(clock.show_clock), "PUT": Action(clock.set_clock, "json")},
    "/clock/advance": {"POST": Action(clock.advance_clock, "json")},
    "/teams": {"GET": Action(teams.list_teams), "POST": Action(teams.create_team, "json")},
    "/teams/{team}": {"PATCH": Action(teams.change_team, "json")},
    "/teams/{team}/credentials": {"POST": Action(teams.create_credential, "json")},
    "/credentials/{credential}": {"PATCH": Action(teams.change_credential, "json")},
    "/scenario": {
        "GET": Action(scenarios.show_scenario, query=("team",)),
        "PUT": Action(scenarios.put_scenario, "text", query=("team", "file")),
        "DELETE": Action(scenarios.delete_scenario, query=("team",)),
    },
    "/scenario/check": {"POST": Action(scenarios.check_scenario, "text", query=("file",))},
    "/requests": {
        "GET": Action(journal.list_requests, query=(*_FILTERS, "limit")),
        "DELETE": Action(journal.clear_requests),
    },
    "/requests/{request}": {"GET": Action(journal.show_request)},
    "/coverage": {"GET": Action(journal.show_coverage)},
    "/conduct": {"GET": Action(journal.show_conduct, query=("ended",))},
    "/events": {"GET": Action(events.stream_events)},
    "/admission": {"GET": Action(scenarios.show_admission), "PUT": Action(scenarios.set_admission, "json")},
    "/work": {"GET": Action(work.list_work, query=("limit",))},
    "/assets": {
        "GET": Action(work.list_assets, query=("limit",)),
        "POST": Action(work.create_asset, "image", query=("team",)),
    },
    "/pictures/{picture}": {"GET": Action(work.show_picture)},
    "/given": {"POST": Action(given.give, "text", query=given.QUERY)},
    "/state": {"GET": Action(sandboxes.save_state), "PUT": Action(sandboxes.load_state, "file", settles=False)},
}
"""What concerns one sandbox: each path acts on `default`, and below `/sandboxes/{sandbox}` on another."""


def create_control(plane: ControlPlane) -> ASGIApp:
    """Build the control plane."""
    paths = {**PROCESS_ROUTES, **SANDBOX_ROUTES}
    paths.update({f"/sandboxes/{{sandbox}}{path}": actions for path, actions in SANDBOX_ROUTES.items()})
    control = Starlette(
        routes=[
            # The path of a page has folders.
            Route(PREFIX + path.replace("{path}", "{path:path}"), endpoint(plane, actions), methods=[*actions])
            for path, actions in paths.items()
        ],
        middleware=[Middleware(ControlMiddleware, plane)],
        exception_handlers={Problem: _refuse, DocumentError: _refuse_document, HTTPException: _refuse_route},
    )
    control.router.redirect_slashes = False
    return control


class ControlMiddleware:
    """Stands before every route: gives the request an id, checks access, and completes the answer."""

    def __init__(self, app: ASGIApp, plane: ControlPlane) -> None:
        self._app = app
        self._plane = plane

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        settings = self._plane.settings
        head = requests.Request(scope, settings.public_url)
        body = Body(receive) if head.has_body() else None
        scope["path"] = head.path  # in which a slash within a step is not one between two
        scope["state"] = {
            "head": head,
            "body": body,
            "request_id": self._plane.identifiers.next(REQUEST_ID_KIND),
        }

        async def finish(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], head.embedding]
            else:
                if head.method == "HEAD":
                    message["body"] = b""
                if body is not None and body.has_more and not message.get("more_body"):
                    await send({**message, "more_body": True})
                    await body.drain()
                    message["body"] = b""
            await send(message)

        try:
            _check_token(head, settings.control_token)
            with suppress(ClientDisconnectedError):  # the client has gone
                await self._app(scope, receive, finish)
        except Problem as problem:
            answer = await _refuse(Request(scope), problem)
            await answer(scope, receive, finish)
        finally:
            scope["state"].clear()  # its head refers back to the scope


def _check_token(head: requests.Request, token: str | None) -> None:
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


async def _refuse(request: Request, problem: Exception) -> Response:
    """Answer with a problem, in the form of the service's."""
    assert isinstance(problem, Problem)
    rendered = problem_response(problem, request.state.request_id, problem.retry_after)
    response = Response(rendered.body, rendered.status)
    response.raw_headers = list(rendered.headers)
    return response


async def _refuse_document(request: Request, error: Exception) -> Response:
    """Answer a part of a request that a reader of documents complains of."""
    return await _refuse(request, Problem("invalid_request", str(error)))


async def _refuse_route(request: Request, refusal: Exception) -> Response:
    """Answer an unknown path, or a method that its path does not take."""
    assert isinstance(refusal, HTTPException)
    if refusal.status_code == 404:
        detail = f"{excerpt(head_of(request).path)}: there is no such path"
        return await _refuse(request, Problem("not_found", detail, check=Check.ROUTE))
    allowed = (refusal.headers or {}).get("Allow", "").split(", ")
    return await _refuse(request, not_allowed(request.method, allowed))
