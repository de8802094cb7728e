"""How every request except the control plane's is answered: one straight coroutine, from its route to its answer.

    body read (the last wait) -> clock read, sandbox settled -> checks, each noted as it is passed -> commit
    -> render once -> bind the Idempotency-Key

A scenario's fault is called at fixed moments between these (scenario/faults.py). Up to the read body
no state is read that can change; from there to the answer nothing waits, so an admission is atomic without a lock.
The one exception is a wait *in* admission (image work, a held request): the key is in progress meanwhile (D13), and
everything is read again after it.

Must not know what an operation does, nor any single fault or surface.
"""

from image_workflow_emulator.domain.idempotency import StoredAnswer
from image_workflow_emulator.domain.problems import (
    Problem,
    invalid_request,
    key_binding_codes,
)
from image_workflow_emulator.http.requests import (
    MAX_BODY_BYTES,
    ClientDisconnectedError,
)
from image_workflow_emulator.http.responses import Response
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault, ProblemFault
from image_workflow_emulator.scenario.playbook import NOTHING_HAPPENS, Decision
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.web.exchange import Exchange, SandboxReplacedError, Step


async def answer(exchange: Exchange) -> Response | None:
    """Turn a request into a response, and every failure on its way too. None where its client has left."""
    try:
        has_waited = exchange.body.has_more and exchange.route.operation is not None
        if has_waited:
            await _read_body(exchange)
        is_given_up = False
        while True:
            exchange.enter(has_waited)
            if is_given_up and exchange.caller is not None:  # D77
                raise Problem(
                    "idempotency_in_progress",
                    "the sandbox was reset or replaced while this request was being admitted; nothing was done",
                    remedy="send the same request again, with the same Idempotency-Key",
                )
            try:
                return await _carry_out(exchange)
            except SandboxReplacedError:
                has_waited, is_given_up = True, exchange.key_scope is not None
                # It begins again with the checks: nothing is decided yet.
                exchange.key_scope = exchange.stored = None
                exchange.record.steps_passed = exchange.route.steps_passed
                exchange.fault, exchange.decision = NO_FAULT, NOTHING_HAPPENS
    except Problem as problem:
        response = exchange.refuse(problem)
        is_binding = problem.code in key_binding_codes(
            exchange.sandbox.readings.key_binding
        )
        return _bind(exchange, response) if is_binding else response
    except ClientDisconnectedError:
        exchange.record.outcome = "abandoned"
        return None
    except Exception as error:
        response = exchange.refuse(
            exchange.request.internal_error(error, exchange.request_id)
        )
        exchange.record.outcome = "failed"
        return response


async def _carry_out(exchange: Exchange) -> Response:
    """Check a request, commit it, and render its answer. Raises Problem, SandboxReplacedError."""
    route, record, sandbox = exchange.route, exchange.record, exchange.sandbox
    if not exchange.is_off_record:
        _pass(exchange, route.entrance)
        if sandbox.playbooks or record.fault_header is not None:
            _ask_scenario(exchange)
            lost = await exchange.fault.entrance(exchange)
            if lost is not None:
                return lost
    _pass(exchange, route.before_admission)
    if exchange.stored is not None:
        record.outcome = "replayed"
        return exchange.fault.answer(exchange, exchange.stored)
    if route.prepare is not None or exchange.fault is not NO_FAULT:
        await _wait_in_admission(exchange)
    _pass(exchange, route.after_admission)
    exchange.fault.before_operation(exchange)
    found = None
    for _, check in route.own:
        found = check(exchange.call, found)
        record.steps_passed += 1
    exchange.fault.before_commit(exchange)
    result = route.commit(exchange, found)
    record.is_committed, record.outcome = True, "answered"
    response = exchange.varied(await route.render(exchange, result))
    return exchange.fault.answer(exchange, _bind(exchange, response))


async def _read_body(exchange: Exchange) -> None:
    """Read the body of an operation: the last wait. One that is too large is not read."""
    announced, record = exchange.request.announced_bytes(), exchange.record
    exchange.content = record.request_body = (
        None if announced > MAX_BODY_BYTES else await exchange.body.read()
    )
    if exchange.content is None:
        record.request_body_bytes = announced or exchange.body.size_bytes


def _pass(exchange: Exchange, steps: tuple[Step, ...]) -> None:
    """Make checks in their order, and note each that is passed, for the fault too."""
    record, fault = exchange.record, exchange.fault
    for check, run in steps:
        run(exchange)
        if exchange.stored is not None:  # a replay: this check decided
            return
        record.steps_passed += 1
        if fault is not NO_FAULT:
            fault.after_check(exchange, check)


def _ask_scenario(exchange: Exchange) -> None:
    """Ask once for a fault: the header Emulator-Fault, else the scenario."""
    header = exchange.record.fault_header
    if header is not None:
        decision = Decision(_requested_fault(header, exchange.route.codes))
    else:
        decision = scenarios.decide(
            exchange.sandbox, exchange.request_facts(), exchange.now
        )
    exchange.decision, exchange.fault, exchange.record.rule = (
        decision,
        decision.fault,
        decision.rule,
    )


def _requested_fault(header: bytes, codes: frozenset[str]) -> Fault:
    """Read the header Emulator-Fault. Raises Problem invalid_request for a code that the operation cannot return."""
    code = header.decode("latin-1").strip()
    if code not in codes:
        expected, remedy = (
            f"one of {', '.join(sorted(codes))}",
            "ask for a code that this operation can return",
        )
        raise invalid_request("Emulator-Fault", excerpt(code), expected, remedy)
    return ProblemFault(code)


async def _wait_in_admission(exchange: Exchange) -> None:
    """Let the key be in progress during the wait (D13); then read time and state again."""
    records, scope = exchange.sandbox.idempotency, exchange.key_scope
    if scope is not None:
        records.held.add(scope)
    try:
        await exchange.fault.admission(exchange)
        if exchange.route.prepare is not None:
            await exchange.route.prepare(exchange)
    finally:
        if scope is not None:
            records.held.discard(scope)
    exchange.refresh()


def _bind(exchange: Exchange, response: Response) -> Response:
    """Bind the key, where there is one, to the answer (D10)."""
    if exchange.key_scope is not None and not exchange.is_off_record:
        record = StoredAnswer(
            exchange.now,
            exchange.fingerprint,
            response.status,
            response.headers,
            response.body,
        )
        exchange.sandbox.idempotency.bind(exchange.key_scope, record)
    return response
