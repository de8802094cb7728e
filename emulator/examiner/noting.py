"""A request of the journal as a note: the little that the rules of conduct need, taken when the request leaves.

This is the one cost that every request has, so it reads no more of a body than a rule asks for. Never keeps a key: a
credential is named by its id, one that is not known by a digest.
"""

import hashlib
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

from emulator.kernel.timestamps import SECOND_MS
from emulator.service.journal import Entry
from emulator.service.record import Note
from emulator.service.sandbox import Sandbox

_DIGEST_BYTES = 9
_WORK_KINDS = ("operation", "generation")
_CURSOR = b'"next_cursor":"'
_MAXIMUM_BODY = 4096
"""Bytes of a body that is digested only when a rule asks."""
_MAXIMUM_TEXT = 300
"""Of a path, key or User-Agent, in characters: what is longer is cut, so that notes stay small."""


def note_of(sandbox: Sandbox, entry: Entry) -> Note:
    """Return the note of a request that has left."""
    retry_after = sunset = None
    for name, value in entry.response_headers or ():
        if name == b"retry-after":
            retry_after = value
        elif name == b"sunset":
            sunset = value
    loss = _loss(entry)
    left_ms = None if entry.duration_ms is None else entry.arrived_ms + entry.duration_ms
    subject, work_status, due = _subject(sandbox, entry)
    body = entry.request_body or b""
    is_short = len(body) <= _MAXIMUM_BODY
    note = Note(
        sequence=entry.sequence,
        left_before=sandbox.journal.last_sequence,
        at=entry.at,
        left_at=sandbox.clock.now(),
        is_timed=not sandbox.clock.takes_waits,
        host_ms=entry.arrived_ms,
        host_left_ms=left_ms,
        connected_ms=entry.connected_ms,
        connection=entry.connection,
        credential=_credential(entry),
        user_agent=entry.user_agent and entry.user_agent[:_MAXIMUM_TEXT],
        is_authorized=entry.authorization is not None,
        operation=entry.operation,
        surface=entry.byte_surface,
        method=entry.method[:_MAXIMUM_TEXT],
        path=entry.path[:_MAXIMUM_TEXT],
        query=_query(entry.query) if entry.query else "",
        intent="" if is_short and body else _intent(entry),
        key=entry.idempotency_key and entry.idempotency_key[:_MAXIMUM_TEXT],
        status=entry.status,
        code=entry.code if entry.status is None or entry.status >= 400 else None,
        is_injected=entry.is_injected,
        loss=loss,
        retry_after=None if loss else _whole_number(retry_after),
        is_committed=entry.is_committed,
        subject=subject,
        work_status=work_status,
        due=due,
        credits=entry.caller.account.ledger.available if entry.status == 402 and entry.caller else None,
        sunset=_instant(sunset),
        cursor=_next_cursor(entry.response_body) if entry.operation and entry.operation.startswith("list") else None,
    )
    if is_short:
        note.body = body
    return note


def _credential(entry: Entry) -> str | None:
    if entry.caller is not None:
        return entry.caller.credential.id
    return None if entry.authorization is None else digest(entry.authorization)


def digest(data: bytes) -> str:
    """Return a short name for some bytes."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def _loss(entry: Entry) -> str | None:
    """Say how the client missed the answer; None if it got it."""
    if entry.outcome == "abandoned":
        return "abandoned"
    fault = entry.rule.fault if entry.rule is not None and entry.has_rule_acted else None
    if fault is not None and fault.loses_answer:
        return str(getattr(fault, "kind", "lost"))
    return "lost" if entry.outcome == "lost" else None


def _query(query: bytes) -> str:
    """Return a query with its parameters in order; a long one as a digest."""
    text = urlencode(sorted(parse_qsl(query.decode("latin-1"), keep_blank_values=True)))
    return text if len(text) <= _MAXIMUM_TEXT else digest(text.encode())


def _intent(entry: Entry) -> str:
    """Return a digest of the body; of one that is not kept, its size."""
    if entry.request_body:
        return _body_digest(entry.request_body)
    return str(entry.request_body_bytes) if entry.request_body_bytes else ""


def digest_of(note: Note) -> str:
    """Return the digest of a request's body, whatever the order of its members."""
    body = note.body
    if body:
        note.intent = _body_digest(body)
        note.body = b""  # only now: a state is saved in another thread
    return note.intent


def _body_digest(body: bytes) -> str:
    try:
        return digest(orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS))
    except (orjson.JSONDecodeError, TypeError):
        return digest(body)


def _subject(sandbox: Sandbox, entry: Entry) -> tuple[str | None, str | None, int | None]:
    """Return the work or Upload Session that a request is about, the state of work that was shown, the window's end."""
    operation = entry.operation
    if operation == "completeUpload" or entry.byte_surface == "upload":
        steps = entry.path.split("/")
        return _upload(sandbox, steps[3] if len(steps) > 3 else "")
    if operation == "createUpload":
        return _upload(sandbox, str(_answer(entry).get("id", "")))
    if operation in ("getOperation", "getGeneration"):
        answer = _answer(entry) if entry.status == 200 else {}
        return entry.path.rpartition("/")[2][:_MAXIMUM_TEXT], answer.get("status"), None
    if entry.status == 202 or entry.work_id is not None:
        answer = _answer(entry)
        is_work = answer.get("object") in _WORK_KINDS
        return entry.work_id or (answer["id"] if is_work else None), answer.get("status") if is_work else None, None
    return None, None, None


def _upload(sandbox: Sandbox, identifier: str) -> tuple[str | None, None, int | None]:
    session = sandbox.store.uploads.items.get(identifier)
    return (None, None, None) if session is None else (session.id, None, session.expires_at)


def _answer(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that was answered; an empty one if nothing was, or it is not kept."""
    answer = orjson.loads(entry.response_body or b"{}")
    return answer if isinstance(answer, dict) else {}


def _next_cursor(body: bytes | None) -> str | None:
    """Return the cursor to the next page; it stands at the end of the answer."""
    if body is None:
        return None
    start = body.rfind(_CURSOR)
    return None if start < 0 else body[start + len(_CURSOR) :].split(b'"', 1)[0].decode() or None


def _whole_number(value: bytes | None) -> int | None:
    return int(value) if value is not None and value.isdigit() else None


def _instant(value: bytes | None) -> int | None:
    """Read an HTTP date."""
    if value is None:
        return None
    return int(parsedate_to_datetime(value.decode("latin-1")).timestamp()) * SECOND_MS
