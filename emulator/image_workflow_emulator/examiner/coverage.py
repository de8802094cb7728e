"""Coverage: of what the contract declares and the service can do, what clients have covered, as one document.

Documents of several sandboxes, processes and shards are merged into one. Must not know how a point is covered.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.examiner.points import WORDS, Point, all_points, closed_by

Coverage = dict[str, Any]
"""`percent` of the contract, `percent_of_used` of the operations that were used, `next_gaps`, and `operations`: by
operation id (and `upload`, `download`) its `points`."""
_MAX_NEXT: Final = 3
_MAX_COUNT: Final = 2**53


def document(contract: Contract, covered: Mapping[Point, int]) -> Coverage:
    """Return the coverage document of some counts."""
    operations = {
        name: {
            "points": [
                _point(point, covered.get((name, point), 0), closed_by(name, point))
                for point in points
            ]
        }
        for name, points in all_points(contract).items()
    }
    return _with_totals(operations)


def _point(name: str, number: int, closing: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "point": name,
        "covered": number,
        "met": number,
        "closed_by": closing,
    }  # the same number by two names


def _with_totals(operations: Mapping[str, Any]) -> Coverage:
    used = {
        name: one
        for name, one in operations.items()
        if any(point["covered"] for point in one["points"])
    }
    return {
        "percent": percent(operations),
        "percent_of_used": percent(used),
        "next_gaps": _next_gaps(used),
        "operations": operations,
    }


def _next_gaps(used: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the gaps to close first, no kind of point twice, each at the operation that is used most."""
    gaps: dict[str, dict[str, Any]] = {}
    use = {
        name: sum(point["covered"] for point in operation["points"])
        for name, operation in used.items()
    }
    for name in sorted(use, key=lambda name: (-use[name], name)):
        for point in used[name]["points"]:
            if not point["covered"]:
                gap = {
                    "operation": name,
                    "point": point["point"],
                    "closed_by": point["closed_by"],
                }
                gaps.setdefault(point["point"], gap)
    return [gaps[point] for point in WORDS["first_gaps"] if point in gaps][:_MAX_NEXT]


def percent(operations: Mapping[str, Any]) -> float:
    """Return the percentage of the points that are covered, rounded down to a tenth: 100 means all."""
    points = [
        point["covered"] > 0
        for operation in operations.values()
        for point in operation["points"]
    ]
    return sum(points) * 1000 // len(points) / 10 if points else 0.0


def merged(documents: Sequence[Coverage]) -> Coverage:
    """Return the coverage of several runs together."""
    operations: dict[str, dict[str, dict[str, Any]]] = {}
    for one in documents:
        for name, operation in one["operations"].items():
            points = operations.setdefault(name, {})
            for point in operation["points"]:
                known = points.setdefault(
                    point["point"], _point(point["point"], 0, point["closed_by"])
                )
                known["covered"] = known["met"] = known["met"] + point["met"]
    return _with_totals(
        {name: {"points": list(points.values())} for name, points in operations.items()}
    )


def read(value: object) -> Coverage:
    """Check that a JSON value is a coverage document, and return it.

    Raises:
        ValueError: it is not; the text says where, and what was expected.
    """
    try:
        document = convert(value, _Document)
    except ValidationError as error:
        raise ValueError(f"no coverage document: {error}") from None
    return merged([to_builtins(document)])


class _Point(Struct):
    point: str
    met: Annotated[int, Meta(ge=0, le=_MAX_COUNT)]  # files of every version have it
    closed_by: dict[str, Any]


class _Document(Struct):
    operations: dict[str, dict[Literal["points"], list[_Point]]]


def rows(coverage: Coverage) -> Iterator[tuple[str, int, int, list[str]]]:
    """Iterate over the operations: name, number of covered points, number of points, and the gaps."""
    for name, operation in coverage["operations"].items():
        points = operation["points"]
        gaps = [point["point"] for point in points if not point["covered"]]
        yield name, len(points) - len(gaps), len(points), gaps
