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

LOOKS = ("getOperation", "getGeneration")
"""Operations that read work. Their answers alone, of those that succeed, say how long to wait."""
_OF_UPLOADS = frozenset({"createUpload", "completeUpload"})
_DIGEST_BYTES = 9
_WORK_KINDS = ("operation", "generation")
_CURSOR = b'"next_cursor":"'
_STATUS = b'"status":"'
_MAXIMUM_BODY = 4096
"""The longest body, in bytes, that is kept and digested only when a rule asks."""
_MAXIMUM_TEXT = 300
"""The characters of a path, key or User-Agent that a note keeps, so that it stays small."""


def note_of(sandbox: Sandbox, entry: Entry) -> Note:
    """Return the note of a completed request. What does not apply to it costs nothing."""
    caller, operation, status, body = entry.caller, entry.operation, entry.status, entry.request_body
    is_look, is_plain = operation in LOOKS, entry.is_plain
    note = Note.__new__(Note)  # calling it with so many named arguments would take longer than all of this
    note.sequence = entry.sequence
    note.left_before = sandbox.journal.last_sequence
    note.at = entry.at
    note.left_at = sandbox.clock.now()
    note.is_timed = not sandbox.clock.skips_waits
    note.host_ms = entry.arrived_ms
    note.host_left_ms = None if entry.duration_ms is None else entry.arrived_ms + entry.duration_ms
    note.connected_ms = entry.connected_ms
    note.connection = entry.connection
    note.credential = _unknown_credential(entry) if caller is None else caller.credential.id
    note.user_agent = entry.user_agent and entry.user_agent[:_MAXIMUM_TEXT]
    note.is_authorized = entry.authorization is not None
    note.operation = operation
    note.surface = entry.byte_surface
    note.method = entry.method[:_MAXIMUM_TEXT]
    note.path = entry.path[:_MAXIMUM_TEXT]
    note.query = _query(entry.query) if entry.query else ""
    note.intent, note.body = "", b""
    if body is not None and 0 < len(body) <= _MAXIMUM_BODY:
        note.body = body
    elif body or entry.request_body_bytes:
        note.intent = _intent(entry)
    note.key = entry.idempotency_key and entry.idempotency_key[:_MAXIMUM_TEXT]
    note.status = status
    note.is_committed = entry.is_committed
    note.code = note.loss = note.retry_after = note.credits = note.sunset = None
    note.is_injected = False
    if not is_plain:
        _add_failure(note, entry)
    if is_look or not is_plain:
        note.retry_after = _retry_after(note, entry)
    note.subject = note.work_status = note.due = note.cursor = None
    if is_look:
        note.subject = entry.path.rpartition("/")[2][:_MAXIMUM_TEXT]
        note.work_status = _shown_status(entry.response_body) if status == 200 else None
    elif operation in _OF_UPLOADS or note.surface == "upload":
        _add_upload(note, sandbox, entry)
    elif status == 202 or entry.work_id is not None:
        _add_admitted(note, entry)
    elif operation is not None and operation.startswith("list"):
        note.cursor = _next_cursor(entry.response_body)
    return note


def _add_failure(note: Note, entry: Entry) -> None:
    """Add what only a request has that was refused, replayed or lost, or that met a rule."""
    problem, caller = entry.problem, entry.caller
    if entry.status is None or entry.status >= 400:
        note.code = entry.code
    note.is_injected = problem is not None and problem.is_injected
    note.loss = "abandoned" if entry.outcome == "abandoned" else entry.loss
    if entry.status == 402 and caller is not None:
        note.credits = caller.account.ledger.available
    for name, value in entry.response_headers or ():
        if name == b"sunset":
            note.sunset = _instant(value)


def _retry_after(note: Note, entry: Entry) -> int | None:
    """Return how many seconds an answer that arrived told its client to wait."""
    for name, value in reversed(entry.response_headers or ()):  # it stands behind the others
        if name == b"retry-after":
            return int(value) if value.isdigit() and not note.loss else None
    return None


def _unknown_credential(entry: Entry) -> str | None:
    return None if entry.authorization is None else digest(entry.authorization)


def digest(data: bytes) -> str:
    """Return a short name for some bytes."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


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


def _add_upload(note: Note, sandbox: Sandbox, entry: Entry) -> None:
    """Add the Upload Session of a request, and the end of its window."""
    if entry.operation == "createUpload":
        identifier = str(_answer(entry).get("id", ""))
    else:
        steps = entry.path.split("/")
        identifier = steps[3] if len(steps) > 3 else ""
    session = sandbox.store.uploads.items.get(identifier)
    if session is not None:
        note.subject, note.due = session.id, session.expires_at


def _add_admitted(note: Note, entry: Entry) -> None:
    """Add the work that a request admitted, and the state in which its answer shows it."""
    answer = _answer(entry)
    is_work = answer.get("object") in _WORK_KINDS
    note.subject = entry.work_id or (answer["id"] if is_work else None)
    note.work_status = answer.get("status") if is_work else None


def _answer(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that was answered; an empty one if nothing was, or it is not kept."""
    answer = orjson.loads(entry.response_body or b"{}")
    return answer if isinstance(answer, dict) else {}


def _shown_status(body: bytes | None) -> str | None:
    """Return the status of the work that was answered: the first in it."""
    return body.partition(_STATUS)[2].partition(b'"')[0].decode() or None if body else None


def _next_cursor(body: bytes | None) -> str | None:
    """Return the cursor to the next page, which stands at the end of the answer."""
    start = body.rfind(_CURSOR) if body else -1
    return None if body is None or start < 0 else body[start + len(_CURSOR) :].partition(b'"')[0].decode() or None


def _instant(value: bytes) -> int:
    """Read an HTTP date."""
    from email.utils import parsedate_to_datetime  # 2 ms that only a deprecated operation needs

    return int(parsedate_to_datetime(value.decode("latin-1")).timestamp()) * SECOND_MS
