"""A request of the journal as JSON, and as a command for a shell, `curl`, that sends it again.

The command line writes requests with it too. What the journal does not keep, or must not show, is left out of a command,
and a comment above it says what and why. Whatever a client sent stands there as text that a shell and a terminal take for
nothing else.
"""

import shlex
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import quote

import orjson
from msgspec import structs

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.control.explanations import describe_rule
from image_workflow_emulator.control.fields import shown
from image_workflow_emulator.control.masks import Masks, mask_key
from image_workflow_emulator.control.recorded_request import RecordedRequest
from image_workflow_emulator.domain.resources import Credential, Team
from image_workflow_emulator.http.requests import encoded_path
from image_workflow_emulator.kernel.timestamps import format_timestamp
from image_workflow_emulator.kernel.wording import count_of
from image_workflow_emulator.service.records.record import RequestRecord

_AS_IT_IS: Final = ("sequence", "method", "operation", "status", "code", "connection", "last_arrival")
_MAY_HOLD_A_KEY: Final = ("path", "content_type", "emulator_fault", "user_agent", "idempotency_key")
_NOTES: Final = {"upload": "direct upload", "download": "file of a picture"}


def describe_request(record: RequestRecord, masks: Masks) -> dict[str, Any]:
    """Return a request as JSON."""
    rule, notes = record.rule if record.has_rule_acted else record.work_rule, _notes(record)
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
        abandoned=record.outcome == "abandoned" or record.is_unheard,
        committed=record.is_committed,
        work=record.work_id,
        timed=record.is_timed,
        rule=describe_rule(rule) if rule else None,
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
    if record.outcome == "abandoned":
        notes.append("the client went away before its request was whole")
    elif record.is_unheard:
        notes.append("the client went away before its answer was sent")
    return notes


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


# As a command ---------------------------------------------------------------------------------------------------------


_AUTHORIZATION: Final = '--header "Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"'
_KEPT_IN_QUERIES: Final = "".join(map(chr, range(0x21, 0x7F)))


def as_curl(record: RequestRecord, masks: Masks, origin: str) -> str:
    """Return the command, after its comments; `origin` is the address of the emulator."""
    path = encoded_path(masks.of_text(record.path))
    query = quote(masks.of_bytes(record.query), safe=_KEPT_IN_QUERIES)
    address = f"{origin}{path}?{query}" if query else origin + path
    body = list(_body(record, masks))
    words = ["curl", "--include", "--path-as-is", "--globoff", *_method(record.method, has_body=bool(body))]
    headers = [f"--header {_word(name + masks.of_bytes(value))}" for name, value in _headers(record)]
    if record.credential is not None and record.path.startswith(BASE_PATH):
        headers.insert(0, _AUTHORIZATION)
    lines = [" ".join(words), *headers, *body, _word(address.encode())]
    return "".join(f"# {comment}\n" for comment in _comments(record, masks)) + " \\\n  ".join(lines)


def _method(method: str, *, has_body: bool) -> list[str]:
    if method == "HEAD":
        return ["--head"]
    return [] if method == "GET" and not has_body else ["--request", _word(method.encode())]


def _headers(record: RequestRecord) -> Iterator[tuple[bytes, bytes]]:
    """Go through the headers that the journal keeps, each as the beginning of its line and its value."""
    if record.idempotency_key is not None:
        yield b"Idempotency-Key: ", record.idempotency_key.encode("latin-1")
    if record.fault_header is not None:
        yield b"Emulator-Fault: ", record.fault_header
    if record.content_type_header:
        yield b"Content-Type: ", record.content_type_header
    elif _had_body(record):
        yield b"Content-Type:", b""  # without which curl would send one


def _body(record: RequestRecord, masks: Masks) -> Iterator[str]:
    if _is_kept(record):
        yield f"--data-raw {_word(masks.of_bytes(record.request_body or b''))}"
    elif _had_body(record):
        yield "--data-binary @FILE"


def _had_body(record: RequestRecord) -> bool:
    return record.content_type_header is not None and record.request_body != b""


def _is_kept(record: RequestRecord) -> bool:
    """Whether there is a body that can be an argument of a command, which ends at a NUL."""
    return bool(record.request_body) and b"\0" not in (record.request_body or b"")


def _comments(record: RequestRecord, masks: Masks) -> Iterator[str]:
    """Say what the command cannot repeat, and why."""
    if record.credential is None and record.path.startswith(BASE_PATH):
        yield "without a key: none came, or one that belongs to no Team, which the journal does not keep"
    sent = (record.path.encode(), record.query, record.request_body or b"", *(value for _, value in _headers(record)))
    if any(masks.of_bytes(text) != text for text in sent):
        yield "where the request held a key, only its beginning stands here: the journal shows no keys"
    if _had_body(record) and not _is_kept(record):
        size_bytes = len(record.request_body or b"") or record.request_body_bytes
        size = f" of {count_of(size_bytes, 'byte')}" if size_bytes else ""
        yield f"FILE stands for the body{size}, which the journal does not keep or no argument can hold"


def _word(data: bytes) -> str:
    """Write bytes as one word of a shell; those that a terminal might obey as escapes."""
    text = data.decode(errors="replace")
    if text.isprintable() and text.encode() == data:
        return shlex.quote(text)
    return f"$'{''.join(map(_escape, data))}'"


def _escape(byte: int) -> str:
    if byte in b"\\'":
        return f"\\{byte:c}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"
