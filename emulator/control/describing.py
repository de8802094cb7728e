"""A request of the journal as JSON, for people and programs. The command line writes requests with it too."""

from collections.abc import Callable
from typing import Any, Final

import orjson
from msgspec import structs

from emulator.control.explanations import describe_rule, rules_that_acted
from emulator.control.masks import Masks, mask_key
from emulator.control.recorded_request import RecordedRequest
from emulator.control.shown import shown
from emulator.domain.resources import Credential, Team
from emulator.kernel.timestamps import format_timestamp
from emulator.kernel.wording import count_of
from emulator.service.record import RequestRecord

_AS_IT_IS: Final = ("sequence", "method", "operation", "status", "code")
_MAY_HOLD_A_KEY: Final = ("path", "content_type", "emulator_fault", "user_agent", "idempotency_key")
_NOTES: Final = {"upload": "direct upload", "download": "file of a picture"}


def describe_request(record: RequestRecord, masks: Masks) -> dict[str, Any]:
    """Return a request as JSON."""
    acted, notes = rules_that_acted(record), _notes(record)
    masked: dict[str, Any] = {name: masks.of_optional(getattr(record, name)) for name in _MAY_HOLD_A_KEY}
    recorded = RecordedRequest(
        **{name: getattr(record, name) for name in _AS_IT_IS},
        **masked,
        at=format_timestamp(record.at),
        arrived_at=format_timestamp(record.arrived_at),
        query=masks.of_text(record.query.decode("latin-1")),
        bytes=record.byte_surface,
        credential=_describe_credential(record.credential, record.team),
        request_id=record.answered_id,
        replayed=record.replay_of is not None,
        lost=record.loss is not None,
        rule=describe_rule(acted[0]) if acted else None,
        duration_ms=None if record.duration_ms is None else round(record.duration_ms, 3),
        request_body=_describe_body("request", record.request_body, record.request_body_bytes, masks, notes.append),
        response_headers=_describe_headers(record, masks),
        response_body=_describe_body("answer", record.response_body, record.response_body_bytes, masks, notes.append),
        note="; ".join(notes) or None,
    )
    return structs.asdict(recorded)


def _describe_headers(record: RequestRecord, masks: Masks) -> dict[str, str] | None:
    """Return the headers of the answer by name; null until there is one."""
    if record.response_headers is None:
        return None
    return {name.decode("latin-1"): masks.of_text(value.decode("latin-1")) for name, value in record.response_headers}


def _notes(record: RequestRecord) -> list[str]:
    notes = [] if record.byte_surface is None else [_NOTES[record.byte_surface]]
    return [*notes, "the client went away before its request was whole"] if record.outcome == "abandoned" else notes


def _describe_credential(credential: Credential | None, team: Team | None) -> dict[str, Any] | None:
    if credential is None or team is None:
        return None
    return {**shown(credential, "id", "name"), "key": mask_key(credential.key), "team": shown(team, "id", "name")}


def _describe_body(
    whose: str, body: bytes | None, size_bytes: int, masks: Masks, add_note: Callable[[str], None]
) -> orjson.Fragment | str | None:
    """Return a body's JSON as it was sent, or its text if it is no JSON; else note the number of its bytes."""
    if not body:
        if size_bytes:
            add_note(f"the {whose}'s body of {count_of(size_bytes, 'byte')} is not shown")
        return None
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        add_note(f"the {whose}'s body of {count_of(len(body), 'byte')} is not JSON")
        return _text(masks.of_bytes(body))
    return orjson.Fragment(masks.of_bytes(body))


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
