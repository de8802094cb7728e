"""The road of a request under `/v1`: the checks in their order, then the handler, then the answer.

Up to the read body nothing is looked at that can change; from there to the answer nothing waits, so an admission is
atomic without a lock. The one exception is a wait *in* admission (image work, a held admission): the key is marked as in
progress, and everything after the wait is looked at afresh.
"""

import asyncio
from collections.abc import Mapping

import orjson

from emulator.contract import BASE_PATH, Contract
from emulator.domain.idempotency import Record
from emulator.domain.problems import KEY_BINDING_CODES, Check, Problem, excerpt
from emulator.http.failures import internal_error
from emulator.http.requests import (
    MAXIMUM_BODY_BYTES,
    Body,
    ClientDisconnectedError,
    Receive,
    Request,
    Scope,
    Send,
    send_response,
)
from emulator.http.responses import Response, problem_response
from emulator.http.stopping import Stop
from emulator.kernel.timestamps import SECOND_MS
from emulator.scenario.faults import DeprecatedFault, HoldFault, NetworkFault, ProblemFault
from emulator.scenario.playbook import RequestDecision
from emulator.service import engine, scenarios
from emulator.service.journal import GONE_NOTE
from emulator.service.sandboxes import Sandboxes
from emulator.web import faults, holding
from emulator.web.checks import Passage, Route, build_route
from emulator.web.links import Links
from emulator.web.operations import HANDLERS, Call, Reply
from emulator.web.pictures import PictureWorker
from emulator.web.rendering import json_response


class RoutingError(RuntimeError):
    """Contract and handlers name different operations: a defect, found when the server starts."""


class Road:
    """The ASGI application of `/v1`."""

    def __init__(
        self, contract: Contract, sandboxes: Sandboxes, pictures: PictureWorker, public_url: str | None, stop: Stop
    ) -> None:
        self._sandboxes = sandboxes
        self._pictures = pictures
        self._public_url = public_url
        self._stop = stop
        self._routes = build_routes(contract)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and keep the journal of it."""
        request = Request(scope, self._public_url)
        key = request.bearer_key()
        caller = self._sandboxes.find_caller(key)
        sandbox = caller.sandbox if caller else self._sandboxes.default
        journal, request_id = sandbox.journal, sandbox.identifiers.next("req")
        entry = journal.arrive(sandbox.clock.now(), request_id, request.method, request.path, caller)
        if b"idempotency-key" in request.headers:  # told even of a request that is refused before it is looked at
            entry.idempotency_key = request.headers[b"idempotency-key"].decode("latin-1").strip()
        passage = Passage(request, request_id, sandbox, entry)
        body = Body(receive) if request.has_body() else None
        try:
            response = await self._answer(passage, key, body)
        except ClientDisconnectedError:
            entry.note = GONE_NOTE
            journal.leave(entry)
            return
        if not passage.is_lost:
            entry.status, entry.response_body = response.status, response.body
        journal.leave(entry)
        if passage.network is not None:
            response = response._replace(headers=(*response.headers, *passage.fault_headers))
            await faults.lose(passage.network, response, scope, receive, send, self._stop)
            return
        await send_response(send, response, body)

    async def _answer(self, passage: Passage, key: str | None, body: Body | None) -> Response:
        """Turn a request into a response: whatever goes wrong on the way becomes one here."""
        request = passage.request
        try:
            route, resource_id = self._find_route(request)
            passage.entry.operation, passage.entry.checks = route.operation.id, route.checks
            if body is not None:
                is_too_large = request.announces_more_than(MAXIMUM_BODY_BYTES)
                passage.body = passage.entry.request_body = None if is_too_large else await body.read()
            caller = self._sandboxes.find_caller(key)  # only now: what came before may have taken its time
            if caller is None:
                engine.enter(passage.sandbox)
                raise Problem(
                    "authentication_required",
                    "Authorization: found no valid key; expected `Bearer` and an API key of this emulator",
                    remedy=_remedy_for_key(request),
                )
            passage.sandbox = caller.sandbox
            call = Call(caller, engine.enter(caller.sandbox), resource_id)
            return await self._check(passage, route, call)
        except Problem as problem:
            return self._refuse(passage, problem)
        except ClientDisconnectedError:
            raise
        except Exception as error:
            return self._refuse(passage, internal_error(error, request, passage.request_id))

    async def _check(self, passage: Passage, route: Route, call: Call) -> Response:
        """Go through the checks before the wait, then admit the request; a replay ends it here."""
        for step in route.entrance:
            step.run(passage, route, call)
        if passage.sandbox.playbooks or faults.FAULT_HEADER in passage.request.headers:
            await self._ask_scenario(passage, route, call)
            if faults.is_lost_before_commit(passage.network):
                passage.is_lost = True
                return faults.unanswered(route.operation.success, passage.request_id)
        for step in route.before_wait:
            stored = step.run(passage, route, call)
            if stored is not None:
                return self._replaced(passage, stored)
            if passage.problem_due is not None:
                self._raise_due(passage, passage.problem_due, step.check)
        return await self._admit(passage, route, call)

    async def _ask_scenario(self, passage: Passage, route: Route, call: Call) -> None:
        """Ask once what is to go wrong with this request, and note it where it comes about."""
        header = passage.request.headers.get(faults.FAULT_HEADER)
        if header is not None:
            decision = RequestDecision(faults.requested_fault(header, route.operation.all_codes))
        else:
            decision = scenarios.decide_request(call.caller, route.operation.id, _json_or_none(passage.body), call.now)
        passage.decision = decision
        if decision.rule is not None:
            passage.entry.rule = decision.rule
            passage.fault_headers = ((b"emulator-rule", faults.rule_name(decision.rule.name)),)
        match decision.fault:
            case ProblemFault() as fault:
                passage.problem_due = faults.injected_problem(fault, call.caller, call.now)
                passage.replaces_answer = fault.at == "after_commit"
                if faults.decided_at_entrance(fault.code):
                    call.caller.forget_request(fault.code)
                    raise passage.problem_due
            case HoldFault(duration_ms):
                passage.hold_ms = duration_ms
            case NetworkFault(kind="latency", latency_ms=latency_ms, at="before_commit"):
                passage.decision_has_come_about()
                await self._stop.cut_short(asyncio.sleep(latency_ms / SECOND_MS))
                self._look_afresh(call)
            case NetworkFault() as network:
                passage.decision_has_come_about()
                passage.network = network
            case DeprecatedFault() as deprecated:
                passage.decision_has_come_about()
                passage.is_deprecated = True
                passage.fault_headers += faults.deprecation_headers(deprecated, passage.sandbox.began_at)

    def _raise_due(self, passage: Passage, problem: Problem, passed: Check) -> None:
        """Raise the scenario's problem at the check that the service itself would raise it at."""
        if not passage.replaces_answer and problem.check is passed:
            raise problem

    async def _admit(self, passage: Passage, route: Route, call: Call) -> Response:
        """Wait if the admission needs it, then do what was asked, and bind the answer to the key."""
        if route.preparation is not None or passage.hold_ms:
            await self._wait(passage, route, call)
        try:
            reply = self._handle(passage, route, call)
        except Problem as problem:
            if problem.code not in KEY_BINDING_CODES:
                raise
            return self._bind(passage, call, self._refuse(passage, problem))
        pictures = reply.assets()
        if pictures and passage.sandbox.images.undeveloped(pictures):
            response = await self._render_developed(passage, call, reply, pictures)
        else:
            response = self._render(passage, reply)
        return self._replaced(passage, self._bind(passage, call, response))

    def _handle(self, passage: Passage, route: Route, call: Call) -> Reply:
        """Pass the checks after the wait, and do what was asked."""
        problem = passage.problem_due
        for step in route.after_wait:
            step.run(passage, route, call)
            if problem is not None:
                self._raise_due(passage, problem, step.check)
        if problem is None or passage.replaces_answer:
            return route.handler(call)
        return self._handle_until_commit(problem, route, call)

    def _handle_until_commit(self, problem: Problem, route: Route, call: Call) -> Reply:
        """Let the handler do its work; a problem that is still due is raised where a write would commit."""
        if route.operation.method == "GET" or problem.code == "internal_error":
            raise problem
        call.caller.problem_due = problem
        try:
            return route.handler(call)
        finally:
            call.caller.problem_due = None

    def _replaced(self, passage: Passage, response: Response) -> Response:
        """Put a problem in the place of an answer, where a scenario asks for that after the commit."""
        if passage.problem_due is not None and passage.replaces_answer:
            return self._refuse(passage, passage.problem_due)
        return response

    def _look_afresh(self, call: Call) -> None:
        """See what time it is after a wait, and that the sandbox is still the one that the request came to.

        Raises:
            Problem: internal_error, it was reset meanwhile.
        """
        if self._sandboxes.find_caller(call.caller.credential.key) is not call.caller:
            raise Problem("internal_error", "the sandbox was reset while this request was being answered")
        call.now = engine.enter(call.caller.sandbox)

    async def _wait(self, passage: Passage, route: Route, call: Call) -> None:
        """Let the key be in progress during the wait (D13); then look at time and state afresh."""
        sandbox, scope = passage.sandbox, passage.key_scope
        records = sandbox.idempotency
        if scope is not None:
            records.hold(scope)
        try:
            if passage.hold_ms and not self._stop.has_begun:
                passage.decision_has_come_about()
                sandbox.journal.tell(passage.entry)
                await holding.hold(sandbox, scope, call.now, passage.hold_ms)
                self._look_afresh(call)
            if route.preparation is not None:
                await route.preparation(call, self._pictures)
        finally:
            if scope is not None:
                records.let_go(scope)
        self._look_afresh(call)

    def _render(self, passage: Passage, reply: Reply) -> Response:
        """Render a reply, whose pictures are developed.

        An answer that a scenario will replace or lose is the service's own, as its repetition will tell it again.
        """
        links = Links(passage.sandbox, passage.request.origin)
        headers = () if passage.replaces_answer or passage.network is not None else passage.fault_headers
        if reply.location is not None:
            headers = (*headers, (b"location", (links.base_url + reply.location).encode("latin-1")))
        if reply.retry_after is not None:
            headers = (*headers, (b"retry-after", b"%d" % reply.retry_after))
        return json_response(reply.status, reply.resource, passage.request_id, links, headers)

    async def _render_developed(self, passage: Passage, call: Call, reply: Reply, pictures: list[str]) -> Response:
        """Render a reply when the pictures are developed whose size it tells."""
        images = passage.sandbox.images
        images.hold(pictures)
        try:
            await self._pictures.develop(images, pictures)
            self._look_afresh(call)
            return self._render(passage, reply)
        finally:
            images.release(pictures)

    def _bind(self, passage: Passage, call: Call, response: Response) -> Response:
        """Bind the key, where there is one, to the answer (D10)."""
        if passage.key_scope is not None:
            record = Record(call.now, passage.fingerprint, *response)
            passage.sandbox.idempotency.bind(passage.key_scope, record)
        return response

    def _refuse(self, passage: Passage, problem: Problem) -> Response:
        """Render a problem; an auto clock then takes the wait that it asks of the client (interfaces, section 3)."""
        passage.entry.problem = problem
        sandbox, retry_after = passage.sandbox, problem.retry_after
        takes_wait = retry_after is not None and sandbox.clock.takes_waits
        response = problem_response(problem, passage.request_id, 0 if takes_wait else retry_after)
        passage.entry.is_injected = problem is passage.problem_due
        if passage.entry.is_injected:
            passage.decision_has_come_about()
        if passage.entry.is_injected or passage.is_deprecated:
            response = response._replace(headers=(*response.headers, *passage.fault_headers))
        if takes_wait and retry_after is not None:
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
            raise Problem(
                "not_found",
                f"{excerpt(request.path)}: there is no such path",
                check=Check.ROUTE,
                remedy=self._remedy_for_path(request.path),
            )
        route = methods.get(request.method)
        if route is None:
            allow = ", ".join(sorted(methods))
            raise Problem(
                "invalid_request",
                f"{request.method}: this path does not take it; expected one of {allow}",
                status=405,
                check=Check.ROUTE,
                allow=allow,
                remedy=f"send it with the method {allow.replace(', ', ' or ')}",
            )
        return route, resource_id

    def _remedy_for_path(self, path: str) -> str:
        if path.rstrip("/") in self._routes:
            return "leave out the slash at the end of the path"
        return "use a path of the contract, which GET /_emulator/contract shows"


def _remedy_for_key(request: Request) -> str:
    if b"authorization" not in request.headers:
        return "send the header Authorization with `Bearer` and an API key"
    if b"authorization" in request.repeated:
        return "send the header Authorization once"
    if request.bearer_key() is None:
        return "write `Bearer` and a space before the API key"
    return "use an API key of this emulator, which GET /_emulator/teams lists"


def _json_or_none(body: bytes | None) -> object:
    try:
        return orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        return None


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
        routes.setdefault(BASE_PATH + "/".join(steps), {})[operation.method] = build_route(contract, operation)
    return routes
