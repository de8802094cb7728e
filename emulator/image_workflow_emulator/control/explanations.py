"""Why a request ended as it did: its checks in order, what decided, and the remedy.

Words what the exchange noted in a record of the journal. Decides nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import structs

from image_workflow_emulator.documents.complaints import sentence
from image_workflow_emulator.domain.problems import KEY_BINDING_CODES, MENDED_BY_TIME, Cause, Check, Problem, source_of
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.scenario import Rule
from image_workflow_emulator.service.records.journal import Journal
from image_workflow_emulator.service.records.record import RequestRecord

_HEADER: Final = "the header Emulator-Fault"


def explain(journal: Journal, record: RequestRecord) -> dict[str, Any]:
    """Return the explanation of a record, as JSON."""
    original, decided = journal.original_of(record), _decided_by(record)
    # Also one that decided only because a scenario asked for its problem.
    checks = [check for check in Check if check in record.checks or (decided and check is decided["check"])]
    rules = ((record.rule, record.has_rule_acted), (record.work_rule, True))
    related = {"sequence": original.sequence if original else None, "request_id": record.replay_of}
    return {
        "outcome": record.outcome,
        "summary": _summary(record, original),
        "checks": [_describe_check(check, record, decided) for check in checks],
        "decided_by": decided,
        "remedy": remedy_of(record),
        "effects": list(_effects(record)),
        "rules": [describe_rule(rule) | {"did": rule.then if acted else "nothing"} for rule, acted in rules if rule],
        "related": related if record.replay_of is not None else None,
    }


# The checks -----------------------------------------------------------------------------------------------------------


def _decided_by(record: RequestRecord) -> dict[str, Any] | None:
    """Return what decided, at which check if at one, and the change of a timeline that caused it.

    None where nothing decided: every check was passed, or the request has no answer.
    """
    problem, check = record.problem, Check.IDEMPOTENCY if record.outcome == "replayed" else None
    if problem is None and check is None:
        return None
    if problem is not None and record.outcome == "refused" and problem.code != "internal_error":
        check = problem.check
    cause = problem.cause if problem else None
    return {
        "check": check,
        "who": "the service" if not record.is_injected else "a scenario" if record.rule else _HEADER,
        "detail": problem.detail if problem else "Idempotency-Key: found the same intent that this key is bound to",
        "source": structs.asdict(source_of(check or Check.ROUTE, problem.code if problem else None)),
        "timeline": _describe_place(cause) | {"at": format_timestamp(cause.at)} if cause else None,
    }


def _describe_check(check: Check, record: RequestRecord, decided: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the result of a check, why it is made, and what it found if it decided."""
    if decided and check is decided["check"]:
        return {"check": check, "result": "decided", "detail": decided["detail"], "source": decided["source"]}
    result = "passed" if check in record.passed else "not reached"
    return {"check": check, "result": result, "detail": None, "source": structs.asdict(source_of(check))}


# What would have helped, and what happened ----------------------------------------------------------------------------


def remedy_of(record: RequestRecord) -> str | None:
    """Return the remedy; None for a request that was not refused."""
    problem = record.problem
    if problem is None:
        return "remove the cause, and send it with a new Idempotency-Key" if record.code else None
    if not record.is_injected:
        return problem.remedy or problem.kind.recovery
    return f"{_next_step(record, problem)}; {_who_asked(record)} asked for this answer"


def _who_asked(record: RequestRecord) -> str:
    return _HEADER if record.rule is None else f"the scenario's rule {record.rule.name!r}"


def _next_step(record: RequestRecord, problem: Problem) -> str:
    """Say what a client does after an injected refusal, as after a real one."""
    if problem.code not in MENDED_BY_TIME or problem.active_operation_id is not None:
        return problem.kind.recovery
    wait = "" if problem.retry_after is None else f"wait {problem.retry_after} s, then "
    key = "" if record.idempotency_key is None else " with the same Idempotency-Key"
    return f"{wait}send the same request again{key}"


def _summary(record: RequestRecord, original: RequestRecord | None) -> str:
    is_lost = record.is_complete and record.outcome != "lost" and record.loss is not None
    return _verdict(record, original) + (" A scenario lost the answer on the wire." if is_lost else "")


_WITHOUT_PROBLEM: Final = {
    "in flight": "It has no answer yet.",
    "abandoned": "Its client went away before it was whole; nothing was done.",
    "lost": "A scenario lost it on the wire before anything was done; it has no answer.",
    "replayed": "{status}: the stored answer of {first} was sent again.",
    "answered": "{status}: it passed every check.",
}


def _verdict(record: RequestRecord, original: RequestRecord | None) -> str:
    if record.outcome in _WITHOUT_PROBLEM:
        first = "an earlier request" if original is None else f"request {original.sequence}"
        return _WITHOUT_PROBLEM[record.outcome].format(status=record.status, first=first)
    assert record.problem is not None, "a refusal has its problem"
    answer, detail = f"{record.status} {record.problem.code}", sentence(record.problem.detail)
    if record.outcome == "failed":
        return f"{answer}: {detail}"
    if not record.is_injected:
        return f"{answer}: refused by the {record.problem.check} check: {detail}{_caused_by(record.problem.cause)}"
    when = "after the request had been carried out" if record.outcome == "replaced" else "before anything was done"
    return f"{answer}: injected by {_who_asked(record)}, {when}."


def _caused_by(cause: Cause | None) -> str:
    if cause is None:
        return ""
    place = f" ({cause.file}, line {cause.line})" if cause.line else ""
    return f" The scenario's timeline{place} caused this at {format_timestamp(cause.at)}."


def _effects(record: RequestRecord) -> Iterator[str]:
    """Iterate over what the request did in the sandbox, in words."""
    problem = record.problem
    is_bound = record.is_committed or (problem is not None and problem.code in KEY_BINDING_CODES)
    is_bound = is_bound and record.idempotency_key is not None and record.status is not None
    if record.outcome == "answered":
        yield from _effects_of_answer(record)
    elif record.outcome == "replaced" and record.is_committed:
        yield "the request was carried out, though its answer says otherwise"
    elif record.operation == "completeUpload" and problem is not None and problem.check is Check.RULES:
        yield "the Upload Session has failed"
    elif record.outcome not in ("in flight", "failed"):
        yield "nothing but the Idempotency-Key was changed" if is_bound else "nothing was changed"
    if is_bound:
        yield "the Idempotency-Key is bound to this request for 24 hours"
    elif record.idempotency_key and record.status and problem is not None and problem.check is not Check.IDEMPOTENCY:
        yield "the Idempotency-Key is unchanged: the request may be sent again with it"


def _effects_of_answer(record: RequestRecord) -> Iterator[str]:
    if record.byte_surface == "upload":
        yield "the bytes were accepted"
    elif record.operation is None or record.method == "GET":
        yield "nothing was changed"
    else:
        body = record.answer
        is_deleted = record.status == 204 or body.get("object") == "asset_deletion"
        verb = "deleted" if is_deleted else {201: "created", 202: "admitted"}.get(record.status or 0, "changed")
        yield f"{body.get('id', record.path.rpartition('/')[2])} was {verb}"
        if reserved := body.get("credits", {}).get("reserved"):
            yield f"{count_of(reserved, 'Credit')} reserved; charged by what is completed"


# Scenarios ------------------------------------------------------------------------------------------------------------


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Return the name of a rule, and where it is written."""
    return {"name": rule.name} | _describe_place(rule)


def _describe_place(part: Rule | Cause) -> dict[str, Any]:
    """Return where a part of a scenario is written: nowhere, if the scenario came as an object within a request."""
    return {"file": part.file, "line": part.line} if part.line else {"file": None, "line": None}
