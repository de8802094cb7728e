"""The points of the coverage: what a client can cover of the contract, and which points a request covers.

A point belongs to an operation, or to `upload` or `download`. It is a status of success, a status with its code, `replay`, a
loss on the wire, or, for work, an end or the outcome of an output slot that a read showed. Counting most requests costs
nothing here: the journal counts plain answers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from emulator.contract import Contract, OperationContract
from emulator.domain.lifecycles import TERMINAL
from emulator.domain.problems import CATALOGUE
from emulator.domain.resources import OPERATION_TYPES, WORKFLOWS, Generation, Operation, operation_admitting
from emulator.scenario.outcomes import FAILURE_CODES
from emulator.service.journal import Entry
from emulator.service.record import Note
from emulator.service.sandbox import Sandbox

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


def met(sandbox: Sandbox) -> dict[str, int]:
    """Return how often each point was covered in a sandbox."""
    counts = sandbox.record.met.copy()
    for (operation, byte_surface, status), number in sandbox.journal.answered.items():
        point = f"{operation or byte_surface} {status}"
        counts[point] = counts.get(point, 0) + number
    return dict(sorted(counts.items()))


def count(sandbox: Sandbox, entry: Entry) -> None:
    """Count the point that a request covers whose answer is not plain: those of plain answers the journal counts."""
    name = entry.operation or entry.byte_surface
    if name is not None and entry.outcome not in ("abandoned", "in flight", "failed"):
        _count(sandbox, [f"{name} {_point(entry)}"])


def count_end(sandbox: Sandbox, look: Note) -> None:
    """Count the points that a look covers which showed that a piece of work has ended."""
    store, identifier = sandbox.store, look.subject or ""
    work = store.generations.items.get(identifier) or store.operations.items.get(identifier)
    if work is not None and work.status in TERMINAL:
        _count(sandbox, _ends(work))


def _count(sandbox: Sandbox, points: Iterable[str]) -> None:
    met = sandbox.record.met
    for point in points:
        met[point] = met.get(point, 0) + 1


def _point(entry: Entry) -> str:
    if entry.loss is not None:
        if entry.method in ("GET", "HEAD"):
            return LOST
        return LOST_AFTER if entry.is_committed or entry.replay_of else LOST_BEFORE
    if entry.outcome == "replayed":
        return REPLAY
    code = entry.code
    return f"{entry.status} {code}" if code else str(entry.status)


def _ends(work: Operation | Generation) -> Sequence[str]:
    if isinstance(work, Operation):
        end = f"failed with {work.error.code}" if work.error else work.status
        return [f"{operation_admitting(work.type)} work {end}"]
    operation = operation_admitting(work.workflow)
    ends = [f"failed with {output.error.code}" if output.error else output.status for output in work.outputs]
    return [f"{operation} work {work.status}", *[f"{operation} output {end}" for end in ends]]
