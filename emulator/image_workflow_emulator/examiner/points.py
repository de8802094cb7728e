"""The points of the coverage, and which of them requests cover.

A point belongs to an operation, or to `upload` or `download`. It is a status of
success, a status with its code, `replay`, a loss on the wire, or, for work, an end or
the outcome of an output slot that a read showed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Protocol, TypeAlias

from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.domain.resources import (
    Generation,
    Operation,
    Output,
    operation_admitting,
)
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import POLLS
from image_workflow_emulator.examiner.request import Request, Requests

Point: TypeAlias = tuple[str, str]
"""The name of an operation or byte surface, and a point of it."""
REPLAY: Final = "replay"
LOST: Final = "lost"
LOST_BEFORE: Final = "lost before commit"
LOST_AFTER: Final = "lost after commit"
_NOT_ANSWERED: Final = ("abandoned", "in flight", "failed")


class KnownWorks(Protocol):
    """The work that requests were about."""

    def find_work(self, identifier: str) -> Operation | Generation | None:
        """Return a piece of work as it is now; None if there is none."""


def cover(requests: Requests, works: KnownWorks) -> Counter[Point]:
    """Return how often requests covered each point.

    A replay also covers the status and code that it was answered with.
    """
    covered: Counter[Point] = Counter()
    for request in requests:
        covered.update(_answer_points(request))
        covered.update(_work_points(request, works))
    return covered


def _answer_points(request: Request) -> Iterator[Point]:
    """Iterate over the points of a request's own operation or byte surface."""
    name = request.operation or request.byte_surface
    if name is None or request.outcome in _NOT_ANSWERED:
        return
    if request.loss is not None:
        yield name, _loss_of(request)
        return
    if request.outcome == "replayed":
        yield name, REPLAY
    if request.code is None:
        yield name, str(request.status)
    else:
        yield name, f"{request.status} {request.code}"


def _loss_of(request: Request) -> str:
    if facts.is_read(request):
        return LOST
    if request.is_committed or request.replay_of is not None:
        return LOST_AFTER
    return LOST_BEFORE


def _work_points(request: Request, works: KnownWorks) -> Iterable[Point]:
    """Return the points of the operation whose work a poll showed to have ended."""
    if request.operation not in POLLS or not facts.shows_end(request):
        return ()
    work = works.find_work(facts.work_id(request) or "")
    if work is None or work.status not in TERMINAL:
        return ()
    if isinstance(work, Operation):
        return _operation_points(work)
    return _generation_points(work)


def _operation_points(work: Operation) -> Iterator[Point]:
    admitting = operation_admitting(work.type)
    if work.error is None:
        yield admitting, f"work {work.status}"
    else:
        yield admitting, f"work failed with {work.error.code}"


def _generation_points(work: Generation) -> Iterator[Point]:
    admitting = operation_admitting(work.workflow)
    yield admitting, f"work {work.status}"
    for output in work.outputs:
        yield admitting, f"output {_end_of(output)}"


def _end_of(output: Output) -> str:
    if output.error is None:
        return output.status
    return f"failed with {output.error.code}"
