"""What contradicts a sentence of the specification, whichever reading one takes."""

from collections.abc import Iterator
from typing import Final

from image_workflow_emulator.documents.violations import Violation
from image_workflow_emulator.domain.pagination import DEFAULT_LIMIT
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.drift.bodies import WITHOUT_MILLISECONDS
from image_workflow_emulator.drift.differences import (
    NOTHING,
    About,
    Difference,
    difference,
)
from image_workflow_emulator.drift.traffic import RecordedCall

_PROBLEM_TYPE: Final = "application/problem+json"
_REQUEST_ID: Final = "Every response carries a Request-Id (section 4)"
_STATUSES: Final = "The list of endpoints declares the statuses of each (section 4)"
_MEDIA_TYPE: Final = f"Errors use media type {_PROBLEM_TYPE} (section 7)"
_SAME_REQUEST_ID: Final = "request_id equals the header Request-Id (section 7)"
_CODES: Final = "The table of errors (section 7)"
_RETRY_AFTER: Final = "Every 429 carries Retry-After (section 7)"
_ACTIVE_OPERATION: Final = (
    "A 409 resource_operation_in_progress carries active_operation_id (section 7)"
)
_LOCATION: Final = (
    "A 201 of an Asset or Product and an authoring 202 carry Location (section 4)"
)
_FIELDS: Final = "The fields of the resource (section 2)"
_TIMESTAMPS: Final = (
    "Timestamps are ISO 8601 UTC date-times with milliseconds (section 2)"
)
_ORDER: Final = "Lists are ordered by created_at, descending (section 4)"
_PAGE_SIZE: Final = "The default page size is 25 (section 8)"
_WITH_LOCATION: Final = ((201, "asset"), (201, "product"), (202, "operation"))
_RESOLVED: Final = "resolved_asset_ids"


def breaches(call: RecordedCall) -> Iterator[Difference]:
    """Iterate over the breaches in the answer to a call, except those of prices."""
    status = call.status
    if call.operation is None or status is None:
        return
    if not call.response_headers.get("request-id"):
        yield difference(
            call,
            where="Request-Id",
            recorded="none",
            expected="one",
            sentence=_REQUEST_ID,
        )
    is_declared = status in call.operation.statuses
    is_default_problem = status >= 400 and call.code in CATALOGUE
    if not is_declared and not is_default_problem:
        statuses = ", ".join(map(str, sorted(call.operation.statuses)))
        yield difference(
            call,
            where="status",
            recorded=str(status),
            expected=f"one of {statuses}, or a default problem",
            sentence=_STATUSES,
        )
    elif status >= 400:
        yield from _breaches_of_media_type(call)
        yield from _breaches_of_problem(call)
    if status < 400 and not call.is_partial:
        yield from _breaches_of_success(call)


def _breaches_of_media_type(call: RecordedCall) -> Iterator[Difference]:
    content_type = call.response_headers.get("content-type", "")
    name, _, _ = content_type.partition(";")
    media_type = name.strip().lower()
    if media_type not in ("", _PROBLEM_TYPE):
        yield difference(
            call,
            where="Content-Type",
            recorded=media_type,
            expected=_PROBLEM_TYPE,
            sentence=_MEDIA_TYPE,
        )


def _breaches_of_problem(call: RecordedCall) -> Iterator[Difference]:
    if call.is_partial:
        return
    if not _has_request_id_of_header(call):
        yield difference(
            call,
            where="/request_id",
            recorded=call.answer.get("request_id", "none"),
            expected="that of the header",
            sentence=_SAME_REQUEST_ID,
        )
    if not _has_code_of_status(call):
        yield difference(
            call,
            where="/code",
            recorded=f"{call.status} {call.code}",
            expected="a code with its status",
            sentence=_CODES,
        )
    if call.status == 429 and "retry-after" not in call.response_headers:
        yield difference(
            call,
            where="Retry-After",
            recorded="none",
            expected="one",
            sentence=_RETRY_AFTER,
        )
    is_blocked = call.code == "resource_operation_in_progress"
    if is_blocked and not call.answer.get("active_operation_id"):
        yield difference(
            call,
            where="/active_operation_id",
            recorded="none",
            expected="an id",
            sentence=_ACTIVE_OPERATION,
        )


def _has_request_id_of_header(call: RecordedCall) -> bool:
    header = call.response_headers.get("request-id")
    if header is None or not call.answer:  # either is a breach of its own
        return True
    return bool(call.answer.get("request_id") == header)


def _has_code_of_status(call: RecordedCall) -> bool:
    problem = CATALOGUE.get(call.code or "")
    if problem is None:
        return False
    return problem.status == call.status or call.code == "invalid_request"


def _breaches_of_success(call: RecordedCall) -> Iterator[Difference]:
    needs_location = (call.status, call.answer.get("object")) in _WITH_LOCATION
    if needs_location and "location" not in call.response_headers:
        yield difference(
            call,
            where="Location",
            recorded="none",
            expected="one",
            sentence=_LOCATION,
        )
    for violation in call.violations:
        yield _breach_of_contract(call, violation)
    yield from _missing_subjects(call)
    yield from _breaches_of_list(call)


def _breach_of_contract(call: RecordedCall, violation: Violation) -> Difference:
    sentence = _FIELDS
    about: About = "value"
    if WITHOUT_MILLISECONDS.fullmatch(violation.found.strip('"')):
        sentence = _TIMESTAMPS
        about = "milliseconds"
    return difference(
        call,
        where=violation.where,
        recorded=violation.found,
        expected=violation.expected,
        sentence=sentence,
        about=about,
    )


def _missing_subjects(call: RecordedCall) -> Iterator[Difference]:
    """Report a Generation of Product Photography that does not say which Assets it has.

    The contract cannot: it promises this field for one workflow alone.
    """
    for violation in call.violations:
        if violation.steps[-1:] == (_RESOLVED,):
            return  # reported already
    for resource in call.resources:
        is_photography = resource.get("workflow") == "product_photography"
        if is_photography and _RESOLVED not in resource:
            yield difference(
                call,
                where=f"/{_RESOLVED}",
                recorded=NOTHING,
                expected="the Assets that were admitted",
                sentence=_FIELDS,
            )


def _breaches_of_list(call: RecordedCall) -> Iterator[Difference]:
    times = [str(resource.get("created_at")) for resource in call.resources]
    if times != sorted(times, reverse=True):
        yield difference(
            call,
            where="/data",
            recorded="another order",
            expected="created_at descending",
            sentence=_ORDER,
        )
    if "limit" in call.query:
        return
    item_count = len(times)
    has_more = call.page.get("has_more") is True
    is_too_short = has_more and item_count < DEFAULT_LIMIT
    is_too_long = item_count > DEFAULT_LIMIT
    if is_too_long or is_too_short:
        yield difference(
            call,
            where="/data",
            recorded=f"{item_count} items",
            expected=f"{DEFAULT_LIMIT} items",
            sentence=_PAGE_SIZE,
        )
