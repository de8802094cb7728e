"""An explanation: why a request ended as it did, with its checks in order, what
decided, and the remedy.

It words what the exchange noted in the record, and decides nothing.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.describing import describe_place, describe_rule
from image_workflow_emulator.documents.complaints import sentence
from image_workflow_emulator.domain.problems import (
    KEY_BINDING_CODES,
    MENDED_BY_TIME,
    Cause,
    Check,
    Problem,
    source_of,
)
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.scenario import Rule
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestRecord

_HEADER: Final = "the header Emulator-Fault"
_REPLAY_DETAIL: Final = (
    "Idempotency-Key: found the same intent that this key is bound to"
)
_VERBS: Final = {201: "created", 202: "admitted"}
"""What an operation did, by the status of its answer; any other changed something."""


def explain(journal: Journal, record: RequestRecord) -> JsonObject:
    """Return the explanation of a record, as JSON."""
    original = journal.original_of(record)
    deciding = _deciding_check(record)
    problem = record.problem
    missing_credits = None
    if problem is not None:
        missing_credits = problem.missing_credits
    return {
        "outcome": record.outcome,
        "summary": _summary(record, original),
        "checks": _describe_checks(record, deciding),
        "decided_by": _decided_by(record, deciding),
        "remedy": remedy_of(record),
        "missing_credits": missing_credits,
        "effects": list(_effects(record)),
        "rules": list(_describe_rules(record)),
        "related": _describe_original(record, original),
    }


# The checks --------------------------------------------------------------------------


def _deciding_check(record: RequestRecord) -> Check | None:
    """Return the check that decided; None if none did."""
    if record.outcome == "replayed":
        return Check.IDEMPOTENCY
    problem = record.problem
    if problem is None or record.outcome != "refused":
        return None
    if problem.code == "internal_error":
        return None
    return problem.check


def _decided_by(record: RequestRecord, deciding: Check | None) -> JsonObject | None:
    """Return what decided, at which check if at one, and the change of a timeline that
    caused it.

    None where nothing decided: every check was passed, or the request has no answer.
    """
    problem = record.problem
    if problem is None and record.outcome != "replayed":
        return None
    code = None
    timeline = None
    if problem is not None:
        code = problem.code
        timeline = _describe_cause(problem.cause)
    return {
        "check": deciding,
        "who": _decider(record),
        "detail": _detail(record),
        "source": structs.asdict(source_of(deciding or Check.ROUTE, code)),
        "timeline": timeline,
    }


def _decider(record: RequestRecord) -> str:
    if not record.is_injected:
        return "the service"
    if record.rule is not None:
        return "a scenario"
    return _HEADER


def _detail(record: RequestRecord) -> str:
    if record.problem is not None:
        return record.problem.detail
    return _REPLAY_DETAIL


def _describe_cause(cause: Cause | None) -> JsonObject | None:
    if cause is None:
        return None
    return {**describe_place(cause), "at": format_timestamp(cause.at)}


def _describe_checks(record: RequestRecord, deciding: Check | None) -> list[JsonObject]:
    """Return the checks of the operation in order, each with its result.

    Also the check that decided only because a scenario asked for its problem.
    """
    described = []
    for check in Check:
        if check is deciding:
            described.append(_describe_deciding(check, record))
        elif check in record.checks:
            described.append(_describe_check(check, record))
    return described


def _describe_deciding(check: Check, record: RequestRecord) -> JsonObject:
    code = None
    if record.problem is not None:
        code = record.problem.code
    return {
        "check": check,
        "result": "decided",
        "detail": _detail(record),
        "source": structs.asdict(source_of(check, code)),
    }


def _describe_check(check: Check, record: RequestRecord) -> JsonObject:
    return {
        "check": check,
        "result": "passed" if check in record.passed else "not reached",
        "detail": None,
        "source": structs.asdict(source_of(check)),
    }


# What would have helped --------------------------------------------------------------


def remedy_of(record: RequestRecord) -> str | None:
    """Return the remedy; None for a request that was not refused."""
    problem = record.problem
    if problem is None:
        if record.code is None:
            return None
        return "remove the cause, and send it with a new Idempotency-Key"
    if not record.is_injected:
        return problem.remedy or problem.kind.recovery
    next_step = _next_step(record, problem)
    return f"{next_step}; {_who_asked(record)} asked for this answer"


def _who_asked(record: RequestRecord) -> str:
    if record.rule is None:
        return _HEADER
    return f"the scenario's rule {record.rule.name!r}"


def _next_step(record: RequestRecord, problem: Problem) -> str:
    """Say what a client does after an injected refusal, as after a real one."""
    is_mended_by_time = problem.code in MENDED_BY_TIME
    if not is_mended_by_time or problem.active_operation_id is not None:
        return problem.kind.recovery
    step = "send the same request again"
    if record.idempotency_key is not None:
        step += " with the same Idempotency-Key"
    if problem.retry_after is not None:
        step = f"wait {problem.retry_after} s, then {step}"
    return step


# What happened -----------------------------------------------------------------------


_WITHOUT_PROBLEM: Final = {
    "in flight": "It has no answer yet.",
    "abandoned": "Its client went away before it was whole; nothing was done.",
    "lost": (
        "A scenario lost it on the wire before anything was done; it has no answer."
    ),
    "replayed": "{status}: the stored answer of {first} was sent again.",
    "answered": "{status}: it passed every check.",
}
"""The summaries by outcome, where there is no problem."""


def _summary(record: RequestRecord, original: RequestRecord | None) -> str:
    verdict = _verdict(record, original)
    is_answered = record.is_complete and record.outcome != "lost"
    if is_answered and record.loss is not None:
        verdict += " A scenario lost the answer on the wire."
    return verdict


def _verdict(record: RequestRecord, original: RequestRecord | None) -> str:
    if record.outcome in _WITHOUT_PROBLEM:
        first = "an earlier request"
        if original is not None:
            first = f"request {original.sequence}"
        words = _WITHOUT_PROBLEM[record.outcome]
        return words.format(status=record.status, first=first)
    problem = record.problem
    assert problem is not None, "a refusal has its problem"
    answer = f"{record.status} {problem.code}"
    detail = sentence(problem.detail)
    if record.outcome == "failed":
        return f"{answer}: {detail}"
    if not record.is_injected:
        caused_by = _caused_by(problem.cause)
        return f"{answer}: refused by the {problem.check} check: {detail}{caused_by}"
    when = "before anything was done"
    if record.outcome == "replaced":
        when = "after the request had been carried out"
    return f"{answer}: injected by {_who_asked(record)}, {when}."


def _caused_by(cause: Cause | None) -> str:
    if cause is None:
        return ""
    place = ""
    if cause.line:
        place = f" ({cause.file}, line {cause.line})"
    at = format_timestamp(cause.at)
    return f" The scenario's timeline{place} caused this at {at}."


def _effects(record: RequestRecord) -> Iterator[str]:
    """Iterate over what the request did in the sandbox, in words."""
    is_bound = _is_key_bound(record)
    effect = _effect_of_refusal(record, is_bound)
    if record.outcome == "answered":
        yield from _effects_of_answer(record)
    elif effect is not None:
        yield effect
    if is_bound:
        yield "the Idempotency-Key is bound to this request for 24 hours"
    elif _is_key_unchanged(record):
        yield (
            "the Idempotency-Key is unchanged: the request may be sent again with it"
        )


def _is_key_bound(record: RequestRecord) -> bool:
    """Return whether the request's Idempotency-Key is bound to it (section 4)."""
    if record.idempotency_key is None or record.status is None:
        return False
    problem = record.problem
    is_binding_code = problem is not None and problem.code in KEY_BINDING_CODES
    return record.is_committed or is_binding_code


def _is_key_unchanged(record: RequestRecord) -> bool:
    """Return whether a refused request left its Idempotency-Key as it was."""
    problem = record.problem
    if problem is None or problem.check is Check.IDEMPOTENCY:
        return False
    return bool(record.idempotency_key and record.status)


def _effect_of_refusal(record: RequestRecord, is_bound: bool) -> str | None:
    """Return what a request did that was not simply answered; None if it is unknown."""
    if record.outcome == "replaced" and record.is_committed:
        return "the request was carried out, though its answer says otherwise"
    if _has_failed_upload(record):
        return "the Upload Session has failed"
    if record.outcome in ("in flight", "failed"):
        return None
    if is_bound:
        return "nothing but the Idempotency-Key was changed"
    return "nothing was changed"


def _has_failed_upload(record: RequestRecord) -> bool:
    problem = record.problem
    is_completion = record.operation == "completeUpload"
    return is_completion and problem is not None and problem.check is Check.RULES


def _effects_of_answer(record: RequestRecord) -> Iterator[str]:
    if record.byte_surface == "upload":
        yield "the bytes were accepted"
        return
    if record.operation is None or record.method == "GET":
        yield "nothing was changed"
        return
    body = record.answer
    verb = _VERBS.get(record.status or 0, "changed")
    if record.status == 204 or body.get("object") == "asset_deletion":
        verb = "deleted"
    _, _, last_step = record.path.rpartition("/")
    identifier = body.get("id", last_step)
    yield f"{identifier} was {verb}"
    reserved = body.get("credits", {}).get("reserved")
    if reserved:
        amount = count_of(reserved, "Credit")
        yield f"{amount} reserved; charged by what is completed"


def _describe_rules(record: RequestRecord) -> Iterator[JsonObject]:
    """Iterate over the rules that matched, each with what it did."""
    if record.rule is not None:
        yield _describe_deed(record.rule, has_acted=record.has_rule_acted)
    if record.work_rule is not None:
        yield _describe_deed(record.work_rule, has_acted=True)


def _describe_deed(rule: Rule, *, has_acted: bool) -> JsonObject:
    deed: object = "nothing"
    if has_acted:
        deed = rule.then
    return {**describe_rule(rule), "did": deed}


def _describe_original(
    record: RequestRecord,
    original: RequestRecord | None,
) -> JsonObject | None:
    """Return the request whose stored answer a replay sent again."""
    if record.replay_of is None:
        return None
    sequence = None
    if original is not None:
        sequence = original.sequence
    return {"sequence": sequence, "request_id": record.replay_of}
