"""Coverage: what clients have covered of the contract, as one document.

Documents of several sandboxes, processes and shards are merged into one. Must not know
how a point is covered.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.examiner.closings import FIRST_GAPS, Closing, closing_of
from image_workflow_emulator.examiner.declared_points import all_points
from image_workflow_emulator.examiner.points import Point

Coverage = dict[str, Any]
"""A coverage document, as JSON has it.

`percent` of the contract, `percent_of_used` of the operations that were used,
`next_gaps`, and `operations`: by operation id (and `upload`, `download`) its `points`.
"""
_MAX_NEXT: Final = 3
_MAX_COUNT: Final = 2**53


class _CoveredPoint(Struct):
    point: str
    covered: Annotated[int, Meta(ge=0, le=_MAX_COUNT)]
    closed_by: Closing


class _CoveredOperation(Struct, forbid_unknown_fields=True):
    points: list[_CoveredPoint]

    @property
    def use(self) -> int:
        """How often any of its points was covered."""
        return sum(point.covered for point in self.points)

    @property
    def gaps(self) -> list[_CoveredPoint]:
        return [point for point in self.points if not point.covered]


_Operations = dict[str, _CoveredOperation]


class _Gap(Struct):
    operation: str
    point: str
    closed_by: Closing


class _Document(Struct):
    operations: _Operations


class _WholeDocument(Struct):
    percent: float
    percent_of_used: float
    next_gaps: list[_Gap]
    operations: _Operations


def document(contract: Contract, covered: Mapping[Point, int]) -> Coverage:
    """Return the coverage document of some counts."""
    operations: _Operations = {}
    for name, points in all_points(contract).items():
        covered_points = []
        for point in points:
            count = covered.get((name, point), 0)
            closing = closing_of(name, point)
            covered_points.append(_CoveredPoint(point, count, closing))
        operations[name] = _CoveredOperation(covered_points)
    return _with_totals(operations)


def read(value: object) -> Coverage:
    """Check that a JSON value is a coverage document, and return it.

    Raises:
        ValueError: it is not; the text says where, and what was expected.
    """
    try:
        operations = convert(value, _Document).operations
    except ValidationError as error:
        raise ValueError(f"no coverage document: {error}") from None
    return _with_totals(operations)


def merged(documents: Sequence[Coverage]) -> Coverage:
    """Return the coverage of several runs together."""
    merged_points: dict[str, dict[str, _CoveredPoint]] = {}
    for coverage in documents:
        for name, operation in convert(coverage, _Document).operations.items():
            points = merged_points.setdefault(name, {})
            _add_points(points, operation.points)
    operations = {
        name: _CoveredOperation(list(points.values()))
        for name, points in merged_points.items()
    }
    return _with_totals(operations)


def _add_points(
    points: dict[str, _CoveredPoint],
    added: Iterable[_CoveredPoint],
) -> None:
    for point in added:
        if point.point in points:
            points[point.point].covered += point.covered
        else:
            points[point.point] = point


class CoverageRow(NamedTuple):
    """The coverage of one operation."""

    operation: str
    covered: int
    """The number of its points that are covered."""
    points: int
    """The number of all its points."""
    gaps: list[str]


def rows(coverage: Coverage) -> Iterator[CoverageRow]:
    """Iterate over the coverage of the operations."""
    for name, operation in convert(coverage, _Document).operations.items():
        gaps = [gap.point for gap in operation.gaps]
        points = len(operation.points)
        yield CoverageRow(name, points - len(gaps), points, gaps)


# Totals -------------------------------------------------------------------------------


def _with_totals(operations: _Operations) -> Coverage:
    used = {name: operation for name, operation in operations.items() if operation.use}
    whole = _WholeDocument(
        percent=_percent(operations.values()),
        percent_of_used=_percent(used.values()),
        next_gaps=_next_gaps(used),
        operations=operations,
    )
    coverage: Coverage = to_builtins(whole)
    return coverage


def _percent(operations: Iterable[_CoveredOperation]) -> float:
    """Return the percentage of the points that are covered.

    It is rounded down to a tenth: 100 means all.
    """
    number = 0
    gaps = 0
    for operation in operations:
        number += len(operation.points)
        gaps += len(operation.gaps)
    if number == 0:
        return 0.0
    covered = number - gaps
    tenths = covered * 1000 // number
    return tenths / 10


def _next_gaps(used: _Operations) -> list[_Gap]:
    """Return the gaps to close first, each at the operation that is used most."""
    most_used_first = sorted(used, key=lambda name: (-used[name].use, name))
    gaps: dict[str, _Gap] = {}
    for name in most_used_first:
        for gap in used[name].gaps:
            gaps.setdefault(gap.point, _Gap(name, gap.point, gap.closed_by))
    first_gaps = [gaps[point] for point in FIRST_GAPS if point in gaps]
    return first_gaps[:_MAX_NEXT]
