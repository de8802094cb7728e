"""The surface `/v1`: which operation a method and path mean (D06), who calls it, and how its result is answered."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.domain.pagination import Page
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.resources import Asset, Operation, Product
from image_workflow_emulator.http.answers import Answer, method_not_allowed
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.checks import build_steps
from image_workflow_emulator.web.exchange import Destination, Exchange, Route, Step
from image_workflow_emulator.web.fault_actions import fault_headers
from image_workflow_emulator.web.operations import OPERATIONS, PREPARATIONS, Poll
from image_workflow_emulator.web.rendering import Links, json_response

_COLLECTIONS: Mapping[type, str] = {
    Asset: "assets",
    Product: "products",
    Operation: "operations",
}
"""The resources whose creation is answered with a Location (D38)."""


class RoutingError(RuntimeError):
    """The contract and the code name different operations: a defect, found when the server starts."""


class V1:
    """The operations of the contract, and every path that is none of the emulator's: always 404."""

    def __init__(self, contract: Contract, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes
        self._routes = build_routes(contract)
        refuse = self._refuse_unrouted
        self._unrouted = Route(
            commit=refuse, render=_render, entrance=(Step(Check.ROUTE, refuse),)
        )

    def find(self, request: Head) -> Destination:
        """Find the caller, the operation, and the id in the path (D06). Unknown paths get a route that refuses."""
        caller = self._sandboxes.find_caller(request.bearer_key())
        methods, resource_id = self._find_path(request.path)
        route = methods.get(request.method, self._unrouted)
        return Destination(
            None if caller is None else caller.sandbox, caller, route, resource_id
        )

    def _find_path(self, path: str) -> tuple[Mapping[str, Route], str]:
        """Return the routes of a path by method, and the id in it; no routes if there is no such path."""
        methods, steps = (
            self._routes.get(path),
            path.split("/"),
        )  # "", "v1", collection, id, act
        if methods is None and len(steps) in (4, 5) and steps[3]:
            resource_id, steps[3] = steps[3], "{}"
            return self._routes.get("/".join(steps), {}), resource_id
        return methods or {}, ""

    def _refuse_unrouted(self, exchange: Exchange, _found: object = None) -> NoReturn:
        """404 or 405: no operation has this path, or this method of it (D06)."""
        path = exchange.head.path
        methods, _ = self._find_path(path)
        if methods:
            raise method_not_allowed(exchange.head.method, sorted(methods))
        found = f"{excerpt(path)}: there is no such path"
        remedy = "use a path of the contract, which GET /_emulator/contract shows"
        if not path.startswith(BASE_PATH + "/"):
            found = f"{found}; the API is under {BASE_PATH}"
            remedy = (
                f"put {BASE_PATH} before the path, or use one that the contract has"
            )
        elif path.rstrip("/") in self._routes:
            remedy = "remove the slash at the end of the path"
        raise Problem("not_found", found, check=Check.ROUTE, remedy=remedy)


def build_routes(contract: Contract) -> Mapping[str, Mapping[str, Route]]:
    """Return the routes by path (an id in it written `{}`) and method.

    Raises:
        RoutingError: the contract and the code do not name the same operations.
    """
    differing = contract.operations.keys() ^ OPERATIONS.keys()
    if differing:
        raise RoutingError(
            f"only one of the contract and the code has: {', '.join(sorted(differing))}"
        )
    routes: dict[str, dict[str, Route]] = {}
    for operation in contract.operations.values():
        steps = [
            "{}" if step.startswith("{") else step for step in operation.path.split("/")
        ]
        routes.setdefault(BASE_PATH + "/".join(steps), {})[operation.method] = (
            _build_route(contract, operation)
        )
    return routes


def _build_route(contract: Contract, operation: OperationContract) -> Route:
    handler = OPERATIONS[operation.id]
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
        own=handler.checks,
        commit=lambda exchange, found: handler.commit(exchange.call, found),
        render=_render,
    )


async def _render(exchange: Exchange, result: Any) -> Answer:
    """Answer with a resource, a page of them, or nothing."""
    resource, retry_after = (
        (result.work, result.retry_after)
        if isinstance(result, Poll)
        else (result, None)
    )
    items: Sequence[Any] = resource.items if isinstance(resource, Page) else (resource,)
    images = exchange.sandbox.images
    assets = (
        [item.id for item in items] if items and isinstance(items[0], Asset) else []
    )
    if not (assets and images.undeveloped(assets)):
        return _respond(exchange, resource, retry_after)
    with images.held(assets):  # their sizes are shown
        await exchange.pictures.develop(images, assets)
        exchange.refresh()
        return _respond(exchange, resource, retry_after)


def _respond(exchange: Exchange, resource: Any, retry_after: int | None) -> Answer:
    links, route = Links(exchange.sandbox, exchange.head), exchange.route
    headers = fault_headers(exchange, is_refusal=False)
    is_accepted = isinstance(resource, Operation) and not route.is_read
    status = 202 if is_accepted else route.success
    if status in (201, 202) and type(resource) in _COLLECTIONS:
        location = links.resource(f"/{_COLLECTIONS[type(resource)]}/{resource.id}")
        headers = (*headers, (b"location", location.encode("latin-1")))
    if retry_after is not None:
        headers = (*headers, (b"retry-after", b"%d" % retry_after))
    return json_response(status, resource, exchange.request_id, links, headers)
