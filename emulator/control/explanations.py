"""Why a request ended as it did: its checks in order, what decided, and the remedy.

Words what the exchange noted in an entry of the journal, and finds the other entry that its Idempotency-Key belongs to.
Decides nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from emulator.documents.complaints import sentence
from emulator.domain.problems import CATALOGUE, KEY_BINDING_CODES, Cause, Check, Source, source_of
from emulator.kernel.timestamps import format_timestamp
from emulator.kernel.wording import count_of
from emulator.scenario.rules import Rule
from emulator.service.journal import Entry, Journal


def explain(journal: Journal, entry: Entry) -> dict[str, Any]:
    """Return the explanation of an entry, as JSON."""
    related = _related_entry(journal, entry)
    return {
        "outcome": entry.outcome,
        "summary": _summary(entry, related),
        "checks": [_describe_check(check, entry) for check in _checks(entry)],
        "decided_by": _decided_by(entry),
        "remedy": remedy_of(entry),
        "recovery": CATALOGUE[entry.code].recovery if entry.code else None,
        "effects": list(_effects(entry)),
        "rules": [describe_rule(rule) | {"did": did} for rule, did in _what_rules_did(entry)],
        "related": related,
    }


# The checks -----------------------------------------------------------------------------------------------------------


def _decided(entry: Entry) -> Check | None:
    """Return the check that decided how the request ended; None where every check was passed, or none decided."""
    if entry.outcome == "replayed":
        return Check.IDEMPOTENCY
    if entry.outcome != "refused" or entry.problem is None or entry.problem.code == "internal_error":
        return None
    return entry.problem.check


def _checks(entry: Entry) -> list[Check]:
    """Return the checks of the operation, with the one that decided where a scenario brought it in, in their order."""
    decided = _decided(entry)
    if decided is None or decided in entry.checks:
        return list(entry.checks)
    order = list(Check)
    return sorted((*entry.checks, decided), key=order.index)


def _describe_check(check: Check, entry: Entry) -> dict[str, Any]:
    result, detail, code = "not reached", None, None
    if check is _decided(entry):
        result, detail, code = "decided", _detail(entry), entry.problem.code if entry.problem else None
    elif check in entry.passed:
        result = "passed"
    return {
        "check": check.value,
        "result": result,
        "detail": detail,
        "source": _describe_source(source_of(check, code)),
    }


def _describe_source(source: Source) -> dict[str, Any]:
    return {"section": source.section, "decisions": source.decisions}


def _detail(entry: Entry) -> str | None:
    if entry.problem is not None:
        return entry.problem.detail
    return None if entry.replay_of is None else "Idempotency-Key: found the same intent that this key is bound to"


def _decided_by(entry: Entry) -> dict[str, Any] | None:
    """Return what decided, at which check, what was found and why it is checked; None where nothing was refused."""
    check = _decided(entry)
    if check is None and entry.problem is None:
        return None
    source = source_of(check or Check.ROUTE, entry.problem.code if entry.problem else None)
    who = "the service" if not entry.is_injected else "a scenario" if entry.rule else "the header Emulator-Fault"
    return {
        "check": check.value if check else None,
        "who": who,
        "detail": _detail(entry),
        "source": _describe_source(source),
        "timeline": _describe_cause(entry),
    }


def _describe_cause(entry: Entry) -> dict[str, Any] | None:
    """Return where the change of a timeline stands that the refusal comes from, and when it was made."""
    cause = entry.problem.cause if entry.problem else None
    if cause is None:
        return None
    return _describe_place(cause) | {"at": format_timestamp(cause.at)}


# What would have helped, and what happened ----------------------------------------------------------------------------


def remedy_of(entry: Entry) -> str | None:
    """Return the remedy; None for a request that was not refused."""
    problem = entry.problem
    if problem is None:
        return "remove the cause, and send it with a new Idempotency-Key" if entry.code else None
    if not entry.is_injected:
        return problem.remedy or problem.kind.recovery
    if entry.rule is None:
        return "remove the header Emulator-Fault"
    return f"send it when the rule {entry.rule.name!r} is not due, or end the scenario"


def _summary(entry: Entry, related: Mapping[str, Any] | None) -> str:
    is_lost = entry.is_complete and entry.outcome != "lost" and entry.loss is not None
    return _verdict(entry, related) + (" A scenario lost the answer on the wire." if is_lost else "")


def _verdict(entry: Entry, related: Mapping[str, Any] | None) -> str:
    problem = entry.problem
    match entry.outcome:
        case "in flight":
            return "It has no answer yet."
        case "abandoned":
            return "Its client went away before it was whole; nothing was done."
        case "lost":
            return "A scenario lost it on the wire before anything was done; it has no answer."
        case "replayed":
            first = f"request {related['sequence']}" if related and related["sequence"] else "an earlier request"
            return f"{entry.status}: the stored answer of {first} was sent again."
        case "answered":
            return f"{entry.status}: it passed every check."
        case "replaced" if problem is None:
            return f"{entry.status}: a scenario answered in place of the service, before anything was done."
    assert problem is not None, "what was refused has its problem"
    answer = f"{entry.status} {problem.code}"
    if entry.outcome == "failed":
        return f"{answer}: {sentence(problem.detail)}"
    if not entry.is_injected:
        return f"{answer}: refused by the {problem.check} check: {sentence(problem.detail)}{_caused_by(problem.cause)}"
    asked = "the header Emulator-Fault" if entry.rule is None else f"the scenario's rule {_place_of(entry.rule)}"
    when = "after the request had been carried out" if entry.outcome == "replaced" else "before anything was done"
    return f"{answer}: injected by {asked}, {when}."


def _caused_by(cause: Cause | None) -> str:
    if cause is None:
        return ""
    place = f" ({cause.file}, line {cause.line})" if cause.line else ""
    return f" The scenario's timeline{place} caused this at {format_timestamp(cause.at)}."


def _place_of(rule: Rule) -> str:
    return f"{rule.name!r} ({rule.file}, line {rule.line})" if rule.line else repr(rule.name)


def _effects(entry: Entry) -> Iterator[str]:
    """Return what the request did in the sandbox, in words."""
    problem = entry.problem
    if entry.outcome == "answered":
        yield from _effects_of_answer(entry)
    elif entry.outcome == "replaced" and entry.is_committed:
        yield "the request was carried out, though its answer says otherwise"
    elif entry.outcome == "refused" and (entry.operation, problem and problem.check) == ("completeUpload", Check.RULES):
        yield "the Upload Session has failed"
    elif entry.outcome in ("refused", "replayed", "replaced", "lost", "abandoned"):
        yield "nothing was changed"
    if entry.idempotency_key is None or entry.status is None:
        return
    if _binds(entry):
        yield "the Idempotency-Key is bound to this request for 24 hours"
    elif problem is not None and problem.check is not Check.IDEMPOTENCY:
        yield "the Idempotency-Key is unchanged: the request may be sent again with it"


def _effects_of_answer(entry: Entry) -> Iterator[str]:
    if entry.byte_surface == "upload":
        yield "the bytes were accepted"
        return
    if entry.operation is None or entry.method == "GET":
        yield "nothing was changed"
        return
    body = _answer_of(entry)
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


def _answer_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that was answered; an empty one if nothing was, or it is not kept."""
    answer: dict[str, Any] = orjson.loads(entry.response_body or b"{}")
    return answer


# Scenarios ------------------------------------------------------------------------------------------------------------


def rules_that_acted(entry: Entry) -> list[Rule]:
    """Return the rules that fired: for the request itself, and for the work that it admitted."""
    rules: list[Rule] = [] if entry.rule is None or not entry.has_rule_acted else [entry.rule]
    return rules if entry.work_rule is None else [*rules, entry.work_rule]


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Return the name of a rule, and where it stands."""
    return {"name": rule.name} | _describe_place(rule)


def _describe_place(part: Rule | Cause) -> dict[str, Any]:
    """Return where a part of a scenario stands: nowhere, if the scenario came as an object within a request."""
    return {"file": part.file, "line": part.line} if part.line else {"file": None, "line": None}


def _what_rules_did(entry: Entry) -> Iterator[tuple[Rule, str]]:
    if entry.rule is not None:
        yield entry.rule, entry.rule.fault.did(entry)
    if entry.work_rule is not None:
        yield entry.work_rule, entry.work_rule.outcome.did()


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
    """Iterate over the earlier requests with the same scope and key, from the newest on."""
    for other in journal.newest_first():
        if other.sequence < entry.sequence and _key_scope(other) == _key_scope(entry):
            yield other


def _key_scope(entry: Entry) -> tuple[object, ...]:
    credential_id = entry.caller.credential.id if entry.caller else None
    return credential_id, entry.method, entry.path, entry.idempotency_key


def _binds(entry: Entry) -> bool:
    return entry.is_committed or (entry.problem is not None and entry.problem.code in KEY_BINDING_CODES)


def _was_in_flight(entry: Entry, later: Entry) -> bool:
    return entry.duration_ms is None or entry.arrived_ms + entry.duration_ms > later.arrived_ms
