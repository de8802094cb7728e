"""The surface `/v1`: which operation a method and path mean (D06), who calls it, and how its reply is rendered."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.http.problem_responses import not_allowed
from image_workflow_emulator.http.requests import Request
from image_workflow_emulator.http.responses import Response
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.calls import Call, Caller
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.checks import build_steps
from image_workflow_emulator.web.exchange import Exchange, Route, Step
from image_workflow_emulator.web.links import Links
from image_workflow_emulator.web.operations import OPERATIONS, PREPARATIONS, Reply
from image_workflow_emulator.web.rendering import json_response


class RoutingError(RuntimeError):
    """The contract and the code name different operations: a defect, found when the server starts."""


class V1:
    """The operations of the contract, and every path that is none of the emulator's: always 404."""

    def __init__(self, contract: Contract, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes
        self._routes = build_routes(contract)
        refuse = self._refuse_unrouted
        self._unrouted = Route(commit=refuse, render=_render_nothing, entrance=(Step(Check.ROUTE, refuse),))

    def find_home(self, request: Request) -> tuple[Sandbox | None, Caller | None]:
        """Find the sandbox by the key."""
        caller = self._sandboxes.find_caller(request.bearer_key())
        return (None, None) if caller is None else (caller.sandbox, caller)

    def find_route(self, request: Request) -> tuple[Route, str]:
        """Return the operation of a method and path, and the id in the path (D06)."""
        methods, resource_id = self._find_path(request.path)
        return methods.get(request.method, self._unrouted), resource_id

    def enter(self, exchange: Exchange) -> None:
        """Find the caller as it is now, and settle the sandbox. Raises Problem authentication_required."""
        if exchange.route is self._unrouted:
            return
        caller = exchange.caller
        if caller is None or not self._sandboxes.is_current(caller):
            _, caller = self.find_home(exchange.request)
        exchange.enter(caller)
        if caller is None:
            raise Problem(
                "authentication_required",
                "Authorization: found no valid key; expected `Bearer` and an API key of this emulator",
                remedy=_remedy_for_key(exchange.request),
            )

    def _find_path(self, path: str) -> tuple[Mapping[str, Route], str]:
        """Return the routes of a path by method, and the id in it; no routes if there is no such path."""
        methods = self._routes.get(path)
        if methods is not None:
            return methods, ""
        collection, _, last_step = path.rpartition("/")
        methods = self._routes.get(f"{collection}/{{}}") if last_step else None
        if methods is not None:
            return methods, last_step
        steps = path.split("/")  # "", "v1", collection, id, act
        if len(steps) != 5 or not steps[3]:
            return {}, ""
        resource_id, steps[3] = steps[3], "{}"
        return self._routes.get("/".join(steps), {}), resource_id

    def _refuse_unrouted(self, exchange: Exchange) -> NoReturn:
        """404 or 405: no operation has this path, or this method of it (D06)."""
        path = exchange.request.path
        methods, _ = self._find_path(path)
        if methods:
            raise not_allowed(exchange.request.method, sorted(methods))
        found, remedy = (
            f"{excerpt(path)}: there is no such path",
            "use a path of the contract, which GET /_emulator/contract shows",
        )
        if not path.startswith(BASE_PATH + "/"):
            found = f"{found}; the API is under {BASE_PATH}"
            remedy = f"put {BASE_PATH} before the path, or use one that the contract has"
        elif path.rstrip("/") in self._routes:
            remedy = "remove the slash at the end of the path"
        raise Problem("not_found", found, check=Check.ROUTE, remedy=remedy)


async def _render_nothing(exchange: Exchange, result: object) -> NoReturn:
    raise AssertionError("what has no route is refused")


def _remedy_for_key(request: Request) -> str:
    if b"authorization" not in request.headers:
        return "send the header Authorization with `Bearer` and an API key"
    if b"authorization" in request.repeated:
        return "send the header Authorization once"
    if request.bearer_key() is None:
        return "write `Bearer` and a space before the API key"
    return "use an API key of this emulator, which GET /_emulator/teams lists"


def build_routes(contract: Contract) -> Mapping[str, Mapping[str, Route]]:
    """Return the routes by path (an id in it written `{}`) and method.

    Raises:
        RoutingError: the contract and the code do not name the same operations.
    """
    differing = contract.operations.keys() ^ OPERATIONS.keys()
    if differing:
        raise RoutingError(f"only one of the contract and the code has: {', '.join(sorted(differing))}")
    routes: dict[str, dict[str, Route]] = {}
    for operation in contract.operations.values():
        steps = ["{}" if step.startswith("{") else step for step in operation.path.split("/")]
        routes.setdefault(BASE_PATH + "/".join(steps), {})[operation.method] = _build_route(contract, operation)
    return routes


def _build_route(contract: Contract, operation: OperationContract) -> Route:
    row = OPERATIONS[operation.id]
    entrance, before, after = build_steps(contract, operation)
    return Route(
        operation=operation.id,
        is_read=not operation.is_write,
        success=operation.success,
        codes=operation.all_codes,
        entrance=entrance,
        before_admission=before,
        prepare=PREPARATIONS.get(operation.id),
        after_admission=after,
        own=tuple(_own_step(*check) for check in row.handler.checks),
        commit=lambda exchange: row.handler.commit(exchange.call, exchange.call.found),
        render=_renderer(row.reply),
    )


def _own_step(check: Check, run: Callable[[Call, Any], Any]) -> Step:
    def step(exchange: Exchange) -> None:
        call = exchange.call
        call.found = run(call, call.found)

    return Step(check, step)


def _renderer(reply_of: Callable[[object], Reply]) -> Callable[[Exchange, object], Awaitable[Response]]:
    async def render(exchange: Exchange, result: object) -> Response:
        reply, images = reply_of(result), exchange.sandbox.images
        exchange.record.work_id, exchange.record.work_rule = exchange.call.work_id, exchange.call.work_rule
        keys = reply.asset_ids()
        if not keys or not images.undeveloped(keys):
            return _render(exchange, reply)
        images.hold(keys)
        try:
            await exchange.pictures.develop(images, keys)
            exchange.refresh()
            return _render(exchange, reply)
        finally:
            images.release(keys)

    return render


def _render(exchange: Exchange, reply: Reply) -> Response:
    links = Links(exchange.sandbox, exchange.request)
    headers = exchange.fault.headers(exchange, is_refusal=False)
    if reply.location is not None:
        headers = (*headers, (b"location", links.resource(reply.location).encode("latin-1")))
    if reply.retry_after is not None:
        headers = (*headers, (b"retry-after", b"%d" % reply.retry_after))
    return json_response(reply.status, reply.resource, exchange.request_id, links, headers)
