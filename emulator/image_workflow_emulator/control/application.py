"""The control plane as a Starlette application.

Puts its routes together with what every request passes: its id and headers, the
control token, and the form of refusals.
"""

from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route, Router
from starlette.types import Scope

from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.middleware import ControlToken, OwnAnswers
from image_workflow_emulator.control.plane import ControlPlane
from image_workflow_emulator.control.refusals import refuse
from image_workflow_emulator.control.routes import PAGE, ROUTES
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.answers import method_not_allowed
from image_workflow_emulator.http.heads import HEAD, Head
from image_workflow_emulator.kernel.wording import excerpt


class Control(Starlette):
    """Every path from `/_emulator` on."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        # The exceptions of middleware around the routes reach the handlers below; those
        # of the application's own middleware would not.
        token = Middleware(ControlToken, token=plane.settings.control_token)
        own_answers = Middleware(OwnAnswers, identifiers=plane.identifiers)
        rows = Router(ROUTES, redirect_slashes=False)
        below = Mount(PREFIX, rows, middleware=[token])
        super().__init__(
            routes=[PAGE, below],
            middleware=[own_answers],
            exception_handlers={HTTPException: _refuse_route, Problem: refuse},
        )
        self.router.redirect_slashes = False


async def _refuse_route(request: Request, error: Exception) -> Response:
    """Answer where no route takes the request: 404, or 405 with the methods allowed."""
    head: Head = request.scope[HEAD]
    # Without the path that the mounts on the way here have taken from it.
    scope = {**request.scope, "root_path": ""}
    allowed = _allowed_methods(request.app.routes, scope)
    if allowed:
        return await refuse(request, method_not_allowed(head.method, allowed))
    detail = f"{excerpt(head.path)}: there is no such path"
    return await refuse(request, Problem("not_found", detail, check=Check.ROUTE))


def _allowed_methods(routes: Iterable[BaseRoute], scope: Scope) -> set[str]:
    """Return the methods of all routes of a path: each of them has a route of its own.

    Starlette names those of one route alone.
    """
    allowed: set[str] = set()
    for route in routes:
        match, child_scope = route.matches(scope)
        if match is Match.NONE:
            continue
        if isinstance(route, Mount):
            inner_scope = {**scope, **child_scope}
            allowed |= _allowed_methods(route.routes, inner_scope)
        elif isinstance(route, Route) and route.methods is not None:
            allowed |= route.methods
    return allowed
