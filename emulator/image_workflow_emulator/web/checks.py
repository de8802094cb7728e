"""The checks that a request under `/v1` passes before its operation's own, and their
order: the one list of D01.

The order of the checks is the order of the errors. The service room has the checks that
are an operation's own.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from image_workflow_emulator.contract import (
    Contract,
    OperationContract,
    QueryParameter,
)
from image_workflow_emulator.documents.schemas import LARGE_BODY_BYTES
from image_workflow_emulator.documents.violations import MAX_LISTED_VIOLATIONS, listed
from image_workflow_emulator.domain.idempotency import Scope as KeyScope
from image_workflow_emulator.domain.intents import fingerprint, intent_of
from image_workflow_emulator.domain.problems import Check, Problem, invalid_request
from image_workflow_emulator.http.answers import Answer
from image_workflow_emulator.http.heads import Head
from image_workflow_emulator.http.json_bodies import check_no_body, parse_json
from image_workflow_emulator.http.queries import read_query
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.sandbox import admission
from image_workflow_emulator.service.sandbox.calls import Call
from image_workflow_emulator.web.exchange import Exchange, Step
from image_workflow_emulator.web.holds import end_hold

_LIMIT_DIGITS = 9
"""More digits than the largest `limit` has; a number of more is as much above it."""


class OperationSteps(NamedTuple):
    """The checks of an operation before its own."""

    entrance: tuple[Step, ...]
    before_admission: tuple[Step, ...]
    after_admission: tuple[Step, ...]


def build_steps(contract: Contract, operation: OperationContract) -> OperationSteps:
    """Return an operation's checks, in the order of D01."""
    entrance = (
        Step(Check.CREDENTIAL, _check_credential),
        _of_call(Check.RATE, admission.check_rate),
    )
    before: list[Step] = []
    after: list[Step] = []
    if operation.is_write:
        before.append(_of_call(Check.PROFILE, admission.check_profile))
    before.append(Step(Check.SHAPE, _check_of_shape(operation)))
    if operation.body is not None:
        before.append(Step(Check.BODY, _check_of_body(contract, operation.body)))
    if operation.takes_key:
        before.append(Step(Check.IDEMPOTENCY, _check_idempotency))
    if operation.is_write:
        after.append(_of_call(Check.PAUSE, admission.check_pause))
    if operation.takes_key:
        after.append(_of_call(Check.SUBSCRIPTION, admission.check_subscription))
    return OperationSteps(entrance, tuple(before), tuple(after))


def _of_call(check: Check, run: Callable[[Call], None]) -> Step:
    return Step(check, lambda exchange: run(exchange.call))


# Credential ---------------------------------------------------------------------------


def _check_credential(exchange: Exchange) -> None:
    """401: the key is that of a credential, which is active (section 5)."""
    if exchange.caller is None:
        raise Problem(
            "authentication_required",
            "Authorization: found no valid key; expected `Bearer` and an API key of "
            "this emulator",
            remedy=_remedy_for_key(exchange.head),
        )
    admission.check_credential(exchange.call)


def _remedy_for_key(head: Head) -> str:
    if b"authorization" not in head.headers:
        return "send the header Authorization with `Bearer` and an API key"
    if b"authorization" in head.repeated:
        return "send the header Authorization once"
    if head.bearer_key() is None:
        return "write `Bearer` and a space before the API key"
    return "use an API key of this emulator, which GET /_emulator/teams lists"


# Shape --------------------------------------------------------------------------------


def _check_of_shape(operation: OperationContract) -> Callable[[Exchange], None]:
    """400: query, Idempotency-Key and JSON are well-formed (D02, D03, D44)."""
    method = operation.method
    takes_key = operation.takes_key
    takes_body = operation.body is not None

    def check(exchange: Exchange) -> None:
        head = exchange.head
        call = exchange.call
        if head.query_string:
            clamps = call.sandbox.readings.page_limit == "clamps"
            parameters = operation.query
            call.query = parse_query(head.query_string, parameters, clamps=clamps)
        if takes_key:
            credential_id = call.caller.credential.id
            key = head.idempotency_key()
            exchange.key_scope = KeyScope(credential_id, method, head.path, key)
        if takes_body:
            head.check_encoding()
            call.intent = parse_json(exchange.content, head.content_type())
        else:
            check_no_body(exchange.content)

    return check


def parse_query(
    query_string: bytes,
    parameters: Mapping[str, QueryParameter],
    *,
    clamps: bool,
) -> dict[str, str]:
    """Return the query of an operation, checked against its parameters (D02).

    `clamps`: a number above its range is cut to the greatest.

    Raises:
        Problem: invalid_request.
    """
    values = read_query(query_string, parameters)
    for name, text in values.items():
        parameter = parameters[name]
        if clamps and _is_above_range(text, parameter):
            values[name] = str(parameter.maximum)
            continue
        expected = parameter.unmet(text)
        if expected is not None:
            remedy = f"set the parameter {name} to {expected}, or remove it"
            raise invalid_request(name, excerpt(text), expected, remedy)
    return values


def _is_above_range(text: str, parameter: QueryParameter) -> bool:
    if parameter.type != "integer" or not text.isdecimal():
        return False
    return int(text[:_LIMIT_DIGITS]) > parameter.maximum


# Body ---------------------------------------------------------------------------------


def _check_of_body(contract: Contract, name: str) -> Callable[[Exchange], None]:
    """422: the body is what the contract says, and its fields agree with each other (D03
    to D05, D14).
    """

    def check(exchange: Exchange) -> None:
        call = exchange.call
        is_large = len(exchange.content or b"") > LARGE_BODY_BYTES
        violations = contract.violations(name, call.intent, is_large)
        if violations:
            remedies = [violation.remedy for violation in violations]
            remedy = "; ".join(remedies[:MAX_LISTED_VIOLATIONS])
            raise Problem("invalid_input", listed(violations), remedy=remedy)
        readings = call.sandbox.readings
        sent = call.intent
        call.intent = intent_of(name, sent, readings)
        if readings.intent == "as-sent":  # D14
            exchange.fingerprint = msgspec.json.encode(sent)
        else:
            exchange.fingerprint = fingerprint(call.intent)

    return check


# Idempotency --------------------------------------------------------------------------


def _check_idempotency(exchange: Exchange) -> None:
    """409 or 422, or the stored answer: the key is bound already (section 4, D10 to D14).
    503: no more keys can be bound (D58).
    """
    scope = exchange.key_scope
    assert scope is not None
    records = exchange.sandbox.idempotency
    if scope in records.held:
        end_hold(exchange.sandbox, scope)
        raise Problem(
            "idempotency_in_progress",
            "the first request with this Idempotency-Key is still being processed",
            remedy="wait until the first request has its answer, then send the same "
            "request with the same key",
        )
    record = records.find(scope, exchange.now)
    if record is None:
        admission.check_records(exchange.call)
        return
    if record.fingerprint != exchange.fingerprint:
        raise Problem(
            "idempotency_key_reused",
            "this Idempotency-Key was first used with another intent",
            remedy="send a new Idempotency-Key, or the body that this key was first "
            "used with",
        )
    exchange.stored = Answer(record.status, record.headers, record.body)  # D11
    exchange.record.replay_of = dict(record.headers)[b"request-id"].decode()
