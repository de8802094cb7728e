"""The surface of paths that belong to no other: always 404, in the journal of the sandbox that the key belongs to."""

from emulator.contract import BASE_PATH
from emulator.domain.problems import Check, Problem
from emulator.http.requests import Request
from emulator.kernel.wording import excerpt
from emulator.service.callers import Caller
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web.exchange import Exchange, Route, unrouted


class UnroutedPaths:
    """Everything else."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes
        self._route = unrouted(_refuse)

    def find_home(self, request: Request) -> tuple[Sandbox | None, Caller | None]:
        """Find the sandbox by the key, if there is one."""
        caller = self._sandboxes.find_caller(request.bearer_key())
        return (None, None) if caller is None else (caller.sandbox, caller)

    def find_route(self, request: Request) -> tuple[Route, str]:
        """Return the route that refuses."""
        return self._route, ""

    def enter(self, exchange: Exchange) -> None:
        """Nothing is looked at."""


def _refuse(exchange: Exchange) -> None:
    raise Problem(
        "not_found",
        f"{excerpt(exchange.request.path)}: there is no such path; the API is under {BASE_PATH}",
        check=Check.ROUTE,
        remedy=f"put {BASE_PATH} before the path, or use one that the contract has",
    )
