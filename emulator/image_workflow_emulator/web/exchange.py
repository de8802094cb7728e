"""One request on its way: what is known of it so far, what its surface needs, and what a fault may do to it.

`pipeline` leads it from its arrival to its answer, and `asgi` in and out. Must not know what an operation does, nor any
single fault or surface.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from msgspec import Struct, structs

from image_workflow_emulator.domain.idempotency import Scope as KeyScope
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.http.requests import Body, Request, Stop
from image_workflow_emulator.http.responses import (
    JSON_TYPE,
    Header,
    Response,
    not_allowed,
    problem_response,
)
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.playbook import NOTHING_HAPPENS, Decision
from image_workflow_emulator.scenario.scenario import ByteSurface, Facts
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox import admission, scenarios
from image_workflow_emulator.service.sandbox.calls import Call, Caller, OwnCheck
from image_workflow_emulator.service.sandbox.sandbox import HeldAdmission, Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.pictures import PictureWorker

_KEY_HEADER = b"idempotency-key"
_HEADER_SAFE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")

_REFRESH_SECONDS = 0.25
"""How often a held request checks its clock: its mode may have changed."""
_AUTO_HOLD_SECONDS = 1.0
"""How long in real time an auto clock holds a request that is not repeated."""


class SandboxReplacedError(Exception):
    """The sandbox of a request was reset, replaced by a loaded one or deleted while the request waited (D77)."""


class Step(NamedTuple):
    """A check, by name and as a function that raises a Problem or returns."""

    check: Check
    run: Callable[["Exchange"], None]


def allowing(*methods: str) -> Step:
    """Return the check of a path that takes some methods: any other is 405 (D06)."""

    def check(exchange: "Exchange") -> None:
        if exchange.request.method not in methods:
            raise not_allowed(exchange.request.method, methods)

    return Step(Check.ROUTE, check)


class Route(Struct, frozen=True, kw_only=True):
    """The subject of a request and its answer: an operation of `/v1`, one of the byte surfaces, or nothing."""

    commit: Callable[["Exchange", Any], object]
    """Carries out what was checked, of which the second argument is what the last check found. It cannot fail."""
    render: Callable[["Exchange", object], Awaitable[Response]]
    operation: str | None = None
    byte_surface: ByteSurface | None = None
    is_read: bool = True
    success: int = 200
    codes: frozenset[str] = frozenset()
    """The problem codes that it can be asked to answer with."""
    entrance: tuple[Step, ...] = ()
    """Before the scenario is asked."""
    before_admission: tuple[Step, ...] = ()
    prepare: Callable[["Exchange"], Awaitable[None]] | None = None
    """The wait in admission, if there is one."""
    after_admission: tuple[Step, ...] = ()
    own: tuple[OwnCheck, ...] = ()
    """The operation's own."""
    checks: tuple[Check, ...] = ()
    """The checks of all these steps, in order. Before them comes the one that found the operation."""
    resource_of: Callable[[str], str] = str
    """Returns the id of the resource in the path."""

    def __post_init__(self) -> None:
        steps = (
            *self.entrance,
            *self.before_admission,
            *self.after_admission,
            *self.own,
        )
        found = () if self.operation is None else (Check.ROUTE,)
        structs.force_setattr(self, "checks", (*found, *(check for check, _ in steps)))

    @property
    def steps_passed(self) -> int:
        """How many of its checks are passed when it is found."""
        return 0 if self.operation is None else 1


class Found(NamedTuple):
    """Where a request belongs: the sandbox and the caller, None if unknown, and the route with the id in the path."""

    home: Sandbox | None
    caller: Caller | None
    route: Route
    resource_id: str


class Exchange(Struct, eq=False, gc=False, kw_only=True):
    """One request on its way."""

    sandboxes: Sandboxes
    pictures: PictureWorker
    stop: Stop
    request: Request
    body: Body
    sandbox: Sandbox
    """Where it belongs; the default one answers what belongs nowhere."""
    has_home: bool
    """Whether it is known where it belongs."""
    caller: Caller | None
    route: Route
    resource_id: str
    record: RequestRecord
    now: int
    content: bytes | None = b""
    key_scope: KeyScope | None = None
    fingerprint: bytes = b""
    stored: Response | None = None
    """The answer to be replayed."""
    fault: Fault = NO_FAULT
    decision: Decision = NOTHING_HAPPENS
    call: Call = cast(Call, None)
    """The operation being called; byte surfaces have none."""
    is_off_record: bool = False
    """Whether no client asks, but the control plane: no journal has it, no rate counts it, and no rule is asked."""

    @property
    def request_id(self) -> str:
        """The id that the answer carries, if it is this request's own."""
        return self.record.request_id

    # Used by surfaces -----------------------------------------------------------------------------------------------

    def enter(self, has_waited: bool) -> None:
        """Settle the sandbox; after a wait, find the caller and read the clock again."""
        if has_waited:
            if self.route.operation is not None and not (
                self.caller and self.sandboxes.is_current(self.caller)
            ):
                self.caller = self.sandboxes.find_caller(self.request.bearer_key())
            if self.caller is not None:
                self.sandbox = self.caller.sandbox
            self.now = self.sandbox.clock.now()
        engine.settle(self.sandbox, self.now)
        if self.caller is not None:
            self.call = Call(
                self.sandbox, self.caller, self.now, self.record, self.resource_id
            )

    @property
    def home(self) -> Sandbox | None:
        """The sandbox of the request; None once it was deleted or replaced, which may happen while a request waits."""
        is_there = (
            self.has_home and self.sandboxes.by_id.get(self.sandbox.id) is self.sandbox
        )
        return self.sandbox if is_there else None

    def refresh(self) -> None:
        """Read the clock after a wait, and see that the sandbox is still the one that the request came to.

        Raises:
            SandboxReplacedError: it was reset, replaced or deleted meanwhile.
        """
        if self.caller is not None and not self.sandboxes.is_current(self.caller):
            raise SandboxReplacedError
        self.now = engine.enter(self.sandbox)
        if self.caller is not None:
            self.call.now = self.now

    # Facts for scenarios --------------------------------------------------------------------------------------------

    def request_facts(self) -> Facts:
        """Return what a scenario can match of this request."""
        identifier = self.route.resource_of(self.resource_id)
        return scenarios.request_facts(
            self.sandbox, self.record, identifier, self.content
        )

    def note_answer(self) -> None:
        """Let scenarios make the changes that they make right after this answer."""
        is_known = self.route.operation is not None or (
            self.route.byte_surface is not None and self.has_home
        )
        if is_known and scenarios.awaits_answer(self.sandbox):
            scenarios.note_answer(
                self.sandbox, self.request_facts(), engine.enter(self.sandbox)
            )

    def varied(self, response: Response) -> Response:
        """Add what v1 may add (D68), and write it as another reading does, where that is asked for."""
        is_evolved, readings = self.sandbox.options.evolution, self.sandbox.readings
        if not is_evolved and readings is NO_READINGS:
            return response
        from image_workflow_emulator.web.variants import varied

        return varied(response, readings, is_evolved)

    # Actions of faults (`FaultContext`) -----------------------------------------------------------------------------

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
        rule = self.decision.rule
        return (
            ()
            if rule is None
            else ((b"emulator-rule", quote(rule.name, safe=_HEADER_SAFE).encode()),)
        )

    def fire(self) -> None:
        """Count that the rule fired."""
        self.decision.mark_fired()
        self.record.has_rule_acted = self.decision.rule is not None

    def draw(self) -> float:
        """Return the number from 0 to 1 (not included) that the seed gives to this match of the rule."""
        return self.decision.draw

    def forget_rate(self) -> None:
        """Take back the count of this request against its rate (D41)."""
        admission.forget_request(self.call)

    def problem(
        self, code: str, detail: str | None, retry_after: int | None
    ) -> Problem:
        """Return the problem that the service itself would answer with."""
        self.fire()
        return scenarios.injected_problem(
            self.sandbox, self.caller, self.now, code, detail, retry_after, self.is_read
        )

    def refuse(self, problem: Problem) -> Response:
        """Render a problem; an auto clock then skips the wait that it asks of the client."""
        record, retry_after = self.record, problem.retry_after
        skips_wait = retry_after is not None and self.sandbox.clock.skips_waits
        is_replaced = problem.is_injected and (
            record.is_committed or record.replay_of is not None
        )
        record.outcome = "replaced" if is_replaced else "refused"
        record.problem = problem
        if problem.status == 402 and self.caller is not None:
            record.available_credits = self.caller.account.ledger.available
        headers = (
            self.rule_header
            if problem.is_injected
            else self.fault.headers(self, is_refusal=True)
        )
        shown_retry_after = 0 if skips_wait else retry_after
        response = self.varied(
            problem_response(problem, self.request_id, shown_retry_after, headers)
        )
        if skips_wait and retry_after is not None:
            wait_ms = problem.retry_wait_ms or retry_after * SECOND_MS
            engine.advance(self.sandbox, self.sandbox.clock.now() + wait_ms)
        return response

    def unanswered(self) -> Response:
        """End the request before anything is done; return the beginning of the answer that is lost."""
        self.record.outcome = "lost"
        request_id = (b"request-id", self.request_id.encode())
        if self.route.success == 204:
            return Response(204, (request_id,), b"")
        headers = (JSON_TYPE, (b"content-length", b"100"), request_id)
        return Response(self.route.success, headers, b'{"object":'.ljust(100))

    def replace_key(self, key: str | None) -> bool:
        """Give the request another Idempotency-Key, or none, if it has one; return whether it had."""
        if self.request.headers.pop(_KEY_HEADER, None) is None:
            return False
        if key is not None:
            self.request.headers[_KEY_HEADER] = key.encode()
        self.record.key_header = None if key is None else key.encode()
        return True

    def drop_query(self) -> bool:
        """Take the query away; return whether there was one."""
        had_query, self.request.query_string = bool(self.request.query_string), b""
        return had_query

    def slow_down(self, bytes_per_second: int) -> None:
        """Receive the rest of the body at this speed."""
        self.body.slow_down(bytes_per_second, self.stop.pause)

    async def pause(self, span_ms: int) -> None:
        """Wait for a span of real time, then refresh."""
        await self.stop.pause(span_ms)
        self.refresh()

    async def hold(self, span_ms: int) -> None:
        """Keep the request in admission for a span of emulator time, then refresh."""
        if not self.stop.has_begun:
            self.fire()
            await _hold(self.sandbox, self.key_scope, self.now, span_ms)
            self.refresh()


# Held admissions: a scenario keeps a request in admission for a span of emulator time (D13) ---------------------------


async def _hold(
    sandbox: Sandbox, scope: KeyScope | None, now: int, duration_ms: int
) -> None:
    """Keep a request waiting for a span of emulator time, however the sandbox's clock runs."""
    held = HeldAdmission(now + duration_ms, scope)
    name = sandbox.identifiers.next("hold")
    sandbox.held_admissions[name] = held
    sandbox.timeline.schedule(held.due, engine.HOLD_EVENT, name)
    loop = asyncio.get_running_loop()
    gives_up_at = loop.time() + _AUTO_HOLD_SECONDS
    while not held.ended.is_set():
        setting, seconds = sandbox.clock.setting, _REFRESH_SECONDS
        if setting.mode == "real":
            seconds = min(
                max(held.due - sandbox.clock.now(), 1) / 1000 / setting.rate, seconds
            )
        elif setting.mode == "auto":
            seconds = min(gives_up_at - loop.time(), seconds)
            if seconds <= 0:
                engine.advance(sandbox, held.due)
                return
        with suppress(TimeoutError):
            await asyncio.wait_for(held.ended.wait(), seconds)
        engine.enter(sandbox)


def end_hold(sandbox: Sandbox, scope: KeyScope) -> None:
    """A second request with the key was answered: on an auto clock, this ends the hold."""
    if sandbox.clock.skips_waits:
        for held in list(sandbox.held_admissions.values()):
            if held.scope == scope:
                engine.advance(sandbox, held.due)
