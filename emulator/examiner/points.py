"""The points of the coverage: what a client can cover of the contract, and which points a request covers.

A point belongs to an operation, or to `upload` or `download`. It is a status of success, a status with its code, `replay`, a
loss on the wire, or, for work, an end or the outcome of an output slot that a read showed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from emulator.contract import Contract, OperationContract
from emulator.domain.lifecycles import TERMINAL
from emulator.domain.problems import CATALOGUE
from emulator.domain.resources import OPERATION_TYPES, WORKFLOWS, Generation, Operation, operation_admitting
from emulator.examiner.reading import LOOKS, shows_end, work_id_of
from emulator.scenario.scenario import FAILURE_CODES
from emulator.service.record import RequestRecord, Works

Point: TypeAlias = tuple[str, str]
"""The name of an operation or byte surface, and a point of it."""
REPLAY: Final = "replay"
LOST: Final = "lost"
LOST_BEFORE: Final = "lost before commit"
LOST_AFTER: Final = "lost after commit"
_UPLOAD_PROBLEMS: Final = (
    "400 invalid_request",
    "404 upload_not_found",
    "409 upload_bytes_conflict",
    "410 upload_expired",
    "500 internal_error",
    "503 service_unavailable",
)
_DOWNLOAD_PROBLEMS: Final = (
    "404 not_found",
    "416 invalid_request",
    "500 internal_error",
    "503 service_unavailable",
)
BYTES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "upload": ("200", *_UPLOAD_PROBLEMS, LOST_BEFORE, LOST_AFTER),
        "download": ("200", "206", "304", *_DOWNLOAD_PROBLEMS, LOST),
    }
)
"""The points of the byte surfaces."""

_WORK: Final = MappingProxyType({operation_admitting(work): work for work in (*WORKFLOWS, *OPERATION_TYPES)})
"""By operation: the work that it admits."""


def work_of(operation: str) -> str | None:
    """Return the workflow or Operation type that an operation admits, as scenarios name it; None if it admits none."""
    return _WORK.get(operation)


def all_points(contract: Contract) -> dict[str, tuple[str, ...]]:
    """Return every point, by operation in the order of the contract; the byte surfaces come last."""
    return {**{name: tuple(_points(operation)) for name, operation in contract.operations.items()}, **BYTES}


def _points(operation: OperationContract) -> Iterator[str]:
    yield from (str(status) for status in sorted(operation.statuses) if status < 400)
    work = work_of(operation.id)
    if work is not None:
        yield "work completed"
        yield from ("work failed",) if work in WORKFLOWS else (f"work failed with {code}" for code in FAILURE_CODES)
    if work in WORKFLOWS:
        yield "output completed"
        yield from (f"output failed with {code}" for code in FAILURE_CODES)
    if operation.takes_key:
        yield REPLAY
    codes = sorted(operation.all_codes, key=lambda code: (CATALOGUE[code].status, code))
    yield from (f"{CATALOGUE[code].status} {code}" for code in codes)
    yield from (LOST,) if operation.method == "GET" else (LOST_BEFORE, LOST_AFTER)


def cover(records: Iterable[RequestRecord], works: Works) -> Counter[Point]:
    """Return how often requests covered each point. A replay also covers the status and code that it was answered with."""
    covered: Counter[Point] = Counter()
    for record in records:
        name = record.operation or record.byte_surface
        if name is None or record.outcome in ("abandoned", "in flight", "failed"):
            continue
        for point in _points_of(record):
            covered[name, point] += 1
        if record.operation in LOOKS and shows_end(record):
            work = works.find_work(work_id_of(record) or "")
            if work is not None and work.status in TERMINAL:
                covered.update(_ends(work))
    return covered


def _points_of(record: RequestRecord) -> Sequence[str]:
    if record.loss is not None:
        if record.method in ("GET", "HEAD"):
            return [LOST]
        return [LOST_AFTER if record.is_committed or record.replay_of else LOST_BEFORE]
    code = record.code
    answer = f"{record.status} {code}" if code else str(record.status)
    return [REPLAY, answer] if record.outcome == "replayed" else [answer]


def _ends(work: Operation | Generation) -> Sequence[Point]:
    if isinstance(work, Operation):
        end = f"failed with {work.error.code}" if work.error else work.status
        return [(operation_admitting(work.type), f"work {end}")]
    operation = operation_admitting(work.workflow)
    ends = [f"failed with {output.error.code}" if output.error else output.status for output in work.outputs]
    return [(operation, f"work {work.status}"), *[(operation, f"output {end}") for end in ends]]
