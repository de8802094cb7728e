"""Every point that the contract declares and the service can do, by operation."""

from collections.abc import Iterator, Mapping
from typing import Final

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.domain.resources import (
    OPERATION_TYPES,
    WORKFLOWS,
    operation_admitting,
)
from image_workflow_emulator.examiner.points import (
    LOST,
    LOST_AFTER,
    LOST_BEFORE,
    REPLAY,
)
from image_workflow_emulator.scenario.outcomes import FAILURE_CODES

ADMITTED_WORK: Final[Mapping[str, str]] = {
    operation_admitting(work): work for work in (*WORKFLOWS, *OPERATION_TYPES)
}
"""By operation: the workflow or Operation type that it admits."""

BYTES: Final[Mapping[str, tuple[str, ...]]] = {
    "upload": (
        "200",
        "400 invalid_request",
        "404 upload_not_found",
        "409 upload_bytes_conflict",
        "410 upload_expired",
        "500 internal_error",
        "503 service_unavailable",
        LOST_BEFORE,
        LOST_AFTER,
    ),
    "download": (
        "200",
        "206",
        "304",
        "404 not_found",
        "416 invalid_request",
        "500 internal_error",
        "503 service_unavailable",
        LOST,
    ),
}
"""The points of the byte surfaces."""


def all_points(contract: Contract) -> dict[str, tuple[str, ...]]:
    """Return every point, by operation in the order of the contract.

    The byte surfaces come last.
    """
    points = {
        name: tuple(_points_of(operation))
        for name, operation in contract.operations.items()
    }
    return {**points, **BYTES}


def _points_of(operation: OperationContract) -> Iterator[str]:
    yield from _successes(operation)
    yield from _ends_of_work(operation)
    if operation.takes_key:
        yield REPLAY
    yield from _problems(operation)
    if operation.method == "GET":
        yield LOST
    else:
        yield LOST_BEFORE
        yield LOST_AFTER


def _successes(operation: OperationContract) -> Iterator[str]:
    for status in sorted(operation.statuses):
        if status < 400:
            yield str(status)


def _ends_of_work(operation: OperationContract) -> Iterator[str]:
    work = ADMITTED_WORK.get(operation.id)
    if work is None:
        return
    yield "work completed"
    if work in WORKFLOWS:
        yield "work failed"
        yield "output completed"
        for code in FAILURE_CODES:
            yield f"output failed with {code}"
    else:
        for code in FAILURE_CODES:
            yield f"work failed with {code}"


def _problems(operation: OperationContract) -> Iterator[str]:
    points = [(CATALOGUE[code].status, code) for code in operation.all_codes]
    for status, code in sorted(points):
        yield f"{status} {code}"
