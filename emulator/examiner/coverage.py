"""Coverage: of what the contract declares and the service can do, what clients have covered, as one document.

Documents of several sandboxes, processes and shards are merged into one. Must not know how a point is covered.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from emulator.contract import Contract
from emulator.examiner.closing import Closing
from emulator.examiner.points import Point, all_points

Coverage = dict[str, Any]
"""`percent`, and `operations`: by operation id (and `upload`, `download`) its `points`."""
_MAX_COUNT: Final = 2**53


def document(contract: Contract, closing: Closing, covered: Mapping[Point, int]) -> Coverage:
    """Return the coverage document of some counts."""
    operations = {
        name: {
            "points": [
                {"point": point, "met": covered.get((name, point), 0), "closed_by": dict(closing.of(name, point))}
                for point in points
            ]
        }
        for name, points in all_points(contract).items()
    }
    return {"percent": percent(operations), "operations": operations}


def percent(operations: Mapping[str, Any]) -> float:
    """Return the percentage of the points that are covered, rounded down to a tenth: 100 means all."""
    points = [point["met"] > 0 for operation in operations.values() for point in operation["points"]]
    return len([met for met in points if met]) * 1000 // len(points) / 10 if points else 0.0


def merged(documents: Sequence[Coverage]) -> Coverage:
    """Return the coverage of several runs together."""
    operations: dict[str, dict[str, dict[str, Any]]] = {}
    for one in documents:
        for name, operation in one["operations"].items():
            points = operations.setdefault(name, {})
            for point in operation["points"]:
                known = points.setdefault(point["point"], {**point, "met": 0})
                known["met"] += point["met"]
    listed = {name: {"points": list(points.values())} for name, points in operations.items()}
    return {"percent": percent(listed), "operations": listed}


def read(value: object) -> Coverage:
    """Check that a JSON value is a coverage document, and return it.

    Raises:
        ValueError: it is not; the text says where, and what was expected.
    """
    try:
        document = convert(value, _Document)
    except ValidationError as error:
        raise ValueError(f"no coverage document: {error}") from None
    operations: dict[str, Any] = to_builtins(document.operations)
    return {"percent": percent(operations), "operations": operations}


class _Point(Struct):
    point: str
    met: Annotated[int, Meta(ge=0, le=_MAX_COUNT)]
    closed_by: dict[str, Any]


class _Points(Struct):
    points: list[_Point]


class _Document(Struct):
    operations: dict[str, _Points]


def rows(coverage: Coverage) -> Iterator[tuple[str, int, int, list[str]]]:
    """Iterate over the operations: name, number of covered points, number of points, and the gaps."""
    for name, operation in coverage["operations"].items():
        points = operation["points"]
        gaps = [point["point"] for point in points if not point["met"]]
        yield name, len(points) - len(gaps), len(points), gaps
