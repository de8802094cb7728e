"""The way of every request but the control plane's: one straight coroutine, from its arrival to the last byte out.

    arrive -> route -> body read (the last wait) -> clock read, sandbox settled -> checks, each noted as it is passed
    -> commit -> render once -> bind the Idempotency-Key -> journal -> wire

A scenario's fault is called at fixed moments between these (emulator/scenario/faults/base.py). Up to the read body
no state is read that can change; from there to the answer nothing waits, so an admission is atomic without a lock.
The one exception is a wait *in* admission (image work, a held request): the key is in progress meanwhile (D13), and
everything is read again after it.

Must not know what an operation does, nor any single fault or surface.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol
from urllib.parse import parse_qsl, quote

import orjson
from msgspec import Struct

from emulator.domain.idempotency import Scope as KeyScope
from emulator.domain.idempotency import StoredAnswer
from emulator.domain.problems import KEY_BINDING_CODES, Check, Problem
from emulator.http.problems import internal_error, problem_response
from emulator.http.requests import MAXIMUM_BODY_BYTES, Body, ClientDisconnectedError, Receive, Request, Scope, Send
from emulator.http.responses import JSON_TYPE, Header, Response
from emulator.http.stopping import Stop
from emulator.kernel.timestamps import SECOND_MS
from emulator.kernel.wording import excerpt
from emulator.scenario.faults.base import NO_FAULT, Fault
from emulator.scenario.matching import ByteSurface, RequestFacts
from emulator.scenario.playbook import NOTHING_HAPPENS, RequestDecision
from emulator.service import admission, engine, scenarios
from emulator.service.callers import Caller
from emulator.service.calls import Call, Commit
from emulator.service.injection import injected_problem
from emulator.service.journal import Entry
from emulator.service.sandbox import Sandbox
from emulator.service.sandboxes import Sandboxes
from emulator.web import holding
from emulator.web.pictures import PictureWorker
from emulator.web.wire import Wire

FAULT_HEADER = b"emulator-fault"
_HEADER_SAFE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


class Step(NamedTuple):
    """A check, by name and as a function that raises a Problem or returns."""

    check: Check
    run: Callable[["Exchange"], None]


class Route(Struct, frozen=True):
    """What a request is about and how it is answered: an operation of `/v1`, or one of the byte surfaces."""

    operation: str | None
    byte_surface: ByteSurface | None
    is_read: bool
    success: int
    codes: frozenset[str]
    """The problem codes that it can be asked to answer with."""
    checks: tuple[Check, ...]
    """Every check that it has, in order."""
    entrance: tuple[Step, ...]
    """Before the scenario is asked."""
    before_admission: tuple[Step, ...]
    prepare: Callable[["Exchange"], Awaitable[None]] | None
    """The wait in admission, if there is one."""
    after_admission: tuple[Step, ...]
    check: Callable[["Exchange"], Commit[object]]
    """The last checks; they return the commit."""
    render: Callable[["Exchange", object], Awaitable[Response]]
    resource_of: Callable[[str], str] = str
    """Returns the id of the resource in the path."""


class Surface(Protocol):
    """A part of the emulator's paths, with its own way to find sandbox, caller and route."""

    def find_home(self, request: Request) -> tuple[Sandbox | None, Caller | None]:
        """Return the sandbox and the caller of a request; None if unknown."""

    def find_route(self, exchange: "Exchange") -> Route:
        """Find the route. Raises Problem."""

    def find_caller(self, exchange: "Exchange") -> None:
        """Find the caller again, and settle the sandbox, now that nothing waits any more. Raises Problem."""


class Exchange:
    """One request on its way: what is known so far, and what a fault can do."""

    __slots__ = (
        "_decision",
        "_service",
        "body",
        "call",
        "caller",
        "content",
        "entry",
        "fault",
        "fingerprint",
        "key_scope",
        "now",
        "request",
        "request_id",
        "resource_id",
        "route",
        "sandbox",
        "stored",
    )

    call: Call
    """The operation being called; byte surfaces have none."""
    route: Route

    def __init__(
        self, service: "Service", request: Request, body: Body, sandbox: Sandbox, caller: Caller | None, entry: Entry
    ) -> None:
        self._service = service
        self.request = request
        self.body = body
        self.sandbox = sandbox
        self.caller = caller
        self.entry = entry
        self.request_id = entry.request_id
        self.now = entry.at
        self.resource_id = ""
        self.content: bytes | None = b""
        self.key_scope: KeyScope | None = None
        self.fingerprint = b""
        self.stored: Response | None = None
        """The answer to be replayed."""
        self.fault: Fault = NO_FAULT
        self._decision = NOTHING_HAPPENS

    # The way --------------------------------------------------------------------------------------------------------

    async def answer(self, surface: Surface) -> Response:
        """Turn the request into a response; whatever goes wrong on the way becomes one here."""
        try:
            self.route = route = surface.find_route(self)
            if self.body.has_more and route.operation is not None:
                await self._read_body()
            surface.find_caller(self)
            self._pass(route.entrance)
            if self.sandbox.playbooks or self.sandbox.strike is not None or FAULT_HEADER in self.request.headers:
                lost = await self._ask_scenario()
                if lost is not None:
                    return lost
            self._pass(route.before_admission)
            if self.stored is not None:
                self.entry.outcome = "replayed"
                return self.fault.answer(self, self.stored)
            if route.prepare is not None or self.fault is not NO_FAULT:
                await self._wait_in_admission()
            self._pass(route.after_admission)
            self.fault.before_operation(self)
            return await self._carry_out(route.check(self))
        except Problem as problem:
            response = self.refuse(problem)
            return self._bind(response) if problem.code in KEY_BINDING_CODES else response
        except ClientDisconnectedError:
            raise
        except Exception as error:
            response = self.refuse(internal_error(error, self.request, self.request_id))
            self.entry.outcome = "failed"
            return response

    async def _carry_out(self, commit: Commit[object]) -> Response:
        """Commit, and answer with the result, unless the fault answers in place of the commit."""
        answer = self.fault.before_commit(self)
        if answer is not None:
            if self.entry.problem is None:  # else it is a refusal, and noted as one
                self.entry.outcome = "replaced"
            return answer
        result = commit()
        if isinstance(result, Problem):
            return self.refuse(result)
        self.entry.is_committed, self.entry.outcome = True, "answered"
        response = self._evolved(await self.route.render(self, result))
        return self.fault.answer(self, self._bind(response))

    def _evolved(self, response: Response) -> Response:
        """Add what v1 may add, where that is asked for (D68)."""
        if not self.sandbox.options.evolution:
            return response
        from emulator.web.evolution import evolved

        return evolved(response)

    async def _read_body(self) -> None:
        """Read the body of an operation: the last wait. One that is too large is not read."""
        announced = self.request.announced_bytes()
        self.content = self.entry.request_body = None if announced > MAXIMUM_BODY_BYTES else await self.body.read()
        if self.content is None:
            self.entry.request_body_bytes = announced or self.body.size_bytes

    def _pass(self, steps: tuple[Step, ...]) -> None:
        passed, fault = self.entry.passed, self.fault
        for check, run in steps:
            run(self)
            if self.stored is not None:  # a replay: this check decided
                return
            passed.append(check)
            if fault is not NO_FAULT:
                fault.after_check(self, check)

    async def _ask_scenario(self) -> Response | None:
        """Ask the scenario once for a fault. A response ends the request here: its answer is lost."""
        header = self.request.headers.get(FAULT_HEADER)
        if header is not None and self.route.operation is not None:
            self.entry.fault_header = header
            self._decision = RequestDecision(_requested_fault(header, self.route.codes))
        else:
            self._decision = scenarios.decide_request(self.sandbox, self.request_facts(), self.now)
        self.fault, self.entry.rule = self._decision.fault, self._decision.rule
        return await self.fault.entrance(self)

    def request_facts(self) -> RequestFacts:
        """Return what a scenario can match of this request; on a byte surface, the Team is the owner of the resource."""
        caller, headers, sandbox = self.caller, self.request.headers, self.sandbox
        identifier = self.route.resource_of(self.resource_id)
        team = caller.account.team if caller is not None else scenarios.owner_of(sandbox, identifier)
        key = "" if caller is None else caller.credential.key
        return RequestFacts(
            operation=self.route.operation,
            team_id="" if team is None else team.id,
            team_name="" if team is None else team.name,
            body=None if self.route.operation is None else _json_or_none(self.content),
            credential=key,
            credential_name=key.removesuffix(sandbox.key_of("")),
            resource_id=identifier,
            resource_place=scenarios.place_of(sandbox, identifier),
            query=dict(parse_qsl(self.request.query_string.decode("latin-1"), keep_blank_values=True)),
            idempotency_key=headers.get(b"idempotency-key", b"").decode("latin-1").strip(),
            bytes=self.route.byte_surface,
        )

    async def _wait_in_admission(self) -> None:
        """Let the key be in progress during the wait (D13); then look at time and state again."""
        records, scope = self.sandbox.idempotency, self.key_scope
        if scope is not None:
            records.hold(scope)
        try:
            await self.fault.admission(self)
            if self.route.prepare is not None:
                await self.route.prepare(self)
        finally:
            if scope is not None:
                records.let_go(scope)
        self.look_again()

    def _bind(self, response: Response) -> Response:
        """Bind the key, where there is one, to the answer (D10)."""
        if self.key_scope is not None:
            record = StoredAnswer(self.now, self.fingerprint, response.status, response.headers, response.body)
            self.sandbox.idempotency.bind(self.key_scope, record)
        return response

    # What surfaces use ----------------------------------------------------------------------------------------------

    @property
    def pictures(self) -> PictureWorker:
        """Who does image work."""
        return self._service.pictures

    @property
    def has_sandbox(self) -> bool:
        """Whether the sandbox is still there: it may be deleted, or replaced by a loaded state, while a request waits."""
        return self._service.sandboxes.by_id.get(self.sandbox.id) is self.sandbox

    def look_again(self) -> None:
        """Read the clock after a wait, and see that the sandbox is still the one that the request came to.

        Raises:
            Problem: internal_error, it was reset or deleted meanwhile.
        """
        if self.caller is not None and not self._service.sandboxes.is_current(self.caller):
            raise Problem("internal_error", "the sandbox was reset while this request was being answered")
        self.now = engine.enter(self.sandbox)
        if self.caller is not None:
            self.call.now = self.now

    def complete(self, response: Response) -> None:
        """Write down how the request ended."""
        entry = self.entry
        if entry.outcome != "lost":
            entry.status, entry.response_headers = response.status, response.headers
            if entry.byte_surface == "download" and entry.problem is None:
                entry.response_body_bytes = len(response.body)
            else:
                entry.response_body = response.body
        if entry.byte_surface == "upload":
            entry.request_body_bytes = self.body.size_bytes

    def note_answer(self) -> None:
        """Let scenarios make the changes that they make right after this answer."""
        is_routed = hasattr(self, "route")  # what was refused before, such as a link to no sandbox, matches nothing
        if is_routed and scenarios.awaits_answer(self.sandbox):
            scenarios.note_answer(self.sandbox, self.request_facts(), engine.enter(self.sandbox))

    # What a fault can do (emulator.scenario.faults.base.FaultContext) ----------------------------------------------------

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""
        return self.route.is_read

    @property
    def is_download(self) -> bool:
        """Whether a file is asked for."""
        return self.route.byte_surface == "download"

    @property
    def began_at(self) -> int:
        """The instant at which the sandbox began."""
        return self.sandbox.began_at

    @property
    def rule_header(self) -> tuple[Header, ...]:
        """The header that names the scenario's rule: what is not ASCII is percent-encoded, as UTF-8."""
        rule = self._decision.rule
        return () if rule is None else ((b"emulator-rule", quote(rule.name, safe=_HEADER_SAFE).encode()),)

    def fire(self) -> None:
        """Count that the rule fired."""
        self._decision.mark_fired()
        self.entry.has_rule_acted = self._decision.rule is not None

    def forget_rate(self) -> None:
        """Take back the count of this request against its rate (D41)."""
        admission.forget_request(self.call)

    def problem(self, code: str, detail: str | None, retry_after: int | None) -> Problem:
        """Return the problem that the service itself would answer with."""
        self.fire()
        return injected_problem(self.sandbox, self.caller, self.now, code, detail, retry_after, self.is_read)

    def refuse(self, problem: Problem) -> Response:
        """Render a problem; an auto clock then skips the wait that it asks of the client."""
        entry, retry_after = self.entry, problem.retry_after
        skips_wait = retry_after is not None and self.sandbox.clock.skips_waits
        if problem.is_injected and (entry.is_committed or entry.replay_of is not None):
            entry.outcome = "replaced"
        else:
            entry.outcome = "refused"
        entry.problem = problem
        headers = self.rule_header if problem.is_injected else self.fault.headers(self, is_refusal=True)
        shown_retry_after = 0 if skips_wait else retry_after
        response = self._evolved(problem_response(problem, self.request_id, shown_retry_after, headers))
        if skips_wait and retry_after is not None:
            wait_ms = problem.retry_wait_ms or retry_after * SECOND_MS
            engine.advance(self.sandbox, self.sandbox.clock.now() + wait_ms)
        return response

    def unanswered(self) -> Response:
        """End the request before anything is done; return the beginning of the answer that is lost."""
        self.entry.outcome = "lost"
        request_id = (b"request-id", self.request_id.encode())
        if self.route.success == 204:
            return Response(204, (request_id,), b"")
        headers = (JSON_TYPE, (b"content-length", b"100"), request_id)
        return Response(self.route.success, headers, b'{"object":'.ljust(100))

    def slow_down(self, bytes_per_second: int) -> None:
        """Receive the rest of the body at this speed."""
        self.body.slow_down(bytes_per_second, self._service.stop.pause)

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, then look again."""
        await self._service.stop.pause(span_ms)
        self.look_again()

    async def hold(self, span_ms: int) -> None:
        """Keep the request in admission for a span of emulator time, then look again."""
        if not self._service.stop.has_begun:
            self.fire()
            self.sandbox.journal.tell(self.entry)
            await holding.hold(self.sandbox, self.key_scope, self.now, span_ms)
            self.look_again()


class Service:
    """The ASGI application of the service: every path but the control plane's."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        pictures: PictureWorker,
        surfaces: Mapping[str, Surface],
        strays: Surface,
        public_url: str | None,
        stop: Stop,
    ) -> None:
        """`surfaces` are found by how a path begins, such as `/v1/`; `strays` takes what belongs to none of them."""
        self.sandboxes = sandboxes
        self.pictures = pictures
        self.stop = stop
        self._surfaces = surfaces
        self._strays = strays
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, self._public_url)
        surface = self._surfaces.get(request.path[: request.path.find("/", 1) + 1], self._strays)
        body = Body(receive, request.has_body())
        exchange = self._arrive(surface, request, body)
        entry, journal = exchange.entry, exchange.sandbox.journal
        try:
            response = await exchange.answer(surface)
        except ClientDisconnectedError:
            entry.outcome = "abandoned"
            if entry.byte_surface is not None:
                entry.request_body_bytes = body.size_bytes
            journal.leave(entry)
            return
        exchange.complete(response)
        journal.leave(entry)
        if exchange.sandbox.playbooks:
            exchange.note_answer()
        await exchange.fault.wire(exchange, response, Wire(request, receive, send, body, self.stop))

    def _arrive(self, surface: Surface, request: Request, body: Body) -> Exchange:
        """Note the arrival. Unknown callers have Request-Ids of another sequence, so that those of a test stay the same."""
        home, caller = surface.find_home(request)
        sandbox = home or self.sandboxes.default
        request_id = sandbox.identifiers.next("req") if home is not None else _stray_id(sandbox)
        entry = sandbox.journal.arrive(sandbox.clock.now(), request_id, request.method, request.path, caller)
        headers = request.headers
        if b"idempotency-key" in headers:
            entry.idempotency_key = headers[b"idempotency-key"].decode("latin-1").strip()
        if b"user-agent" in headers:
            entry.user_agent = headers[b"user-agent"].decode("latin-1")
        entry.query, entry.authorization = request.query_string, headers.get(b"authorization")
        if body.has_more:
            entry.content_type = headers.get(b"content-type", b"")
        connection = request.connection
        if connection is not None and connection.peer is not None:
            entry.connection, entry.connected_ms = connection.peer, connection.made_ms
        return Exchange(self, request, body, sandbox, caller, entry)


def _requested_fault(header: bytes, codes: frozenset[str]) -> Fault:
    """Read the header Emulator-Fault. Raises Problem invalid_request for a code that the operation cannot return."""
    from emulator.scenario.faults.problem import ProblemFault

    code = header.decode("latin-1").strip()
    if code not in codes:
        raise Problem(
            "invalid_request",
            f"Emulator-Fault: found {excerpt(code)}; expected one of {', '.join(sorted(codes))}",
            remedy="ask for a code that this operation can return",
        )
    return ProblemFault(code)


def _stray_id(sandbox: Sandbox) -> str:
    """Return the Request-Id of a request that belongs to no sandbox."""
    return "req" + sandbox.identifiers.next("stray").removeprefix("stray")


def _json_or_none(body: bytes | None) -> object:
    try:
        return orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        return None
