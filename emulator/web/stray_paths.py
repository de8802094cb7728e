"""The surface of paths that belong to no other: always 404, in the journal of the sandbox that the key belongs to."""

from typing import NoReturn

from emulator.contract import BASE_PATH
from emulator.domain.problems import Check, Problem
from emulator.http.requests import Request
from emulator.kernel.wording import excerpt
from emulator.service.callers import Caller
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web.exchange import Exchange


class StrayPaths:
    """Everything else."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes

    def find_home(self, request: Request) -> tuple[Sandbox | None, Caller | None]:
        """Find the sandbox by the key, if there is one."""
        caller = self._sandboxes.find_caller(request.bearer_key())
        return (None, None) if caller is None else (caller.sandbox, caller)

    def find_route(self, exchange: Exchange) -> NoReturn:
        """Raise Problem not_found."""
        raise Problem(
            "not_found",
            f"{excerpt(exchange.request.path)}: there is no such path; the API is under {BASE_PATH}",
            check=Check.ROUTE,
            remedy=f"put {BASE_PATH} before the path, or use one that the contract has",
        )

    def find_caller(self, exchange: Exchange) -> None:
        """Nothing gets this far."""
