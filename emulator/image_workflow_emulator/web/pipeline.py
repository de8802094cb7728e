"""How every request except the control plane's is answered: one straight coroutine, from
its route to its answer.

    body read (the last wait) -> clock read, sandbox settled
    -> checks, each noted as it is passed -> commit
    -> render once -> bind the Idempotency-Key

A scenario's fault is called at fixed moments between these (scenario/faults.py); one that
acts after the commit is decided when the request has been carried out. Up to the read
body no state is read that can change; from there to the answer nothing waits, so an
admission is atomic without a lock. The one exception is a wait *in* admission (image
work, a held request): the key is in progress meanwhile (D13), and everything is read
again after it.

Must not know what an operation does, nor any single fault or surface.
"""

from image_workflow_emulator.domain.idempotency import StoredAnswer
from image_workflow_emulator.domain.problems import (
    Problem,
    invalid_request,
    key_binding_codes,
)
from image_workflow_emulator.http.answers import Answer
from image_workflow_emulator.http.bodies import MAX_BODY_BYTES, ClientDisconnectedError
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.faults import NO_FAULT, Fault
from image_workflow_emulator.scenario.playbook import NOTHING_HAPPENS, Decision
from image_workflow_emulator.scenario.service_faults import ProblemFault
from image_workflow_emulator.service.sandbox import scenarios
from image_workflow_emulator.web.exchange import Exchange, SandboxReplacedError, Step
from image_workflow_emulator.web.fault_actions import FaultActions, fault_headers


async def answer(exchange: Exchange) -> Answer | None:
    """Return the answer to a request, also where it fails. None where its client left."""
    try:
        return await _attempt(exchange)
    except Problem as problem:
        refusal = _refuse(exchange, problem)
        reading = exchange.sandbox.readings.key_binding
        if problem.code in key_binding_codes(reading):
            _bind(exchange, refusal)
        return refusal
    except ClientDisconnectedError:
        exchange.record.outcome = "abandoned"
        return None
    except Exception as error:
        defect = exchange.head.internal_error(error, exchange.request_id)
        refusal = _refuse(exchange, defect)
        exchange.record.outcome = "failed"
        return refusal


def _refuse(exchange: Exchange, problem: Problem) -> Answer:
    _drop_expected_fault(exchange)
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if not problem.is_injected:
        headers = fault_headers(exchange, is_refusal=True)
    return exchange.refuse(problem, headers)


async def _attempt(exchange: Exchange) -> Answer:
    """Carry a request out, again from the start if its sandbox is replaced meanwhile."""
    has_waited = exchange.body.has_more and exchange.route.operation is not None
    if has_waited:
        await _read_body(exchange)
    is_given_up = False
    while True:
        exchange.enter(has_waited)
        if is_given_up and exchange.caller is not None:  # D77
            raise Problem(
                "idempotency_in_progress",
                "the sandbox was reset or replaced while this request was being "
                "admitted; nothing was done",
                remedy="send the same request again, with the same Idempotency-Key",
            )
        try:
            return await _carry_out(exchange)
        except SandboxReplacedError:
            has_waited = True
            is_given_up = exchange.key_scope is not None
            _begin_again(exchange)


def _begin_again(exchange: Exchange) -> None:
    """Go back to the first check: nothing is decided yet."""
    exchange.key_scope = None
    exchange.stored = None
    exchange.record.steps_passed = exchange.route.steps_passed
    exchange.facts = None
    exchange.obey(NOTHING_HAPPENS)


async def _carry_out(exchange: Exchange) -> Answer:
    """Check a request, commit it, and render its answer.

    Raises:
        Problem: a check refused it.
        SandboxReplacedError: its sandbox was replaced while it waited.
    """
    route = exchange.route
    record = exchange.record
    actions = FaultActions(exchange)
    if not exchange.is_off_record:
        _pass(exchange, route.entrance)
        _ask_scenario(exchange)
        ended = await exchange.fault.entrance(actions)
        if ended is not None:
            record.outcome = ended.outcome
            return ended.answer
    _pass(exchange, route.before_admission)
    if exchange.stored is not None:
        record.outcome = "replayed"
        _ask_scenario_again(exchange, is_done=exchange.stored.status < 400)
        return exchange.fault.answer(actions, exchange.stored)
    if route.prepare is not None or exchange.fault is not NO_FAULT:
        await _wait_in_admission(exchange)
    _pass(exchange, route.after_admission)
    exchange.fault.before_operation(actions)
    checked = _pass_own_checks(exchange)
    exchange.fault.before_commit(actions)
    result = route.commit(exchange, checked)
    record.is_committed = True
    record.outcome = "answered"
    _ask_scenario_again(exchange, is_done=True)
    rendered = exchange.vary(await route.render(exchange, result))
    _bind(exchange, rendered)
    return exchange.fault.answer(actions, rendered)


async def _read_body(exchange: Exchange) -> None:
    """Read the body of an operation: the last wait. One that is too large is not read."""
    announced_bytes = exchange.head.announced_bytes()
    record = exchange.record
    exchange.content = None
    if announced_bytes <= MAX_BODY_BYTES:
        exchange.content = await exchange.body.read()
    record.request_body = exchange.content
    if exchange.content is None:
        record.request_body_bytes = announced_bytes or exchange.body.size_bytes


def _pass(exchange: Exchange, steps: tuple[Step, ...]) -> None:
    """Make checks in their order, and note each that is passed, for the fault too."""
    fault = exchange.fault
    for check, run in steps:
        run(exchange)
        if exchange.stored is not None:
            return  # a replay: this check decided
        exchange.record.steps_passed += 1
        if fault is not NO_FAULT:
            fault.after_check(FaultActions(exchange), check)


def _pass_own_checks(exchange: Exchange) -> object:
    """Make the operation's own checks; return what the last one returned."""
    checked: object = None
    for _, check in exchange.route.own:
        checked = check(exchange.call, checked)
        exchange.record.steps_passed += 1
    return checked


def _ask_scenario(exchange: Exchange) -> None:
    """Ask once for a fault: the header Emulator-Fault, else the scenario."""
    header = exchange.record.fault_header
    if header is not None:
        decision = Decision(_requested_fault(header, exchange.route.codes))
    elif exchange.sandbox.playbooks:
        exchange.facts = exchange.request_facts()
        decision = scenarios.decide(exchange.sandbox, exchange.facts, exchange.now)
    else:
        return
    exchange.obey(decision)


def _ask_scenario_again(exchange: Exchange, *, is_done: bool) -> None:
    """Ask for a fault after the commit, where no other acts.

    `is_done`: the request was carried out, now or when it was first sent.
    """
    if exchange.facts is None:
        return
    if not is_done:
        _drop_expected_fault(exchange)
        return
    decision = scenarios.decide_after_commit(
        exchange.sandbox,
        exchange.facts,
        exchange.now,
    )
    if exchange.decision.rule is None or exchange.fault.needs_commit:
        exchange.obey(decision)


def _drop_expected_fault(exchange: Exchange) -> None:
    """Do nothing after the commit of a request that commits nothing."""
    if exchange.fault.needs_commit:
        exchange.obey(NOTHING_HAPPENS)


def _requested_fault(header: bytes, codes: frozenset[str]) -> Fault:
    """Read the header Emulator-Fault.

    Raises:
        Problem: invalid_request for a code that the operation cannot return.
    """
    code = header.decode("latin-1").strip()
    if code not in codes:
        expected = f"one of {', '.join(sorted(codes))}"
        remedy = "ask for a code that this operation can return"
        raise invalid_request("Emulator-Fault", excerpt(code), expected, remedy)
    return ProblemFault(code)


async def _wait_in_admission(exchange: Exchange) -> None:
    """Let the key be in progress during the wait (D13); then read time and state again."""
    records = exchange.sandbox.idempotency
    scope = exchange.key_scope
    if scope is not None:
        records.held.add(scope)
    try:
        await exchange.fault.admission(FaultActions(exchange))
        if exchange.route.prepare is not None:
            await exchange.route.prepare(exchange)
    finally:
        if scope is not None:
            records.held.discard(scope)
    exchange.refresh()


def _bind(exchange: Exchange, rendered: Answer) -> None:
    """Bind the key, where there is one, to the answer (D10)."""
    if exchange.key_scope is None or exchange.is_off_record:
        return
    stored = StoredAnswer(
        exchange.now,
        exchange.fingerprint,
        rendered.status,
        rendered.headers,
        rendered.body,
    )
    exchange.sandbox.idempotency.bind(exchange.key_scope, stored)
