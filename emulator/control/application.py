"""The control plane as one ASGI application: the list of its routes, and the guard before them."""

from collections.abc import Mapping
from typing import Final

from starlette.routing import Route, Router

from emulator.contract import Contract
from emulator.control import PREFIX, about, clock, guard, journal, page, sandboxes, scenarios, state, teams
from emulator.control.calls import Action, ControlPlane, Endpoint, Reply, respond
from emulator.documents import shipped_path
from emulator.domain.problems import Check, Problem, excerpt
from emulator.http.requests import Body, Receive, Request, Scope, Send
from emulator.http.stopping import Stop
from emulator.scenario.library import ScenarioLibrary
from emulator.service.sandbox import SandboxOptions
from emulator.service.sandboxes import Sandboxes
from emulator.settings import Settings

PROCESS_ROUTES: Final[Mapping[str, Mapping[str, Action]]] = {
    "": {"GET": Action(page.show_page)},
    "/health": {"GET": Action(about.health)},
    "/contract": {"GET": Action(about.contract_as_json)},
    "/contract.json": {"GET": Action(about.contract_as_json)},
    "/contract.yaml": {"GET": Action(about.contract_as_yaml)},
    "/scenarios": {"GET": Action(scenarios.list_library)},
    "/sandboxes": {"GET": Action(sandboxes.list_sandboxes), "POST": Action(sandboxes.create_sandbox, "json")},
    "/sandboxes/{sandbox}": {
        "GET": Action(sandboxes.show_sandbox),
        "DELETE": Action(sandboxes.delete_sandbox),
    },
}
"""What concerns the whole process, by path and method."""

SANDBOX_ROUTES: Final[Mapping[str, Mapping[str, Action]]] = {
    "/reset": {"POST": Action(sandboxes.reset_sandbox, "empty")},
    "/clock": {"GET": Action(clock.show_clock), "PUT": Action(clock.set_clock, "json")},
    "/clock/advance": {"POST": Action(clock.advance_clock, "json")},
    "/teams": {"GET": Action(teams.list_teams), "POST": Action(teams.create_team, "json")},
    "/teams/{team}": {"PATCH": Action(teams.change_team, "json")},
    "/teams/{team}/credentials": {"POST": Action(teams.create_credential, "json")},
    "/credentials/{credential}": {"PATCH": Action(teams.change_credential, "json")},
    "/scenario": {
        "GET": Action(scenarios.show_scenario, query=("team",)),
        "PUT": Action(scenarios.put_scenario, "text", query=("team",)),
        "DELETE": Action(scenarios.delete_scenario, query=("team",)),
    },
    "/requests": {
        "GET": Action(journal.list_requests, query=journal.LIST_QUERY),
        "DELETE": Action(journal.clear_requests),
    },
    "/requests/counts": {"GET": Action(journal.count_requests)},
    "/requests/{request}": {"GET": Action(journal.show_request)},
    "/state": {"GET": Action(state.save_state), "PUT": Action(state.load_state, "file")},
}
"""What concerns one sandbox: each path acts on `default`, and below `/sandboxes/{sandbox}` on another."""


class Control:
    """The ASGI application of `/_emulator`."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        paths = {**PROCESS_ROUTES, **SANDBOX_ROUTES}
        paths.update({f"/sandboxes/{{sandbox}}{path}": actions for path, actions in SANDBOX_ROUTES.items()})
        self._router = Router(
            # Starlette only finds the path: a path of any method is one route, so that `Allow` is complete.
            [Route(PREFIX + path, Endpoint(plane, actions)) for path, actions in paths.items()],
            redirect_slashes=False,
            default=self._refuse_path,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, if it comes from where it may."""
        request = Request(scope, self._plane.settings.public_url)
        try:
            guard.check_origin(request)
            guard.check_token(request, self._plane.settings.control_token)
        except Problem as problem:
            await self._refuse(problem, request, receive, send)
        else:
            await self._router(scope, receive, send)

    async def _refuse_path(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, self._plane.settings.public_url)
        problem = Problem("not_found", f"{excerpt(request.path)}: there is no such path", check=Check.ROUTE)
        await self._refuse(problem, request, receive, send)

    async def _refuse(self, problem: Problem, request: Request, receive: Receive, send: Send) -> None:
        async def answer() -> Reply:
            raise problem

        body = Body(receive) if request.has_body() else None
        await respond(self._plane, request, send, body, answer)


def create_control(
    sandboxes: Sandboxes, contract: Contract, settings: Settings, options: SandboxOptions, stop: Stop
) -> Control:
    """Build the control plane. `options` are those of the process: how a sandbox begins that says nothing of its own."""
    facts = contract.facts()
    library = ScenarioLibrary(shipped_path("scenarios"), facts)
    plane = ControlPlane(sandboxes, contract, settings, options, library, facts, stop=stop)
    plane.created_with[sandboxes.default] = options
    return Control(plane)
