"""One request on its way: what is known of it so far, and the route that it takes.

`pipeline` leads it from its arrival to its answer, and `asgi` in and out; `fault_actions`
has what a fault may do to it. Must not know what an operation does, nor any single fault
or surface.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import Struct, structs

from image_workflow_emulator.domain.idempotency import Scope as KeyScope
from image_workflow_emulator.domain.problems import Check, Problem
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.http.answers import (
    Answer,
    Header,
    method_not_allowed,
    problem_answer,
)
from image_workflow_emulator.http.bodies import Body
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.stops import Stop
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.matching import ByteSurface, Facts
from image_workflow_emulator.scenario.playbook import NOTHING_HAPPENS, Decision
from image_workflow_emulator.service import engine
from image_workflow_emulator.service.records.record import RequestRecord
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.service.sandbox.calls import Call, Caller, OwnCheck
from image_workflow_emulator.service.sandbox.sandbox import Sandbox
from image_workflow_emulator.service.sandbox.sandboxes import Sandboxes
from image_workflow_emulator.web.pictures import PictureWorker

_HEADER_SAFE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


class Step(NamedTuple):
    """A check, by name and as a function that raises a Problem or returns."""

    check: Check
    run: Callable[["Exchange"], None]


def allowing(*methods: str) -> Step:
    """Return the check of a path that takes some methods: any other is 405 (D06)."""

    def check(exchange: "Exchange") -> None:
        if exchange.head.method not in methods:
            raise method_not_allowed(exchange.head.method, methods)

    return Step(Check.ROUTE, check)


class Route(Struct, frozen=True, kw_only=True):
    """How requests to one operation or byte surface are checked, carried out and answered."""

    commit: Callable[["Exchange", Any], object]
    """Carries out what was checked. It cannot fail. The second argument is what the last
    check returned."""
    render: Callable[["Exchange", object], Awaitable[Answer]]
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
    """The operation's own checks."""
    checks: tuple[Check, ...] = ()
    """The checks of all these steps, in order. Before them comes the one that found the
    operation."""
    resource_of: Callable[[str], str] = str
    """Returns the id of the resource from the id in the path."""

    def __post_init__(self) -> None:
        steps = (*self.entrance, *self.before_admission, *self.after_admission)
        checks = [step.check for step in steps]
        checks += [check for check, _ in self.own]
        if self.operation is not None:
            checks.insert(0, Check.ROUTE)
        structs.force_setattr(self, "checks", tuple(checks))

    @property
    def steps_passed(self) -> int:
        """How many of its checks are passed when it is found."""
        return int(self.operation is not None)


class Destination(NamedTuple):
    """Where a request belongs."""

    home: Sandbox | None
    """None if the sandbox is unknown."""
    caller: Caller | None
    """None if the key is unknown; byte surfaces have no caller."""
    route: Route
    resource_id: str
    """The id in the path."""


class SandboxReplacedError(Exception):
    """The sandbox of a request was reset, replaced by a loaded one or deleted while the
    request waited (D77).
    """


class Exchange(Struct, eq=False, gc=False, kw_only=True):
    """One request on its way."""

    sandboxes: Sandboxes
    pictures: PictureWorker
    stop: Stop
    head: Head
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
    stored: Answer | None = None
    """The answer to be replayed."""
    fault: Fault = NO_FAULT
    decision: Decision = NOTHING_HAPPENS
    facts: Facts | None = None
    """What scenarios were asked about; None if none was asked."""
    called: Call | None = None
    """The operation being called; byte surfaces have none."""
    is_off_record: bool = False
    """Whether no client asks, but the control plane: no journal has it, no rate counts it,
    and no rule is asked."""

    @property
    def request_id(self) -> str:
        """The id that the answer carries, if it is this request's own."""
        return self.record.request_id

    @property
    def call(self) -> Call:
        """The operation being called."""
        assert self.called is not None
        return self.called

    @property
    def home(self) -> Sandbox | None:
        """The sandbox of the request; None once it was deleted or replaced, which may
        happen while a request waits.
        """
        if self.has_home and self.sandboxes.by_id.get(self.sandbox.id) is self.sandbox:
            return self.sandbox
        return None

    @property
    def rule_header(self) -> tuple[Header, ...]:
        """The header that names the scenario's rule: what is not ASCII is
        percent-encoded, as UTF-8.
        """
        rule = self.decision.rule
        if rule is None:
            return ()
        return ((b"emulator-rule", quote(rule.name, safe=_HEADER_SAFE).encode()),)

    def enter(self, has_waited: bool) -> None:
        """Settle the sandbox; after a wait, find the caller and read the clock again."""
        if has_waited:
            self._find_caller()
            self.now = self.sandbox.clock.now()
        engine.settle(self.sandbox, self.now)
        if self.caller is not None:
            self.called = Call(
                self.sandbox,
                self.caller,
                self.now,
                self.record,
                self.resource_id,
            )

    def _find_caller(self) -> None:
        is_current = self.caller and self.sandboxes.is_current(self.caller)
        if self.route.operation is not None and not is_current:
            self.caller = self.sandboxes.find_caller(self.head.bearer_key())
        if self.caller is not None:
            self.sandbox = self.caller.sandbox

    def refresh(self) -> None:
        """Read the clock after a wait, and check that the sandbox is still the one that
        the request came to.

        Raises:
            SandboxReplacedError: it was reset, replaced or deleted meanwhile.
        """
        if self.caller is not None and not self.sandboxes.is_current(self.caller):
            raise SandboxReplacedError
        self.now = engine.enter(self.sandbox)
        if self.called is not None:
            self.called.now = self.now

    def request_facts(self) -> Facts:
        """Return what a scenario can match of this request."""
        identifier = self.route.resource_of(self.resource_id)
        return scenarios.request_facts(
            self.sandbox,
            self.record,
            identifier,
            self.content,
        )

    def obey(self, decision: Decision) -> None:
        """Let what a scenario has decided happen to this request."""
        self.decision = decision
        self.fault = decision.fault
        self.record.rule = decision.rule

    def note_answer(self) -> None:
        """Let scenarios make the changes that they make right after this answer."""
        is_of_surface = self.route.byte_surface is not None and self.has_home
        is_known = self.route.operation is not None or is_of_surface
        if not (is_known and scenarios.awaits_answer(self.sandbox)):
            return
        facts = self.facts
        if facts is None:  # it was refused before scenarios were asked
            facts = self.request_facts()
        now = engine.enter(self.sandbox)
        scenarios.note_answer(self.sandbox, facts, now)

    def vary(self, answer: Answer) -> Answer:
        """Add what v1 may add (D68), and write it as another reading does, where that is
        asked for.
        """
        is_evolved = self.sandbox.options.evolution
        readings = self.sandbox.readings
        if not is_evolved and readings is NO_READINGS:
            return answer
        from image_workflow_emulator.web.variants import vary

        return vary(answer, readings, is_evolved)

    def refuse(self, problem: Problem, headers: tuple[Header, ...]) -> Answer:
        """Render a problem; an auto clock then skips the wait that it asks of the client.

        `headers` are those that a fault adds to the service's own refusals.
        """
        self._note_problem(problem)
        if problem.is_injected:
            headers = self.rule_header
        retry_after = problem.retry_after
        skips_wait = retry_after is not None and self.sandbox.clock.skips_waits
        if skips_wait:
            retry_after = 0
        answer = self.vary(
            problem_answer(problem, self.request_id, retry_after, headers)
        )
        if skips_wait:
            self._skip_wait(problem)
        return answer

    def _note_problem(self, problem: Problem) -> None:
        record = self.record
        is_done = record.is_committed or record.replay_of is not None
        record.outcome = "refused"
        if problem.is_injected and is_done:
            record.outcome = "replaced"
        record.problem = problem
        if problem.status == 402 and self.caller is not None:
            record.available_credits = self.caller.account.ledger.available

    def _skip_wait(self, problem: Problem) -> None:
        assert problem.retry_after is not None
        wait_ms = problem.retry_wait_ms or problem.retry_after * SECOND_MS
        engine.advance(self.sandbox, self.sandbox.clock.now() + wait_ms)
