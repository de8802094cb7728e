"""The points of the coverage: what a client can cover of the contract, what closes a gap, and which points a request
covers.

A point belongs to an operation, or to `upload` or `download`. It is a status of success, a status with its code,
`replay`, a loss on the wire, or, for work, an end or the outcome of an output slot that a read showed.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from image_workflow_emulator.contract import Contract, OperationContract
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.domain.resources import (
    OPERATION_TYPES,
    TERMINAL,
    WORKFLOWS,
    Generation,
    Operation,
    operation_admitting,
)
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import POLLS
from image_workflow_emulator.examiner.history import Works
from image_workflow_emulator.scenario.named_files import PROBLEM_PREFIX
from image_workflow_emulator.scenario.scenario import FAILURE_CODES
from image_workflow_emulator.service.records.record import RequestRecord

Point: TypeAlias = tuple[str, str]
"""The name of an operation or byte surface, and a point of it."""
REPLAY: Final = "replay"
LOST: Final = "lost"
LOST_BEFORE: Final = "lost before commit"
LOST_AFTER: Final = "lost after commit"
WORDS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_REQUESTS: Final[Mapping[str, Mapping[str, str]]] = WORDS["requests"]
_BROKEN: Final = ("500 internal_error", "503 service_unavailable")
BYTES: Final[Mapping[str, tuple[str, ...]]] = {
    "upload": ("200", *_REQUESTS["upload"], *_BROKEN, LOST_BEFORE, LOST_AFTER),
    "download": ("200", *_REQUESTS["download"], *_BROKEN, LOST),
}
"""The points of the byte surfaces."""

_WORK: Final = {
    operation_admitting(work): work for work in (*WORKFLOWS, *OPERATION_TYPES)
}
"""By operation: the work that it admits."""


def all_points(contract: Contract) -> dict[str, tuple[str, ...]]:
    """Return every point, by operation in the order of the contract; the byte surfaces come last."""
    return {
        **{
            name: tuple(_points(operation))
            for name, operation in contract.operations.items()
        },
        **BYTES,
    }


def _points(operation: OperationContract) -> Iterator[str]:
    yield from (str(status) for status in sorted(operation.statuses) if status < 400)
    work = _WORK.get(operation.id)
    if work is not None:
        yield "work completed"
        yield from (
            ("work failed",)
            if work in WORKFLOWS
            else (f"work failed with {code}" for code in FAILURE_CODES)
        )
    if work in WORKFLOWS:
        yield "output completed"
        yield from (f"output failed with {code}" for code in FAILURE_CODES)
    if operation.takes_key:
        yield REPLAY
    codes = sorted(operation.all_codes, key=lambda code: (CATALOGUE[code].status, code))
    yield from (f"{CATALOGUE[code].status} {code}" for code in codes)
    yield from (LOST,) if operation.method == "GET" else (LOST_BEFORE, LOST_AFTER)


# What closes a gap ----------------------------------------------------------------------------------------------------


def closed_by(name: str, point: str) -> Mapping[str, Any]:
    """Return what closes the gap at a point: a scenario, the rule to write, a special request, or the call itself."""
    if request := _REQUESTS.get(name, {}).get(point):
        return {"request": request}
    match = {"bytes": name} if name in BYTES else {"operation": name}
    if point in (
        LOST,
        LOST_BEFORE,
        LOST_AFTER,
        REPLAY,
    ):  # a replay answers the repetition of what was lost
        moment = "before_commit" if point in (LOST, LOST_BEFORE) else "after_commit"
        return {
            "rule": {
                "match": match,
                "when": {"nth": 1},
                "then": {"network": "reset", "at": moment},
            }
        }
    what, is_failure, code = point.partition(" failed")
    if is_failure:
        code = code.removeprefix(" with ") or "processing_failed"
        then = {"fail": code} if what == "work" else {"outputs": {"1": code}}
        return {"rule": {"match": {"work": _WORK[name]}, "then": then}}
    code = point.partition(" ")[2]
    if code not in CATALOGUE:
        return {"call": True}
    if name in BYTES:
        return {"rule": {"match": match, "when": {"nth": 1}, "then": {"problem": code}}}
    return {"scenario": PROBLEM_PREFIX + code}


# What requests cover --------------------------------------------------------------------------------------------------


def cover(records: Iterable[RequestRecord], works: Works) -> Counter[Point]:
    """Return how often requests covered each point. A replay also covers the status and code that it was
    answered with.
    """
    covered: Counter[Point] = Counter()
    for record in records:
        name = record.operation or record.byte_surface
        if name is None or record.outcome in ("abandoned", "in flight", "failed"):
            continue
        for point in _points_of(record):
            covered[name, point] += 1
        if record.operation in POLLS and facts.shows_end(record):
            work = works.find_work(facts.work_id(record) or "")
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
    ends = [
        f"failed with {output.error.code}" if output.error else output.status
        for output in work.outputs
    ]
    return [
        (operation, f"work {work.status}"),
        *[(operation, f"output {end}") for end in ends],
    ]
