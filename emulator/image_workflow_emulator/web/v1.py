"""The surface `/v1`: which operation a method and path mean (D06), who calls it, and how
its result is answered.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from image_workflow_emulator.contract import BASE_PATH, Contract, OperationContract
from image_workflow_emulator.domain.pagination import Page
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.resources import Asset, Operation, Product
from image_workflow_emulator.http.answers import Answer, Header, method_not_allowed
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.checks import build_steps
from image_workflow_emulator.web.exchange import Destination, Exchange, Route, Step
from image_workflow_emulator.web.fault_actions import fault_headers
from image_workflow_emulator.web.links import Links
from image_workflow_emulator.web.operations import OPERATIONS, Poll
from image_workflow_emulator.web.preparations import PREPARATIONS
from image_workflow_emulator.web.rendering import json_answer

_COLLECTIONS: Final[Mapping[type, str]] = {
    Asset: "assets",
    Product: "products",
    Operation: "operations",
}
"""The resources whose creation is answered with a Location (D38)."""
Methods: TypeAlias = Mapping[str, Route]
"""The routes of one path, by method."""
_NO_METHODS: Final[Methods] = {}


class RoutingError(RuntimeError):
    """The contract and the code name different operations: a defect, found when the
    server starts.
    """


class V1:
    """The operations of the contract, and every path that is none of the emulator's:
    always 404.
    """

    def __init__(self, contract: Contract, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes
        self._routes = build_routes(contract)
        self._unrouted = Route(
            commit=self._refuse,
            render=_render,
            entrance=(Step(Check.ROUTE, self._refuse),),
        )

    def find(self, head: Head) -> Destination:
        """Find the caller, the operation, and the id in the path (D06).

        Unknown paths get a route that refuses.
        """
        caller = self._sandboxes.find_caller(head.bearer_key())
        home = None
        if caller is not None:
            home = caller.sandbox
        methods, resource_id = self._find_path(head.path)
        route = methods.get(head.method, self._unrouted)
        return Destination(home, caller, route, resource_id)

    def _find_path(self, path: str) -> tuple[Methods, str]:
        """Return the routes of a path by method, and the id in it; no routes if there is
        no such path.
        """
        methods = self._routes.get(path)
        if methods is not None:
            return methods, ""
        steps = path.split("/")  # "", "v1", collection, id, act
        if len(steps) in (4, 5) and steps[3]:
            resource_id = steps[3]
            steps[3] = "{}"
            template = "/".join(steps)
            return self._routes.get(template, _NO_METHODS), resource_id
        return _NO_METHODS, ""

    def _refuse(self, exchange: Exchange, _checked: object = None) -> NoReturn:
        """404 or 405: no operation has this path, or this method of it (D06)."""
        path = exchange.head.path
        methods, _ = self._find_path(path)
        if methods:
            raise method_not_allowed(exchange.head.method, sorted(methods))
        detail = f"{excerpt(path)}: there is no such path"
        remedy = "use a path of the contract, which GET /_emulator/contract shows"
        if not path.startswith(f"{BASE_PATH}/"):
            detail = f"{detail}; the API is under {BASE_PATH}"
            remedy = f"put {BASE_PATH} before the path, or use one of the contract"
        elif path.rstrip("/") in self._routes:
            remedy = "remove the slash at the end of the path"
        raise Problem("not_found", detail, check=Check.ROUTE, remedy=remedy)


def build_routes(contract: Contract) -> Mapping[str, Methods]:
    """Return the routes by path, an id in it written `{}`.

    Raises:
        RoutingError: the contract and the code do not name the same operations.
    """
    differing = contract.operations.keys() ^ OPERATIONS.keys()
    if differing:
        names = ", ".join(sorted(differing))
        raise RoutingError(f"only one of the contract and the code has: {names}")
    routes: dict[str, dict[str, Route]] = {}
    for operation in contract.operations.values():
        methods = routes.setdefault(_path_of(operation), {})
        methods[operation.method] = _build_route(contract, operation)
    return routes


def _path_of(operation: OperationContract) -> str:
    steps = operation.path.split("/")
    for index, step in enumerate(steps):
        if step.startswith("{"):
            steps[index] = "{}"
    return BASE_PATH + "/".join(steps)


def _build_route(contract: Contract, operation: OperationContract) -> Route:
    handler = OPERATIONS[operation.id]
    entrance, before_admission, after_admission = build_steps(contract, operation)
    return Route(
        operation=operation.id,
        is_read=not operation.is_write,
        success=operation.success,
        codes=operation.all_codes,
        entrance=entrance,
        before_admission=before_admission,
        prepare=PREPARATIONS.get(operation.id),
        after_admission=after_admission,
        own=handler.checks,
        commit=lambda exchange, checked: handler.commit(exchange.call, checked),
        render=_render,
    )


async def _render(exchange: Exchange, result: Any) -> Answer:
    """Answer with a resource, a page of them, or nothing."""
    asset_ids = _asset_ids(result)
    images = exchange.sandbox.images
    if not (asset_ids and images.undeveloped(asset_ids)):
        return _answer(exchange, result)
    with images.held(asset_ids):  # their sizes are shown
        await exchange.pictures.develop(images, asset_ids)
        exchange.refresh()
        return _answer(exchange, result)


def _asset_ids(result: Any) -> list[str]:
    """Return the ids of the Assets that a result shows."""
    items: Sequence[Any] = (result,)
    if isinstance(result, Page):
        items = result.items
    return [item.id for item in items if isinstance(item, Asset)]


def _answer(exchange: Exchange, result: Any) -> Answer:
    links = Links(exchange.sandbox, exchange.head)
    route = exchange.route
    resource = result
    headers: list[Header] = [*fault_headers(exchange, is_refusal=False)]
    if isinstance(result, Poll):
        resource = result.work
        if result.retry_after is not None:
            headers.append((b"retry-after", b"%d" % result.retry_after))
    status = route.success
    if isinstance(resource, Operation) and not route.is_read:
        status = 202
    collection = _COLLECTIONS.get(type(resource))
    if status in (201, 202) and collection is not None:
        location = links.resource(f"/{collection}/{resource.id}")
        headers.append((b"location", location.encode("latin-1")))
    request_id = exchange.request_id
    return json_answer(status, resource, request_id, links, tuple(headers))
