"""What the rules of conduct and the coverage read of the record of one request, when they need it."""

from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

import orjson

from emulator.domain.lifecycles import TERMINAL
from emulator.kernel.wording import excerpt
from emulator.service.record import RequestRecord, digest

LOOKS = ("getOperation", "getGeneration")
"""Operations that read work. Their answers alone, of those that succeed, say how long to wait."""
_OF_UPLOADS = ("createUpload", "completeUpload")
_WORK_KINDS = ("operation", "generation")
_CURSOR = b'"next_cursor":"'
_STATUS = b'"status":"'
_MAX_TEXT = 300
"""The characters of a path, query or User-Agent that a finding keeps, so that it stays small."""

Client: TypeAlias = tuple[str | None, str | None]
Intent: TypeAlias = tuple[Client, str, str, str, str]
"""Client, method, path, query, and a digest of the body."""


# Who asked for what ---------------------------------------------------------------------------------------------------


def credential_of(record: RequestRecord) -> str | None:
    """Return the id of a request's credential; for an unknown one, a digest of the header Authorization."""
    return record.unknown_credential if record.credential is None else record.credential.id


def client_of(record: RequestRecord) -> Client:
    """Return who sent a request: a credential with a User-Agent."""
    return credential_of(record), shortened(record.user_agent)


def shortened(text: str | None) -> str | None:
    """Return the beginning of a text that a client can make long."""
    return text and text[:_MAX_TEXT]


def query_of(record: RequestRecord) -> str:
    """Return the query with its parameters in order; a long one as a digest."""
    if not record.query:
        return ""
    text = urlencode(sorted(parse_qsl(record.query.decode("latin-1"), keep_blank_values=True)))
    return text if len(text) <= _MAX_TEXT else digest(text.encode())


def intent_of(record: RequestRecord) -> Intent:
    """Return what identifies a request apart from its key."""
    return client_of(record), record.method, record.path, query_of(record), body_digest(record)


def body_digest(record: RequestRecord) -> str:
    """Return the digest of a request's body, whatever the order of its members; of one that is not kept, its size."""
    body = record.request_body
    if not body:
        return record.request_digest or (str(record.request_body_bytes) if record.request_body_bytes else "")
    try:
        return digest(orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS))
    except (orjson.JSONDecodeError, TypeError):
        return digest(body)


def title_of(record: RequestRecord) -> str:
    """Name a request in a message."""
    if record.operation is not None:
        return record.operation
    return f"the {record.byte_surface}" if record.byte_surface else f"{excerpt(record.method)} {excerpt(record.path)}"


# What it is about -----------------------------------------------------------------------------------------------------


def work_id_of(record: RequestRecord) -> str | None:
    """Return the id of the work that a request reads or admits; on a replay, of the work that was admitted."""
    if record.operation in LOOKS:
        return record.path.rpartition("/")[2]
    if record.status == 202 and record.work_id is None:
        return str(record.answer["id"]) if record.answer.get("object") in _WORK_KINDS else None
    return record.work_id


def upload_id_of(record: RequestRecord) -> str | None:
    """Return the id of the Upload Session that a request opens, sends bytes to, or completes."""
    if record.operation == "createUpload":
        identifier = record.answer.get("id")
        return None if identifier is None else str(identifier)
    if record.operation == "completeUpload" or record.byte_surface == "upload":
        steps = record.path.split("/")
        return steps[3] if len(steps) > 3 else None
    return None


def shown_status(record: RequestRecord) -> str | None:
    """Return the status of the work that an answer shows: the first in it."""
    if not (record.operation in LOOKS or record.status == 202) or not record.response_body:
        return None
    return record.response_body.partition(_STATUS)[2].partition(b'"')[0].decode() or None


def cursor_of(record: RequestRecord) -> str | None:
    """Return the cursor to the next page, which stands at the end of an answer."""
    end = record.response_body or record.response_end
    start = end.rfind(_CURSOR)
    return None if start < 0 else end[start + len(_CURSOR) :].partition(b'"')[0].decode() or None


# What became of it ----------------------------------------------------------------------------------------------------


def loss_of(record: RequestRecord) -> str | None:
    """Return how the answer was lost; None for one that arrived."""
    return "abandoned" if record.outcome == "abandoned" or record.is_unheard else record.loss


def is_success(record: RequestRecord) -> bool:
    """Whether the request succeeded, as far as the client knows."""
    return record.status is not None and record.status < 400 and loss_of(record) is None


def is_answered(record: RequestRecord, *statuses: int) -> bool:
    """Whether the client got an answer of one of these statuses."""
    return record.status in statuses and loss_of(record) is None


def is_unknown(record: RequestRecord) -> bool:
    """Whether the client cannot know if its write was carried out: the answer was lost, or says nothing of it."""
    return loss_of(record) not in (None, "abandoned") or record.status == 500


def shows_end(record: RequestRecord) -> bool:
    """Whether the answer showed that some work is finished."""
    return shown_status(record) in TERMINAL and is_answered(record, 200, 202)


def retry_after_of(record: RequestRecord) -> int | None:
    """Return how many seconds an answer that arrived told its client to wait."""
    value = _header(record, b"retry-after")
    return int(value) if value is not None and value.isdigit() and loss_of(record) is None else None


def sunset_of(record: RequestRecord) -> bytes | None:
    """Return the header Sunset of an answer."""
    return _header(record, b"sunset")


def _header(record: RequestRecord, name: bytes) -> bytes | None:
    headers = reversed(record.response_headers or ())  # these stand behind the others
    return next((value for found, value in headers if found == name), None)
