"""The checks that a request under `/v1` passes before its operation's own, and their order: the one list of D01.

The order of the checks is the order of the errors. The service room has the checks that are an operation's own.
"""

from collections.abc import Callable, Mapping

from image_workflow_emulator.contract import Contract, OperationContract, QueryParameter
from image_workflow_emulator.documents.schemas import (
    LARGE_BODY_BYTES,
    MAX_LISTED_VIOLATIONS,
    listed,
)
from image_workflow_emulator.domain.idempotency import Scope as KeyScope
from image_workflow_emulator.domain.intents import fingerprint, intent_of
from image_workflow_emulator.domain.problems import Check, Problem, invalid_request
from image_workflow_emulator.http.answers import Answer, json_bytes
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.json_bodies import check_no_body, parse_json
from image_workflow_emulator.http.queries import read_query
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox import admission
from image_workflow_emulator.service.sandbox.calls import Call
from image_workflow_emulator.web.exchange import Exchange, Step
from image_workflow_emulator.web.holds import end_hold


def build_steps(
    contract: Contract, operation: OperationContract
) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[Step, ...]]:
    """Return an operation's checks: at the entrance, before the wait in admission, and after it."""
    before, after = (
        [_of_call(Check.PROFILE, admission.check_profile)]
        if operation.is_write
        else [],
        [],
    )
    before.append(Step(Check.SHAPE, _check_of_shape(operation)))
    if operation.body is not None:
        before.append(Step(Check.BODY, _check_of_body(contract, operation.body)))
    if operation.takes_key:
        before.append(Step(Check.IDEMPOTENCY, _check_idempotency))
    if operation.is_write:
        after.append(_of_call(Check.PAUSE, admission.check_pause))
    if operation.takes_key:
        after.append(_of_call(Check.SUBSCRIPTION, admission.check_subscription))
    entrance = (
        Step(Check.CREDENTIAL, _check_credential),
        _of_call(Check.RATE, admission.check_rate),
    )
    return entrance, tuple(before), tuple(after)


def _of_call(check: Check, run: Callable[[Call], None]) -> Step:
    return Step(check, lambda exchange: run(exchange.call))


def _check_credential(exchange: Exchange) -> None:
    """401: the key is that of a credential, which is active (section 5)."""
    if exchange.caller is None:
        raise Problem(
            "authentication_required",
            "Authorization: found no valid key; expected `Bearer` and an API key of this emulator",
            remedy=_remedy_for_key(exchange.head),
        )
    admission.check_credential(exchange.call)


def _remedy_for_key(request: Head) -> str:
    if b"authorization" not in request.headers:
        return "send the header Authorization with `Bearer` and an API key"
    if b"authorization" in request.repeated:
        return "send the header Authorization once"
    if request.bearer_key() is None:
        return "write `Bearer` and a space before the API key"
    return "use an API key of this emulator, which GET /_emulator/teams lists"


def _check_of_shape(operation: OperationContract) -> Callable[[Exchange], None]:
    """400: query, Idempotency-Key and JSON are well-formed (D02, D03, D44)."""
    has_key, has_body, method = (
        operation.takes_key,
        operation.body is not None,
        operation.method,
    )

    def check(exchange: Exchange) -> None:
        request, call = exchange.head, exchange.call
        if request.query_string:
            clamps = call.sandbox.readings.page_limit == "clamps"
            call.query = parse_query(
                request.query_string, operation.query, clamps=clamps
            )
        if has_key:
            exchange.key_scope = KeyScope(
                call.caller.credential.id,
                method,
                request.path,
                request.idempotency_key(),
            )
        if has_body:
            request.check_encoding()
            call.intent = parse_json(exchange.content, request.content_type())
        else:
            check_no_body(exchange.content)

    return check


def parse_query(
    query_string: bytes,
    parameters: Mapping[str, QueryParameter],
    *,
    clamps: bool = False,
) -> dict[str, str]:
    """Read the query of an operation, checked against its parameters (D02). `clamps`: a number above its range is cut.

    Raises:
        Problem: invalid_request.
    """
    given = read_query(query_string, parameters)
    for name, value in given.items():
        if (
            clamps
            and parameters[name].type == "integer"
            and value.isdecimal()
            and int(value[:9]) > parameters[name].maximum
        ):
            given[name] = str(parameters[name].maximum)
            continue
        expected = parameters[name].unmet(value)
        if expected is not None:
            remedy = f"set the parameter {name} to {expected}, or remove it"
            raise invalid_request(name, excerpt(value), expected, remedy)
    return given


def _check_of_body(contract: Contract, name: str) -> Callable[[Exchange], None]:
    """422: the body is what the contract says, and its fields agree with each other (D03 to D05, D14)."""

    def check(exchange: Exchange) -> None:
        call, content = exchange.call, exchange.content or b""
        violations = contract.violations(
            name, call.intent, len(content) > LARGE_BODY_BYTES
        )
        if violations:
            remedy = "; ".join(
                violation.remedy for violation in violations[:MAX_LISTED_VIOLATIONS]
            )
            raise Problem("invalid_input", listed(violations), remedy=remedy)
        readings, sent = call.sandbox.readings, call.intent
        call.intent = intent_of(name, sent, readings)
        exchange.fingerprint = (
            json_bytes(sent)
            if readings.intent == "as-sent"
            else fingerprint(call.intent)
        )  # D14

    return check


def _check_idempotency(exchange: Exchange) -> None:
    """409 or 422, or the stored answer: the key is bound already (section 4, D10 to D14). 503: no more can be (D58)."""
    scope, records = exchange.key_scope, exchange.sandbox.idempotency
    assert scope is not None
    if scope in records.held:
        end_hold(exchange.sandbox, scope)
        raise Problem(
            "idempotency_in_progress",
            "the first request with this Idempotency-Key is still being processed",
            remedy="wait until the first request has its answer, then send the same request with the same key",
        )
    record = records.find(scope, exchange.now)
    if record is None:
        admission.check_records(exchange.call)
        return
    if record.fingerprint != exchange.fingerprint:
        raise Problem(
            "idempotency_key_reused",
            "this Idempotency-Key was first used with another intent",
            remedy="send a new Idempotency-Key, or the body that this key was first used with",
        )
    exchange.stored = Answer(record.status, record.headers, record.body)  # D11
    exchange.record.replay_of = dict(record.headers)[b"request-id"].decode()
