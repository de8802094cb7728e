"""Questions about the record of a request: its client, its subject, and the answer as the client knows it."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlencode

import orjson

from image_workflow_emulator.domain.resources import TERMINAL
from image_workflow_emulator.kernel.timestamps import SECOND_MS
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.service.records.record import RequestRecord, digest

Records: TypeAlias = Sequence[RequestRecord]
Client: TypeAlias = tuple[str | None, str | None]
"""A credential with a User-Agent."""
Intent: TypeAlias = tuple[Client, str, str, str, str]
"""Client, method, path, query, and a digest of the body."""

POLLS: Final = ("getOperation", "getGeneration")
"""The operations that read work. Their answers alone, of those that succeed, say how long to wait."""
HUNG_UP: Final = "abandoned"
"""How an answer was lost whose client had gone."""
MAX_PROGRAMS: Final = 5
"""So many programs may share a credential and a User-Agent where connections do not tell them apart."""
_LEAST_SHARE: Final = 0.95
_SLACK_MS: Final = 50
"""A wait is kept if this share of it, less some milliseconds, has passed: timers are not exact."""
_CURSOR: Final = b'"next_cursor":"'
_STATUS: Final = b'"status":"'
_MAX_TEXT: Final = 300
"""The characters of a query or User-Agent that tell clients and requests apart."""
Key = TypeVar("Key", bound=Hashable)

# Who asked for what ---------------------------------------------------------------------------------------------------


def client(record: RequestRecord) -> Client:
    """Return who sent a request; an unknown credential is a digest of the header Authorization."""
    credential = (
        record.unknown_credential if record.credential is None else record.credential.id
    )
    return credential, record.user_agent and record.user_agent[:_MAX_TEXT]


def intent(record: RequestRecord) -> Intent:
    """Return what identifies a request apart from its key."""
    return client(record), record.method, record.path, query(record), _body(record)


def query(record: RequestRecord) -> str:
    """Return the query with its parameters in order; a long one as a digest."""
    text = urlencode(
        sorted(parse_qsl(record.query.decode("latin-1"), keep_blank_values=True))
    )
    return text if len(text) <= _MAX_TEXT else digest(text.encode())


def _body(record: RequestRecord) -> str:
    """Return the digest of a body, whatever the order of its members; of one that is not kept, its size."""
    body = record.request_body
    if not body:
        return record.request_digest or (
            str(record.request_body_bytes) if record.request_body_bytes else ""
        )
    try:
        return digest(orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS))
    except (orjson.JSONDecodeError, TypeError):
        return digest(body)


def title(record: RequestRecord) -> str:
    """Return the name of a request in a message."""
    if record.operation is not None:
        return record.operation
    return (
        f"the {record.byte_surface}"
        if record.byte_surface
        else f"{excerpt(record.method)} {excerpt(record.path)}"
    )


# What it is about -----------------------------------------------------------------------------------------------------


def work_id(record: RequestRecord) -> str | None:
    """Return the id of the work that a request reads or admits; of a replay, the work that was admitted."""
    if record.operation in POLLS:
        return record.path.rpartition("/")[2]
    if record.status == 202 and record.work_id is None:
        return (
            str(record.answer["id"])
            if record.answer.get("object") in ("operation", "generation")
            else None
        )
    return record.work_id


def upload_id(record: RequestRecord) -> str | None:
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
    if (
        not (record.operation in POLLS or record.status == 202)
        or not record.response_body
    ):
        return None
    return (
        record.response_body.partition(_STATUS)[2].partition(b'"')[0].decode() or None
    )


def next_cursor(record: RequestRecord) -> str | None:
    """Return the cursor to the next page, which is at the end of an answer."""
    end = record.response_body or record.response_end
    start = end.rfind(_CURSOR)
    return (
        None
        if start < 0
        else end[start + len(_CURSOR) :].partition(b'"')[0].decode() or None
    )


# What its client knows ------------------------------------------------------------------------------------------------


def lost_how(record: RequestRecord) -> str | None:
    """Return how an answer was lost, by its client too; None for one that arrived."""
    return (
        HUNG_UP if record.outcome == "abandoned" or record.is_unheard else record.loss
    )


def is_answered(record: RequestRecord, *statuses: int) -> bool:
    """Whether the client got an answer of one of these statuses."""
    return record.status in statuses and lost_how(record) is None


def is_success(record: RequestRecord) -> bool:
    """Whether a request succeeded, as far as the client knows."""
    return (
        record.status is not None and record.status < 400 and lost_how(record) is None
    )


def shows_end(record: RequestRecord) -> bool:
    """Whether an answer showed that some work is finished."""
    return shown_status(record) in TERMINAL and is_answered(record, 200, 202)


def retry_after(record: RequestRecord) -> int | None:
    """Return how many seconds an answer that arrived told its client to wait."""
    value = header(record, b"retry-after")
    return (
        int(value[:9])
        if value is not None and value.isdigit() and lost_how(record) is None
        else None
    )


def header(record: RequestRecord, name: bytes) -> bytes | None:
    """Return a header of an answer that is not on every answer: these come last."""
    headers = reversed(record.response_headers or ())
    return next((value for found, value in headers if found == name), None)


# Several requests -----------------------------------------------------------------------------------------------------


def workers_of(records: Records) -> tuple[list[Records], bool]:
    """Group the requests of a client by its workers, each of which has its connection. Return also whether that is
    sure.

    Where each request opened a connection of its own, they are one group: up to `MAX_PROGRAMS` may have sent them.
    """
    workers = list(grouped(records, attrgetter("connection")).values())
    is_sure = len(workers) < len(records) or len(records) == 1
    return (workers, True) if is_sure else ([records], False)


def is_wait_measured(earlier: RequestRecord, later: RequestRecord) -> bool:
    """Whether the wait between two requests can be measured: not on an auto clock."""
    return earlier.is_timed and later.is_timed


def has_waited(earlier: RequestRecord, later: RequestRecord, seconds: int) -> bool:
    """Whether the emulator's or the host's clock moved so far between two requests."""
    return (
        max(pauses_ms(earlier, later)) >= seconds * SECOND_MS * _LEAST_SHARE - _SLACK_MS
    )


def pauses_ms(earlier: RequestRecord, later: RequestRecord) -> tuple[float, float]:
    """Return the pause between an answer and the next request, by the emulator's and by the host's clock."""
    return later.at - earlier.left_at, later.arrived_ms - earlier.arrived_ms - (
        earlier.duration_ms or 0
    )


def grouped(
    records: Iterable[RequestRecord], key: Callable[[RequestRecord], Key]
) -> Mapping[Key, Records]:
    """Return records by what each has of a key, in the order in which it first came."""
    groups: defaultdict[Key, list[RequestRecord]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups
