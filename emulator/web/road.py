"""The road of a request under `/v1`: one ordered list of checks (D01), then the handler, then the answer.

The order of the checks is the order of the errors. Up to the read body nothing is looked at that can change; from there
to the answer nothing waits, so an admission is atomic without a lock. The one exception is a wait *in* admission (image
work, a held admission): the key is marked as in progress, and everything after the wait is looked at afresh.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from emulator.contract import Contract, OperationContract, MISSING
from emulator.domain.idempotency import Record, Scope as KeyScope
from emulator.domain.intents import fingerprint, intent_of
from emulator.domain.problems import KEY_BINDING_CODES, Check, Problem, excerpt
from emulator.http.requests import (
    ClientDisconnectedError,
    Receive,
    Request,
    Scope,
    Send,
    check_no_body,
    parse_json,
    read_body,
)
from emulator.http.responses import Response, problem_response
from emulator.kernel.timestamps import SECOND_MS
from emulator.service import engine
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web.links import Links
from emulator.web.operations import HANDLERS, PREPARATIONS, Call, Handler, Preparation, Reply
from emulator.web.pictures import PictureWorker
from emulator.web.rendering import json_response
from emulator.web.requests import parse_query

_LOGGER = logging.getLogger("emulator.web")
PREFIX = "/v1"


class RoutingError(RuntimeError):
    """Contract and handlers name different operations: a defect, found when the server starts."""


@dataclass(slots=True)
class Passage:
    """A request on its way: what the checks have found out so far."""

    request: Request
    route: "Route"
    resource_id: str
    request_id: str
    body: bytes | None
    call: Call
    key_scope: KeyScope | None = None
    fingerprint: bytes = b""


Step = Callable[["Road", Passage], Response | None]


@dataclass(frozen=True, slots=True)
class Route:
    """An operation, its handler, and the checks that its requests pass before and after the wait."""

    operation: OperationContract
    handler: Handler
    preparation: Preparation | None
    before_wait: tuple[Step, ...]
    after_wait: tuple[Step, ...]


# The checks, in the order of D01. A check raises a Problem, or returns the stored answer of a replay. -------------------


def check_credential(road: "Road", passage: Passage) -> None:
    """401: the credential is known, not revoked, not expired (section 5, rule 5)."""
    passage.call.caller.check_credential(passage.call.now)


def check_rate(road: "Road", passage: Passage) -> None:
    """429: the credential and its Team have not sent too many requests (section 8, D41)."""
    if passage.call.caller.sandbox.rate_limits:
        passage.call.caller.check_rate(passage.call.now)


def check_profile(road: "Road", passage: Passage) -> None:
    """403: a write needs a full credential (section 5, rule 2)."""
    passage.call.caller.check_profile()


def check_shape(road: "Road", passage: Passage) -> None:
    """400: query, Idempotency-Key and JSON are well-formed (D02, D03, D44)."""
    operation, request, call = passage.route.operation, passage.request, passage.call
    if request.query_string:
        call.query = parse_query(request.query_string, operation.query)
    if operation.is_idempotent:
        passage.key_scope = KeyScope(
            call.caller.credential.id, operation.method, request.path, request.idempotency_key()
        )
    if operation.body is None:
        check_no_body(passage.body)
    else:
        call.intent = parse_json(passage.body, request.headers.get(b"content-type"))


def check_body(road: "Road", passage: Passage) -> None:
    """422: the body is what the contract says, and its fields agree with each other (D03 to D05, D14)."""
    name, body = passage.route.operation.body, passage.call.intent
    assert name is not None
    violations = road.contract.violations(name, body)
    if violations:
        first = violations[0]
        found = "nothing" if first.found is MISSING else excerpt(first.found)
        more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
        where = first.where or "(body)"
        raise Problem("invalid_input", f"{where}: found {found}; expected {first.expected}{more}")
    passage.call.intent = intent_of(name, body)
    passage.fingerprint = fingerprint(name, passage.call.intent)


def check_idempotency(road: "Road", passage: Passage) -> Response | None:
    """Replay, 409 or 422: what the key is bound to already (section 4, D10 to D14)."""
    scope = passage.key_scope
    assert scope is not None
    records = passage.call.caller.sandbox.idempotency
    if records.is_held(scope):
        raise Problem("idempotency_in_progress", "Idempotency-Key: a request with this key is being admitted")
    record = records.find(scope, passage.call.now)
    if record is None:
        return None
    if record.fingerprint != passage.fingerprint:
        raise Problem("idempotency_key_reused", "Idempotency-Key: found a different intent than this key was used for")
    return Response(record.status, record.headers, record.body)


def check_pause(road: "Road", passage: Passage) -> None:
    """503: new writes are let in (section 7)."""
    pause = passage.call.caller.sandbox.pause
    if pause.paused:
        raise Problem("service_unavailable", "new writes are paused; expected to be retried", retry_after=pause.retry_after)


def check_subscription(road: "Road", passage: Passage) -> None:
    """403: creative writes need an active Subscription (section 5, rule 4; D20)."""
    passage.call.caller.check_subscription()


def checks_of(operation: OperationContract) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the checks of an operation before and after the wait in admission: the one list of the order of D01.

    What follows them (the path's resource, its state, references, rules, budget, Credits) is checked by the handler, in
    the files of the service room, in the same order.
    """
    is_write = operation.method != "GET"
    before: list[tuple[bool, Step]] = [
        (True, check_credential),
        (True, check_rate),
        (is_write, check_profile),
        (True, check_shape),
        (operation.body is not None, check_body),
        (operation.is_idempotent, check_idempotency),
    ]
    after: list[tuple[bool, Step]] = [
        (is_write, check_pause),
        (operation.is_idempotent, check_subscription),
    ]
    return tuple(step for applies, step in before if applies), tuple(step for applies, step in after if applies)


class Road:
    """The ASGI application of `/v1`."""

    def __init__(self, contract: Contract, sandboxes: Sandboxes, pictures: PictureWorker, public_url: str | None) -> None:
        self.contract = contract
        self.sandboxes = sandboxes
        self.pictures = pictures
        self.public_url = public_url
        self._routes = build_routes(contract)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, self.public_url)
        try:
            response = await self._answer(request, receive)
        except ClientDisconnectedError:
            return
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        await send({"type": "http.response.body", "body": response.body})

    async def _answer(self, request: Request, receive: Receive) -> Response:
        key = request.bearer_key()
        caller = self.sandboxes.find_caller(key) if key else None
        sandbox = caller.sandbox if caller else self.sandboxes.default
        request_id = sandbox.identifiers.next("req")
        try:
            route, resource_id = self._find_route(request)
            body = await read_body(receive) if request.has_body() else b""
            now = engine.enter(sandbox)
            if caller is None:
                raise Problem(
                    "authentication_required",
                    "Authorization: found no valid key; expected `Bearer` and an API key of this emulator",
                )
            call = Call(caller, now, resource_id)
            passage = Passage(request, route, resource_id, request_id, body, call)
            for check in route.before_wait:
                stored = check(self, passage)
                if stored is not None:
                    return stored
            return await self._admit(passage)
        except Problem as problem:
            return self._refuse(problem, request_id, sandbox)
        except ClientDisconnectedError:
            raise
        except Exception:
            _LOGGER.exception("%s %s failed (%s)", request.method, request.path, request_id)
            return problem_response(
                Problem("internal_error", "the emulator failed; its log has the cause"), request_id, None
            )

    async def _admit(self, passage: Passage) -> Response:
        """Wait if the admission needs it, then do what was asked, and bind the answer to the key."""
        route, call = passage.route, passage.call
        sandbox, images = call.caller.sandbox, call.caller.sandbox.images
        if route.preparation is not None:
            await self._wait(passage, route.preparation)
        try:
            for check in route.after_wait:
                check(self, passage)
            reply = route.handler(call)
        except Problem as problem:
            if passage.key_scope is None or problem.code not in KEY_BINDING_CODES:
                raise
            return self._bind(passage, self._refuse(problem, passage.request_id, sandbox))
        keys = reply.assets()
        if not keys or not images.undeveloped(keys):
            return self._bind(passage, self._render(passage, reply))
        images.hold(keys)
        try:
            await self.pictures.develop(images, keys)
            self._check_same_state(passage, sandbox.images is images)
            return self._render(passage, reply)
        finally:
            images.release(keys)

    async def _wait(self, passage: Passage, preparation: Preparation) -> None:
        """Let the key be in progress while image work is done (D13); then look at time and state afresh."""
        call, scope = passage.call, passage.key_scope
        records = call.caller.sandbox.idempotency
        assert scope is not None
        records.hold(scope)
        try:
            await preparation(call, self.pictures)
        finally:
            records.let_go(scope)
        self._check_same_state(passage, call.caller.sandbox.idempotency is records)
        call.now = engine.enter(call.caller.sandbox)

    def _check_same_state(self, passage: Passage, is_same: bool) -> None:
        if not is_same:
            raise Problem("internal_error", "the sandbox was reset while this request was being answered")

    def _render(self, passage: Passage, reply: Reply) -> Response:
        links = Links(passage.call.caller.sandbox, passage.request.origin)
        headers: tuple[tuple[bytes, bytes], ...] = ()
        if reply.location is not None:
            headers = ((b"location", (links.base_url + reply.location).encode("latin-1")),)
        if reply.retry_after is not None:
            headers = (*headers, (b"retry-after", b"%d" % reply.retry_after))
        return json_response(reply.status, reply.resource, passage.request_id, links, headers)

    def _bind(self, passage: Passage, response: Response) -> Response:
        """Bind the key, where there is one, to the answer (D10)."""
        if passage.key_scope is not None:
            record = Record(passage.call.now, passage.fingerprint, *response)
            passage.call.caller.sandbox.idempotency.bind(passage.key_scope, record)
        return response

    def _refuse(self, problem: Problem, request_id: str, sandbox: Sandbox) -> Response:
        """Render a problem; an auto clock then takes the wait that it asks of the client (interfaces, section 3)."""
        retry_after = problem.retry_after
        if retry_after is None or not sandbox.clock.takes_waits:
            return problem_response(problem, request_id, retry_after)
        response = problem_response(problem, request_id, 0)
        engine.advance(sandbox, sandbox.clock.now() + (problem.retry_wait_ms or retry_after * SECOND_MS))
        return response

    def _find_route(self, request: Request) -> tuple[Route, str]:
        """Find the operation of a method and path (D06).

        Raises:
            Problem: not_found; invalid_request with status 405.
        """
        steps = request.path.split("/")  # "", "v1", collection[, id or name[, act]]
        methods = self._routes.get(request.path)
        resource_id = ""
        if methods is None and len(steps) in (4, 5) and steps[3]:
            resource_id = steps[3]
            steps[3] = "{}"
            methods = self._routes.get("/".join(steps))
        if methods is None:
            raise Problem("not_found", f"{excerpt(request.path)}: there is no such path", check=Check.ROUTE)
        route = methods.get(request.method)
        if route is None:
            allow = ", ".join(sorted(methods))
            raise Problem(
                "invalid_request",
                f"{request.method}: this path does not take it; expected one of {allow}",
                status=405,
                check=Check.ROUTE,
                allow=allow,
            )
        return route, resource_id


def build_routes(contract: Contract) -> Mapping[str, Mapping[str, Route]]:
    """Return the routes by path (an id in it written `{}`) and method.

    Raises:
        RoutingError: the contract and the handlers do not name the same operations.
    """
    differing = contract.operations.keys() ^ HANDLERS.keys()
    if differing:
        raise RoutingError(f"only one of contract and handlers has: {', '.join(sorted(differing))}")
    routes: dict[str, dict[str, Route]] = {}
    for operation in contract.operations.values():
        steps = ["{}" if step.startswith("{") else step for step in operation.path.split("/")]
        route = Route(operation, HANDLERS[operation.id], PREPARATIONS.get(operation.id), *checks_of(operation))
        routes.setdefault(PREFIX + "/".join(steps), {})[operation.method] = route
    return routes
