"""The checks that a request under `/v1` passes, and their order: the one list of D01.

The order of the checks is the order of the errors. A check raises a Problem, or (idempotency alone) returns a stored
answer. What an operation's handler checks after these stands in the service room, in the same order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from emulator.contract import Contract, OperationContract
from emulator.documents.schemas import LISTED_VIOLATIONS, listed
from emulator.domain.idempotency import Scope as KeyScope
from emulator.domain.intents import fingerprint, intent_of
from emulator.domain.problems import Check, Problem
from emulator.http.requests import Request, check_no_body, parse_json
from emulator.http.responses import Header, Response
from emulator.scenario.faults import NetworkFault
from emulator.scenario.playbook import NOTHING_HAPPENS, RequestDecision
from emulator.service.journal import Entry
from emulator.service.sandbox import Sandbox
from emulator.web import holding
from emulator.web.operations import HANDLERS, PREPARATIONS, Call, Handler, Preparation, handler_checks
from emulator.web.requests import parse_query

_LARGE_BODY_BYTES = 2048
"""Of a larger body only the first thing that is wrong is looked for."""


@dataclass(slots=True)
class Passage:
    """A request on its way: what is known of it so far, and what a scenario has in mind for it."""

    request: Request
    request_id: str
    sandbox: Sandbox
    entry: Entry
    body: bytes | None = b""
    key_scope: KeyScope | None = None
    fingerprint: bytes = b""
    decision: RequestDecision = NOTHING_HAPPENS
    """What a scenario says."""
    problem_due: Problem | None = None
    """A problem to be raised, once the check named in it has been passed."""
    replaces_answer: bool = False
    """Whether that problem only takes the place of the answer, when everything has happened."""
    hold_ms: int = 0
    network: NetworkFault | None = None
    is_lost: bool = False
    """Whether there is no answer, because it is lost before anything happens."""
    is_deprecated: bool = False
    """Whether every answer, a refusal too, carries the headers of deprecated behaviour (D43)."""
    fault_headers: tuple[Header, ...] = ()

    def decision_has_come_about(self) -> None:
        """Note that what the scenario says has happened."""
        self.decision.has_come_about()
        self.entry.has_rule_acted = self.decision.rule is not None


class Step(NamedTuple):
    """A check, by name and as a function: it raises a Problem, or returns the stored answer of a replay."""

    check: Check
    run: Callable[[Passage, "Route", Call], Response | None]


@dataclass(frozen=True, slots=True)
class Route:
    """An operation, its handler, and the checks that its requests pass."""

    contract: Contract
    operation: OperationContract
    handler: Handler
    preparation: Preparation | None
    entrance: tuple[Step, ...]
    """Before the scenario is asked."""
    before_wait: tuple[Step, ...]
    after_wait: tuple[Step, ...]
    checks: tuple[Check, ...]
    """The names of all its checks, the handler's included."""


# The checks, in the order of D01 ---------------------------------------------------------------------------------------


def check_credential(passage: Passage, route: Route, call: Call) -> None:
    """401: the credential is neither revoked nor expired (section 5, rule 5)."""
    call.caller.check_credential(call.now)


def check_rate(passage: Passage, route: Route, call: Call) -> None:
    """429: the credential and its Team have not sent too many requests (section 8, D41)."""
    if passage.sandbox.rate_limits:
        call.caller.check_rate(call.now)


def check_profile(passage: Passage, route: Route, call: Call) -> None:
    """403: a write needs a full credential (section 5, rule 2)."""
    call.caller.check_profile(call.now)


def check_shape(passage: Passage, route: Route, call: Call) -> None:
    """400: query, Idempotency-Key and JSON are well-formed (D02, D03, D44)."""
    operation, request = route.operation, passage.request
    if request.query_string:
        call.query = parse_query(request.query_string, operation.query)
    if operation.is_idempotent:
        key = request.idempotency_key()
        passage.key_scope = KeyScope(call.caller.credential.id, operation.method, request.path, key)
    if operation.body is None:
        check_no_body(passage.body)
    else:
        request.check_encoding()
        call.intent = parse_json(passage.body, request.headers.get(b"content-type"))


def check_body(passage: Passage, route: Route, call: Call) -> None:
    """422: the body is what the contract says, and its fields agree with each other (D03 to D05, D14)."""
    name, body = route.operation.body, call.intent
    assert name is not None
    violations = route.contract.violations(name, body, first_only=len(passage.body or b"") > _LARGE_BODY_BYTES)
    if violations:
        remedy = "; ".join(violation.remedy for violation in violations[:LISTED_VIOLATIONS])
        raise Problem("invalid_input", listed(violations), remedy=remedy)
    call.intent = intent_of(name, body)
    passage.fingerprint = fingerprint(name, call.intent)


def check_idempotency(passage: Passage, route: Route, call: Call) -> Response | None:
    """Replay, 409 or 422: what the key is bound to already (section 4, D10 to D14)."""
    scope, records = passage.key_scope, passage.sandbox.idempotency
    assert scope is not None
    if records.is_held(scope):
        holding.release(passage.sandbox, scope)
        raise Problem(
            "idempotency_in_progress",
            "Idempotency-Key: found one whose request is still being admitted; expected a wait for its answer",
            remedy="wait until the first request has its answer, then send the same with the same key",
        )
    record = records.find(scope, call.now)
    if record is None:
        return None
    if record.fingerprint != passage.fingerprint:
        raise Problem(
            "idempotency_key_reused",
            "Idempotency-Key: found another intent than this key was used for; expected the same intent, or a new key",
            remedy="send a new Idempotency-Key, or the body that this key was first used with",
        )
    passage.entry.replay_of = dict(record.headers)[b"request-id"].decode()
    return Response(record.status, record.headers, record.body)


def check_pause(passage: Passage, route: Route, call: Call) -> None:
    """503: new writes are let in (section 7)."""
    call.caller.check_pause(call.now)


def check_subscription(passage: Passage, route: Route, call: Call) -> None:
    """403: creative writes need an active Subscription (section 5, rule 4; D20)."""
    call.caller.check_subscription()


def build_route(contract: Contract, operation: OperationContract) -> Route:
    """Return the route of an operation with its checks: the one list of the order of D01."""
    is_write = operation.method != "GET"
    has_body, is_idempotent = operation.body is not None, operation.is_idempotent
    entrance = (
        Step(Check.CREDENTIAL, check_credential),
        Step(Check.RATE, check_rate),
    )
    before_wait = [
        (is_write, Step(Check.PROFILE, check_profile)),
        (True, Step(Check.SHAPE, check_shape)),
        (has_body, Step(Check.BODY, check_body)),
        (is_idempotent, Step(Check.IDEMPOTENCY, check_idempotency)),
    ]
    after_wait = [
        (is_write, Step(Check.PAUSE, check_pause)),
        (is_idempotent, Step(Check.SUBSCRIPTION, check_subscription)),
    ]
    before = tuple(step for applies, step in before_wait if applies)
    after = tuple(step for applies, step in after_wait if applies)
    own = [step.check for step in (*entrance, *before, *after)]
    return Route(
        contract,
        operation,
        HANDLERS[operation.id],
        PREPARATIONS.get(operation.id),
        entrance,
        before,
        after,
        (Check.ROUTE, *own, *handler_checks(operation)),
    )
