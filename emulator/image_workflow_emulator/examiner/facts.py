"""What one request was about, and what its client knows from the answer.

An answer that was lost on the wire, or that its client did not wait for, told nothing.
"""

from typing import Final

from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.resources import WORKFLOWS, operation_admitting
from image_workflow_emulator.examiner.request import Request

POLLS: Final = ("getOperation", "getGeneration")
"""The operations that read work.

Their answers alone, of those that succeed, say how long to wait.
"""
ADMIT_GENERATIONS: Final = frozenset(map(operation_admitting, WORKFLOWS))
"""The operations that admit Generations; the others that admit work, Operations."""
HUNG_UP: Final = "abandoned"
"""How an answer was lost whose client had gone."""
_READS: Final = ("GET", "HEAD")
_KINDS_OF_WORK: Final = ("operation", "generation")
_CURSOR: Final = b'"next_cursor":"'
_STATUS: Final = b'"status":"'
_MAX_DIGITS: Final = 9
"""Limit of the digits of a number of seconds that are read."""


# What it is about ---------------------------------------------------------------------


def is_read(request: Request) -> bool:
    """Whether a request changes nothing."""
    return request.method in _READS


def is_write(request: Request) -> bool:
    """Whether a request calls an operation other than by GET."""
    return request.operation is not None and request.method != "GET"


def work_id(request: Request) -> str | None:
    """Return the id of the work that a request reads or admits.

    Of a replay, it is the work that was admitted first.
    """
    if request.operation in POLLS:
        _, _, last_step = request.path.rpartition("/")
        return last_step
    if request.status == 202 and request.work_id is None:
        answer = request.answer
        if answer.get("object") not in _KINDS_OF_WORK:
            return None
        return str(answer["id"])
    return request.work_id


def upload_id(request: Request) -> str | None:
    """Return the id of the Upload Session that a request is about.

    It opens the session, sends bytes to it, or completes it.
    """
    if request.operation == "createUpload":
        identifier = request.answer.get("id")
        if identifier is None:
            return None
        return str(identifier)
    if request.operation == "completeUpload" or request.byte_surface == "upload":
        steps = request.path.split("/")  # "", surface, collection or sandbox, id, ...
        if len(steps) <= 3:
            return None
        return steps[3]
    return None


# What its answer showed ---------------------------------------------------------------


def work_status(request: Request) -> str | None:
    """Return the status of the work that an answer shows: the first in it."""
    is_about_work = request.operation in POLLS or request.status == 202
    if not is_about_work or not request.response_body:
        return None
    return _text_after(request.response_body, _STATUS)


def next_cursor(request: Request) -> str | None:
    """Return the cursor to the next page, which is at the end of an answer."""
    end = request.response_body or request.response_end
    start = end.rfind(_CURSOR)
    if start < 0:
        return None
    return _text_after(end[start:], _CURSOR)


def _text_after(json: bytes, beginning: bytes) -> str | None:
    """Return what follows a beginning up to the next quotation mark; None if nothing
    does.
    """
    _, _, following = json.partition(beginning)
    text, _, _ = following.partition(b'"')
    return text.decode() or None


# What its client knows ----------------------------------------------------------------


def loss_of(request: Request) -> str | None:
    """Return how an answer was lost, also by its client; None if it arrived."""
    if request.outcome == "abandoned" or request.is_unheard:
        return HUNG_UP
    return request.loss


def is_answered(request: Request, *statuses: int) -> bool:
    """Whether the client got an answer with one of these statuses."""
    return request.status in statuses and loss_of(request) is None


def is_success(request: Request) -> bool:
    """Whether a request succeeded, as far as its client knows."""
    if request.status is None or request.status >= 400:
        return False
    return loss_of(request) is None


def shows_end(request: Request) -> bool:
    """Whether an answer showed that some work has finished."""
    return work_status(request) in TERMINAL and is_answered(request, 200, 202)


def retry_after(request: Request) -> int | None:
    """Return how many seconds an answer that arrived told its client to wait."""
    value = _header(request, b"retry-after")
    if value is None or not value.isdigit() or loss_of(request) is not None:
        return None
    return int(value[:_MAX_DIGITS])


def _header(request: Request, name: bytes) -> bytes | None:
    """Return a header that is not on every answer: those come last."""
    for header, value in reversed(request.response_headers or ()):
        if header == name:
            return value
    return None
