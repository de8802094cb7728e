"""Why a request ended as it did (interfaces, section 6): its checks in order, what decided, and what would have helped.

Words what an entry of the journal remembers; decides nothing itself, and looks at no state but the journal's.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import orjson

from emulator.domain.problems import CATALOGUE, HANDLER_CHECKS, KEY_BINDING_CODES, Check, Source, count_of, source_of
from emulator.scenario.faults import DeprecatedFault, Fault, HoldFault, NetworkFault, ProblemFault, WorkOutcome
from emulator.scenario.rules import Rule, WorkRule
from emulator.service.journal import GONE_NOTE, Entry, Journal

Outcome = Literal["answered", "replayed", "refused", "replaced", "failed", "lost", "abandoned", "in flight"]
"""`replaced`: a scenario hid what was done behind a problem. `lost`: a scenario lost the request before anything was
done. `failed`: by a defect of the emulator. `abandoned`: by its client, before it was whole."""

_HANDLED: Final = frozenset(HANDLER_CHECKS)
_ONLY_FOR_WORK: Final = frozenset({Check.REFERENCES, Check.CONCURRENCY, Check.CREDITS})
"""What a change of an ingredient's metadata does not need."""
_BEFORE_SCENARIO: Final = (Check.ROUTE, Check.CREDENTIAL, Check.RATE)
_BEFORE_HOLD: Final = (*_BEFORE_SCENARIO, Check.PROFILE, Check.SHAPE, Check.BODY, Check.IDEMPOTENCY)


class Decision(NamedTuple):
    """Which checks were passed, and the one that decided, if it was one."""

    passed: frozenset[Check]
    decided: Check | None = None
    is_known: bool = True
    """Whether it is known how far the request came."""


def explain(journal: Journal, entry: Entry) -> dict[str, Any]:
    """Return the explanation of an entry, as JSON."""
    outcome, decision = outcome_of(entry), _decision_of(entry)
    related = _related_entry(journal, entry)
    rules = [describe_rule(rule) | {"did": _what_rule_did(rule, entry)} for rule in rules_of(journal, entry)]
    return {
        "outcome": outcome,
        "summary": _summary(entry, outcome, related),
        "checks": _describe_checks(entry, decision),
        "decided_by": _decided_by(entry, decision),
        "remedy": _remedy(entry),
        "recovery": CATALOGUE[entry.code].recovery if entry.code else None,
        "effects": list(_effects(entry, outcome)),
        "rules": rules,
        "related": related,
    }


def outcome_of(entry: Entry) -> Outcome:
    """Return in a word how a request ended."""
    if not entry.is_complete:
        return "in flight"
    if entry.status is None:
        return "abandoned" if entry.note == GONE_NOTE else "lost"
    if entry.replay_of is not None:
        return "replayed"
    if entry.problem is None:
        return "answered"
    if entry.problem.code == "internal_error" and not entry.is_injected:
        return "failed"
    return "replaced" if _is_replaced(entry) else "refused"


def _is_replaced(entry: Entry) -> bool:
    fault = entry.rule.fault if entry.rule else None
    return entry.is_injected and isinstance(fault, ProblemFault) and fault.at == "after_commit"


# The checks -----------------------------------------------------------------------------------------------------------


def _decision_of(entry: Entry) -> Decision:
    checks, outcome, problem = entry.checks, outcome_of(entry), entry.problem
    own = frozenset(check for check in checks if check not in _HANDLED)
    match outcome:
        case "in flight":
            is_held = entry.rule is not None and isinstance(entry.rule.fault, HoldFault)
            return Decision(frozenset(_BEFORE_HOLD if is_held else (Check.ROUTE,)) & frozenset(checks))
        case "abandoned":
            return Decision(frozenset({Check.ROUTE}) & own)
        case "lost":
            return Decision(frozenset(_BEFORE_SCENARIO))
        case "failed":
            return Decision(frozenset(), is_known=False)
        case "replayed":
            return Decision(_before(checks, Check.IDEMPOTENCY), Check.IDEMPOTENCY)
        case "answered" | "replaced":
            is_metadata = entry.status == 200 and Check.CONCURRENCY in checks
            return Decision(frozenset(checks) - (_ONLY_FOR_WORK if is_metadata else frozenset()))
    assert problem is not None, "what was refused has its problem"
    if problem.code == "internal_error":
        return Decision(own)
    check = problem.check or problem.kind.check
    if entry.is_injected and (check in _HANDLED or check not in checks):
        # A scenario's problem is raised where the service would raise it: in a read before what the operation itself
        # checks, in a write once all of that has been passed.
        return Decision(own if entry.method == "GET" else frozenset(checks), check)
    return Decision(_before(checks, check), check)


def _before(checks: tuple[Check, ...], decided: Check) -> frozenset[Check]:
    return frozenset(checks[: checks.index(decided)] if decided in checks else ())


def _describe_checks(entry: Entry, decision: Decision) -> list[dict[str, Any]]:
    checks, decided = entry.checks, decision.decided
    if decided is not None and decided not in checks:
        own, last = ([check for check in checks if (check in _HANDLED) is handled] for handled in (False, True))
        checks = (*own, decided, *last)
    return [_describe_check(check, entry, decision) for check in checks]


def _describe_check(check: Check, entry: Entry, decision: Decision) -> dict[str, Any]:
    if check is decision.decided:
        code = entry.problem.code if entry.problem else None
        result, detail, source = "decided", _detail(entry), source_of(check, code)
    elif check in decision.passed:
        result, detail, source = "passed", None, source_of(check)
    else:
        result, detail, source = "not reached" if decision.is_known else "not known", None, source_of(check)
    return {"check": check.value, "result": result, "detail": detail, "source": _describe_source(source)}


def _describe_source(source: Source) -> dict[str, Any]:
    return {"section": source.section, "decisions": source.decisions}


def _detail(entry: Entry) -> str | None:
    if entry.problem is not None:
        return entry.problem.detail
    return None if entry.replay_of is None else "Idempotency-Key: found the same intent that this key is bound to"


def _decided_by(entry: Entry, decision: Decision) -> dict[str, Any] | None:
    """Say who decided, at which check, what was found there and why it is checked; None where nothing was refused."""
    if decision.decided is None and entry.problem is None:
        return None
    code = entry.problem.code if entry.problem else None
    check = decision.decided
    source = source_of(check or Check.ROUTE, code)
    who = "the service" if not entry.is_injected else "a scenario" if entry.rule else "the header Emulator-Fault"
    return {
        "check": check.value if check else None,
        "who": who,
        "detail": _detail(entry),
        "source": _describe_source(source),
    }


# What would have helped, and what happened ----------------------------------------------------------------------------


def _remedy(entry: Entry) -> str | None:
    problem = entry.problem
    if problem is None:
        return "send it with a new Idempotency-Key, once its cause is mended" if entry.code else None
    if not entry.is_injected:
        return problem.remedy or problem.kind.recovery
    if entry.rule is None:
        return "leave out the header Emulator-Fault"
    return f"send it when the rule {entry.rule.name!r} is not due, or end the scenario"


def _summary(entry: Entry, outcome: Outcome, related: Mapping[str, Any] | None) -> str:
    fault = entry.rule.fault if entry.rule else None
    is_lost = outcome != "lost" and isinstance(fault, NetworkFault) and fault.kind in _LOSSES
    lost = " But a scenario lost the answer on the wire." if is_lost and entry.is_complete else ""
    return _verdict(entry, outcome, related) + lost


def _verdict(entry: Entry, outcome: Outcome, related: Mapping[str, Any] | None) -> str:
    problem = entry.problem
    match outcome:
        case "in flight":
            return "It has no answer yet."
        case "abandoned":
            return "Its client went away before it was whole; nothing was done."
        case "lost":
            return "A scenario lost it on the wire before anything was done; it has no answer."
        case "replayed":
            first = f"request {related['sequence']}" if related and related["sequence"] else "a request before"
            return f"{entry.status}: the stored answer of {first} was sent again."
        case "answered":
            return f"{entry.status}: it passed every check."
    assert problem is not None, "what was not done has its problem"
    answer = f"{entry.status} {problem.code}"
    if outcome == "failed":
        return f"{answer}: {problem.detail}."
    if not entry.is_injected:
        return f"{answer}: refused by the check of {problem.check}: {problem.detail}."
    asked = "the header Emulator-Fault" if entry.rule is None else f"the scenario's rule {_place_of(entry.rule)}"
    when = "after everything had been done" if outcome == "replaced" else "before anything was done"
    return f"{answer}: asked for by {asked}, {when}."


def _place_of(rule: Rule) -> str:
    return f"{rule.name!r} ({rule.file}, line {rule.line})" if rule.file else repr(rule.name)


def _effects(entry: Entry, outcome: Outcome) -> Iterator[str]:
    """Tell what happened in the sandbox."""
    problem = entry.problem
    if outcome == "answered":
        yield from _effects_of_answer(entry)
    elif outcome == "replaced":
        yield "the request was carried out, though its answer says otherwise"
    elif outcome == "refused" and (entry.operation, problem and problem.check) == ("completeUpload", Check.RULES):
        yield "the Upload Session has failed"
    elif outcome in ("refused", "replayed", "lost", "abandoned"):
        yield "nothing was changed"
    if entry.idempotency_key is None or entry.status is None:
        return
    if outcome in ("answered", "replaced") or (problem is not None and problem.code in KEY_BINDING_CODES):
        yield "the Idempotency-Key is bound to this request for 24 hours"
    elif problem is not None and problem.check is not Check.IDEMPOTENCY:
        yield "the Idempotency-Key is as it was: the request may be sent again with it"


def _effects_of_answer(entry: Entry) -> Iterator[str]:
    if entry.operation is None or entry.method == "GET":
        yield "nothing was changed" if entry.method in ("GET", "HEAD") else "the bytes were accepted"
        return
    body = answer_of(entry)
    if entry.status == 202:
        reserved = body.get("credits", {}).get("reserved", 0)
        yield f"the {str(body.get('object')).capitalize()} {body.get('id')} was admitted"
        yield (
            f"{count_of(reserved, 'Credit')} reserved; charged by what is completed" if reserved else "nothing reserved"
        )
        if "outputs" in body:
            yield f"{count_of(len(body['outputs']), 'output slot')} allocated"
    elif entry.status == 204 or body.get("object") == "asset_deletion":
        yield f"{entry.path.rpartition('/')[2]} was deleted"
    else:
        yield f"{body.get('id', 'it')} was {'created' if entry.status == 201 else 'changed'}"


def answer_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that was answered; an empty one if nothing was, or it is not kept."""
    answer: dict[str, Any] = orjson.loads(entry.response_body or b"{}")
    return answer


# Scenarios ------------------------------------------------------------------------------------------------------------


def rules_of(journal: Journal, entry: Entry) -> list[Rule]:
    """Return the rules that were due: for the request itself, and for the work that it admitted."""
    rules: list[Rule] = [] if entry.rule is None else [entry.rule]
    if journal.work_rules and entry.status == 202 and entry.replay_of is None:
        work_rule = journal.work_rules.get(answer_of(entry).get("id", ""))
        if work_rule is not None:
            rules.append(work_rule)
    return rules


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Return where a rule stands."""
    return {"name": rule.name, "file": rule.file or None, "line": rule.line or None}


def _what_rule_did(rule: Rule, entry: Entry) -> str:
    return _what_becomes_of_work(rule.outcome) if isinstance(rule, WorkRule) else _what_fault_did(rule.fault, entry)


def _what_fault_did(fault: Fault, entry: Entry) -> str:
    match fault:
        case ProblemFault(code=code):
            return (
                f"answered with {code}" if entry.has_rule_acted else f"came to nothing: decided before {code} was due"
            )
        case HoldFault() if entry.is_complete and not entry.has_rule_acted:
            return "came to nothing: decided before it was to be held"
        case HoldFault(duration_ms=duration_ms):
            return f"keeps it in admission for {duration_ms} ms of emulator time, once it comes that far"
        case NetworkFault(kind="latency", latency_ms=latency_ms):
            return f"delayed the answer by {latency_ms} ms of real time"
        case NetworkFault(kind=kind, at=at):
            is_done = at == "after_commit" or entry.method == "GET"
            return f"{_LOSSES[kind]}, {'after everything had been done' if is_done else 'before anything was done'}"
        case DeprecatedFault():
            return "added the headers of deprecated behaviour"
    return "nothing"  # pragma: no cover (every rule of a scenario that is loaded has a fault)


_LOSSES: Final[Mapping[str, str]] = {
    "reset": "reset the connection in place of an answer",
    "truncate": "broke the answer off half way",
    "stall": "never sent the answer",
    "garbage": "sent garbage in place of the answer",
}


def _what_becomes_of_work(outcome: WorkOutcome) -> str:
    parts = [f"output {slot} fails with {code}" for slot, code in sorted(outcome.outputs.items())]
    if outcome.fail is not None:
        parts.append(f"the work fails with {outcome.fail}")
    if outcome.duration_ms is not None:
        parts.append(f"the work takes {outcome.duration_ms} ms")
    if outcome.stall:
        parts.append("the work never ends")
    if outcome.scene is not None:
        parts.append(f"the source is taken for {outcome.scene}")
    return ", ".join(parts) or "nothing"


# Other requests -------------------------------------------------------------------------------------------------------


def _related_entry(journal: Journal, entry: Entry) -> dict[str, Any] | None:
    """Name the request that this one's Idempotency-Key belongs to."""
    if entry.replay_of is not None:
        return _describe_related(journal.original_of(entry), entry.replay_of, "its answer was stored, and sent again")
    code = entry.problem.code if entry.problem and not entry.is_injected else None
    if code == "idempotency_key_reused":
        found = next((other for other in _same_key(journal, entry) if _binds(other)), None)
        return _describe_related(found, None, "its intent is what the key is bound to")
    if code == "idempotency_in_progress":
        found = next((other for other in _same_key(journal, entry) if _was_in_flight(other, entry)), None)
        return _describe_related(found, None, "it was being admitted with this key")
    return None


def _describe_related(entry: Entry | None, request_id: str | None, why: str) -> dict[str, Any] | None:
    if entry is None:
        return None if request_id is None else {"sequence": None, "request_id": request_id, "why": why}
    return {"sequence": entry.sequence, "request_id": entry.answered_id, "why": why}


def _same_key(journal: Journal, entry: Entry) -> Iterator[Entry]:
    """Go through the earlier requests with the same scope and key, from the newest on."""
    for other in journal.newest_first():
        if other.sequence < entry.sequence and _key_scope(other) == _key_scope(entry):
            yield other


def _key_scope(entry: Entry) -> tuple[object, ...]:
    credential_id = entry.caller.credential.id if entry.caller else None
    return credential_id, entry.method, entry.path, entry.idempotency_key


def _binds(entry: Entry) -> bool:
    is_done = outcome_of(entry) in ("answered", "replaced")
    return is_done or (entry.problem is not None and entry.problem.code in KEY_BINDING_CODES)


def _was_in_flight(entry: Entry, later: Entry) -> bool:
    return entry.duration_ms is None or entry.arrived_ms + entry.duration_ms > later.arrived_ms
