"""A request of the journal as JSON.

Must not know why a request ended as it did (`explaining`). The command line describes
requests with it too.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import orjson
from msgspec import structs

from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.masks import Masks, mask_key
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.domain.problems import Cause
from image_workflow_emulator.http.json_bodies import is_nested_too_deeply
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.scenario.scenario import Rule
from image_workflow_emulator.service.records.record import RequestRecord

_BYTE_NOTES: Final = {"upload": "direct upload", "download": "file of a picture"}


def describe_request(record: RequestRecord, masks: Masks) -> JsonObject:
    """Return a request as JSON."""
    notes = []
    if record.byte_surface is not None:
        notes.append(_BYTE_NOTES[record.byte_surface])
    if record.outcome == "abandoned":
        notes.append("the client went away before its request was whole")
    elif record.is_unheard:
        notes.append("the client went away before its answer was sent")
    request_body = _describe_body(
        "request",
        record.request_body,
        record.request_body_bytes,
        masks,
        notes,
    )
    response_body = _describe_body(
        "response",
        record.response_body,
        record.response_body_bytes,
        masks,
        notes,
    )
    recorded = RecordedRequest(
        sequence=record.sequence,
        at=format_timestamp(record.at),
        arrived_at=format_timestamp(record.arrived_at),
        method=record.method,
        path=record.path,
        query=record.query.decode("latin-1"),
        operation=record.operation,
        bytes=record.byte_surface,
        content_type=record.content_type,
        emulator_fault=record.emulator_fault,
        user_agent=record.user_agent,
        credential=_describe_caller(record),
        idempotency_key=record.idempotency_key,
        status=record.status,
        code=record.code,
        request_id=record.answered_id,
        replayed=record.replay_of is not None,
        lost=record.loss is not None,
        abandoned=record.outcome == "abandoned" or record.is_unheard,
        committed=record.is_committed,
        work=record.work_id,
        connection=record.connection,
        last_arrival=record.last_arrival,
        timed=record.is_timed,
        rule=_describe_acting_rule(record),
        duration_ms=_rounded(record.duration_ms),
        request_body=request_body,
        response_headers=_describe_headers(record, masks),
        response_body=response_body,
        note="; ".join(notes) or None,
    )
    return _without_keys(structs.asdict(recorded), masks)


def _without_keys(fields: Mapping[str, Any], masks: Masks) -> JsonObject:
    """Hide the keys in all texts: a client may have put one anywhere."""
    masked = dict(fields)
    for name, value in fields.items():
        if isinstance(value, str):
            masked[name] = masks.of_text(value)
    return masked


def _describe_caller(record: RequestRecord) -> JsonObject | None:
    credential = record.credential
    team = record.team
    if credential is None or team is None:
        return None
    return {
        "id": credential.id,
        "name": credential.name,
        "key": mask_key(credential.key),
        "team": {"id": team.id, "name": team.name},
    }


def acting_rule(record: RequestRecord) -> Rule | None:
    """Return the rule that acted on the request, or on the work that it admitted."""
    if record.has_rule_acted:
        return record.rule
    return record.work_rule


def _describe_acting_rule(record: RequestRecord) -> JsonObject | None:
    rule = acting_rule(record)
    if rule is None:
        return None
    return describe_rule(rule)


def _rounded(duration_ms: float | None) -> float | None:
    if duration_ms is None:
        return None
    return round(duration_ms, 3)


def _describe_headers(record: RequestRecord, masks: Masks) -> dict[str, str] | None:
    headers = {}
    for name, value in record.response_headers or ():
        text = masks.of_text(value.decode("latin-1"))
        headers[masks.of_text(name.decode("latin-1"))] = text
    return headers or None


def _describe_body(
    message: str,
    body: bytes | None,
    size_bytes: int,
    masks: Masks,
    notes: list[str],
) -> Any:
    """Return a body's JSON as it was sent, or its text if it is not JSON, or too deep
    for those who read it.

    What is not shown is noted; `size_bytes` is the size of a body that is not kept.
    """
    if not body:
        if size_bytes:
            size = count_of(size_bytes, "byte")
            notes.append(f"the {message}'s body of {size} is not shown")
        return None
    size = count_of(len(body), "byte")
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        notes.append(f"the {message}'s body of {size} is not JSON")
    else:
        if not is_nested_too_deeply(body.decode()):
            return msgspec.Raw(masks.of_bytes(body))
        notes.append(f"the {message}'s body of {size} is nested too deeply")
    try:
        return masks.of_text(body.decode())
    except UnicodeDecodeError:
        return None


def describe_rule(rule: Rule) -> JsonObject:
    """Return the name of a rule, and where it is written."""
    return {"name": rule.name, **describe_place(rule)}


def describe_place(part: Rule | Cause) -> JsonObject:
    """Return where a part of a scenario is written: nowhere, if the scenario came as an
    object within a request.
    """
    if not part.line:
        return {"file": None, "line": None}
    return {"file": part.file, "line": part.line}
