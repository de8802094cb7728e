"""A request of the journal as a note: the data that the rules of conduct need, taken when the request is complete.

This is the one cost that every request has, so it reads no more of a body than a rule asks for. Never keeps a key: a
credential is named by its id, an unknown one by a digest.
"""

import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

from emulator.kernel.timestamps import SECOND_MS
from emulator.service.journal import Entry
from emulator.service.record import Note
from emulator.service.sandbox import Sandbox

_DIGEST_BYTES = 9
_OF_WORK = frozenset({"createUpload", "completeUpload", "getOperation", "getGeneration"})
"""Operations whose requests are about work or an Upload Session, beside those that admit work."""
_NO_SUBJECT = (None, None, None)
_WORK_KINDS = ("operation", "generation")
_CURSOR = b'"next_cursor":"'
_STATUS = b'"status":"'
_MAXIMUM_BODY = 4096
"""Bytes of a body that is digested only when a rule asks."""
_MAXIMUM_TEXT = 300
"""Of a path, key or User-Agent, in characters: what is longer is cut, so that notes stay small."""


def note_of(sandbox: Sandbox, entry: Entry) -> Note:
    """Return the note of a completed request. What does not apply to it costs nothing."""
    retry_after = sunset = None
    for name, value in entry.response_headers or ():
        if name == b"retry-after":
            retry_after = value
        elif name == b"sunset":
            sunset = value
    caller, operation, status, problem = entry.caller, entry.operation, entry.status, entry.problem
    body, is_refused = entry.request_body, status is None or status >= 400
    is_short = body is not None and 0 < len(body) <= _MAXIMUM_BODY
    loss = None if entry.outcome == "answered" and entry.rule is None else _loss(entry)
    subject, work_status, due = _subject(sandbox, entry) if _has_subject(entry) else _NO_SUBJECT
    note = Note(
        sequence=entry.sequence,
        left_before=sandbox.journal.last_sequence,
        at=entry.at,
        left_at=sandbox.clock.now(),
        is_timed=not sandbox.clock.takes_waits,
        host_ms=entry.arrived_ms,
        host_left_ms=None if entry.duration_ms is None else entry.arrived_ms + entry.duration_ms,
        connected_ms=entry.connected_ms,
        connection=entry.connection,
        credential=_unknown_credential(entry) if caller is None else caller.credential.id,
        user_agent=entry.user_agent and entry.user_agent[:_MAXIMUM_TEXT],
        is_authorized=entry.authorization is not None,
        operation=operation,
        surface=entry.byte_surface,
        method=entry.method[:_MAXIMUM_TEXT],
        path=entry.path[:_MAXIMUM_TEXT],
        query=_query(entry.query) if entry.query else "",
        intent="" if is_short else _intent(entry),
        key=entry.idempotency_key and entry.idempotency_key[:_MAXIMUM_TEXT],
        status=status,
        code=entry.code if is_refused else None,
        is_injected=problem is not None and problem.is_injected,
        loss=loss,
        retry_after=int(retry_after) if retry_after and not loss and retry_after.isdigit() else None,
        is_committed=entry.is_committed,
        subject=subject,
        work_status=work_status,
        due=due,
        credits=caller.account.ledger.available if status == 402 and caller else None,
        sunset=None if sunset is None else _instant(sunset),
        cursor=_next_cursor(entry.response_body) if operation and operation.startswith("list") else None,
    )
    if is_short and body is not None:
        note.body = body
    return note


def _unknown_credential(entry: Entry) -> str | None:
    return None if entry.authorization is None else digest(entry.authorization)


def digest(data: bytes) -> str:
    """Return a short name for some bytes."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def _loss(entry: Entry) -> str | None:
    """Return how the answer was lost; None if it was not."""
    if entry.outcome == "abandoned":
        return "abandoned"
    if entry.rule is None or not entry.is_answer_lost:
        return None
    from emulator.scenario.faults.loss import LossFault  # a server without such a rule does not load it

    assert isinstance(entry.rule.fault, LossFault), "no other fault loses an answer"
    return entry.rule.fault.kind


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


def _has_subject(entry: Entry) -> bool:
    return (
        entry.byte_surface == "upload"
        or entry.status == 202
        or entry.operation in _OF_WORK
        or entry.work_id is not None
    )


def _subject(sandbox: Sandbox, entry: Entry) -> tuple[str | None, str | None, int | None]:
    """Return the work or Upload Session of a request, the state of the work in the answer, and the end of the window."""
    operation = entry.operation
    if operation == "completeUpload" or entry.byte_surface == "upload":
        steps = entry.path.split("/")
        return _upload(sandbox, steps[3] if len(steps) > 3 else "")
    if operation == "createUpload":
        return _upload(sandbox, str(_answer(entry).get("id", "")))
    if operation in ("getOperation", "getGeneration"):
        status = _shown_status(entry.response_body) if entry.status == 200 else None
        return entry.path.rpartition("/")[2][:_MAXIMUM_TEXT], status, None
    answer = _answer(entry)
    is_work = answer.get("object") in _WORK_KINDS
    return entry.work_id or (answer["id"] if is_work else None), answer.get("status") if is_work else None, None


def _upload(sandbox: Sandbox, identifier: str) -> tuple[str | None, None, int | None]:
    session = sandbox.store.uploads.items.get(identifier)
    return (None, None, None) if session is None else (session.id, None, session.expires_at)


def _answer(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that was answered; an empty one if nothing was, or it is not kept."""
    answer = orjson.loads(entry.response_body or b"{}")
    return answer if isinstance(answer, dict) else {}


def _shown_status(body: bytes | None) -> str | None:
    """Return the status of the work that was answered: the first in it."""
    return _text_behind(body, body.find(_STATUS), _STATUS) if body else None


def _next_cursor(body: bytes | None) -> str | None:
    """Return the cursor to the next page; it stands at the end of the answer."""
    return _text_behind(body, body.rfind(_CURSOR), _CURSOR) if body else None


def _text_behind(body: bytes, start: int, name: bytes) -> str | None:
    """Return the text that begins behind a name in JSON; None if it is not there, or is empty."""
    start += len(name)
    return None if start < len(name) else body[start : body.index(b'"', start)].decode() or None


def _instant(value: bytes) -> int:
    """Read an HTTP date."""
    from email.utils import parsedate_to_datetime  # 2 ms that only a deprecated operation needs

    return int(parsedate_to_datetime(value.decode("latin-1")).timestamp()) * SECOND_MS
