"""From a request of the control plane to its answer.

An endpoint reads a request by the operation of its route, calls the handler of the
operation, and renders what it returns. Between the read body and the answer nothing
waits, so an operation is carried out as a whole (only a move of the clock may let held
requests go on in between). Must not know what an operation does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from image_workflow_emulator.control.operations import (
    JSON,
    STATE_FILE,
    Operation,
    operations,
)
from image_workflow_emulator.control.plane import ControlPlane
from image_workflow_emulator.control.reading import (
    read_body,
    read_fields,
    read_parameters,
)
from image_workflow_emulator.control.refusals import refuse
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.http.bodies import Body, ClientDisconnectedError
from image_workflow_emulator.http.heads import HEAD, Head
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.store import Store

Item = TypeVar("Item")
_VALUES_AT_ONCE: Final = 10
"""How many values are described at a time."""


@dataclass(slots=True, eq=False)
class ControlCall:
    """A request for a handler, as far as it is read."""

    request: Request
    plane: ControlPlane
    sandbox: Sandbox
    store: Store
    """The sandbox's store when the call began: a reset gives the sandbox another."""
    now: int
    """The sandbox's time in milliseconds; the sandbox is settled up to it, unless the
    operation settles none."""
    parameters: Mapping[str, str]
    """The parameters of the path, by name."""
    query: Mapping[str, Any]
    """The parameters of the query by name, with the defaults of the contract."""
    body: bytes
    fields: Mapping[str, Any]
    """The content of a JSON body."""

    @property
    def origin(self) -> str:
        """How links in the answer start: the public address, else the client's."""
        head: Head = self.request.scope[HEAD]
        return head.origin

    def check_unchanged(self) -> None:
        """Check after a wait that the sandbox is still the same, and read its clock.

        Raises:
            Problem: invalid_request with status 409, if it was reset or deleted.
        """
        current = self.plane.sandboxes.by_id.get(self.sandbox.id)
        if current is not self.sandbox or self.sandbox.store is not self.store:
            detail = "the sandbox was reset while this request was being answered"
            raise Problem("invalid_request", detail, status=409)
        self.now = engine.enter(self.sandbox)


Handler: TypeAlias = Callable[[ControlCall], Any]
"""Returns (or promises) the answer: a value for JSON, None for no body, or a response
of another kind."""


class ControlRoute(Route):
    """A route whose handler gets a `ControlCall`, read by an operation of the contract.

    The operation is the one that the route is named after, unless another is handed in.
    `settles`: let the sandbox's time pass before the handler is called. Operations that
    concern the whole process settle no sandbox.
    """

    def __init__(
        self,
        path: str,
        handler: Handler,
        *,
        methods: list[str],
        name: str,
        operation: Operation | None = None,
        settles: bool = True,
    ) -> None:
        self.handler = handler
        self.operation = operation or operations()[name]
        settles = settles and not self.operation.concerns_process
        endpoint = Endpoint(handler, self.operation, settles=settles)
        super().__init__(path, endpoint, methods=methods, name=name)


class Endpoint:
    """An ASGI application that answers the requests for one operation."""

    def __init__(
        self,
        handler: Handler,
        operation: Operation,
        *,
        settles: bool,
    ) -> None:
        self._handler = handler
        self._operation = operation
        self._settles = settles

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request, receive)
        except ClientDisconnectedError:
            return
        except Exception as error:
            # Starlette would answer what nobody expected in a form of its own, and
            # raise it again.
            response = await refuse(request, error)
        await response(scope, receive, send)

    async def _answer(self, request: Request, receive: Receive) -> Response:
        plane: ControlPlane = request.app.plane
        lock: AbstractAsyncContextManager[object] = nullcontext()
        if STATE_FILE in self._operation.body_types:
            lock = plane.reading_state_file
        async with lock:
            call = await self._read(plane, request, receive)
            value = self._handler(call)
            if isinstance(value, Awaitable):
                value = await value
        return self._render(value)

    async def _read(
        self,
        plane: ControlPlane,
        request: Request,
        receive: Receive,
    ) -> ControlCall:
        """Read a request. Raises Problem, and ClientDisconnectedError."""
        head: Head = request.scope[HEAD]
        operation = self._operation
        max_memory = plane.settings.max_memory
        body = Body(receive, head.has_body())
        content = await read_body(operation, head, body, max_memory)
        query = read_parameters(operation, head.query_string)
        parameters = _path_parameters(request)
        sandbox = plane.find_sandbox(parameters.get("sandbox"))
        content_type = head.headers.get(b"content-type")
        fields = read_fields(operation, content, content_type)
        return ControlCall(
            request=request,
            plane=plane,
            sandbox=sandbox,
            store=sandbox.store,
            now=self._time_of(sandbox),
            parameters=parameters,
            query=query,
            body=content,
            fields=fields,
        )

    def _time_of(self, sandbox: Sandbox) -> int:
        """Return the sandbox's time, and settle it up to then if the operation does."""
        if self._settles:
            return engine.enter(sandbox)
        return sandbox.clock.now()

    def _render(self, value: Any) -> Response:
        if isinstance(value, Response):
            return value
        if value is None:
            return Response(status_code=self._operation.status)
        return json_response(value, self._operation.status)


def _path_parameters(request: Request) -> Mapping[str, str]:
    """Return the parameters of the path; a slash within one came as `%2F`."""
    return {
        name: value.replace("%2F", "/") for name, value in request.path_params.items()
    }


def json_response(
    value: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response that has a value as JSON."""
    return Response(msgspec.json.encode(value), status, headers, JSON)


async def in_slices(
    values: Iterable[Item],
    describe: Callable[[Item], Any],
) -> list[msgspec.Raw]:
    """Describe many values as JSON, a few at a time, between which other requests are
    served.
    """
    described: list[msgspec.Raw] = []
    for number, value in enumerate(values, start=1):
        encoded = msgspec.json.encode(describe(value))
        described.append(msgspec.Raw(encoded))
        if number % _VALUES_AT_ONCE == 0:
            await asyncio.sleep(0)
    return described
