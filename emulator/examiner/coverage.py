"""Coverage: of what the contract declares and the service can do, what clients have covered, as one document.

Documents of several sandboxes, processes and shards are merged into one. Must not know how a point is covered.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from emulator.contract import Contract
from emulator.examiner.closing import Closing
from emulator.examiner.points import Point, all_points

Coverage = dict[str, Any]
"""`percent`, and `operations`: by operation id (and `upload`, `download`) its `points`."""
_MAXIMUM_MET: Final = 2**53


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
    _check(isinstance(value, dict) and isinstance(value.get("operations"), dict), "", "an object with operations")
    assert isinstance(value, dict)
    for name, operation in value["operations"].items():
        points = operation.get("points") if isinstance(operation, dict) else None
        _check(isinstance(points, list), f"/operations/{name}", "an object with points")
        assert points is not None
        for index, point in enumerate(points):
            _check(
                _is_point(point), f"/operations/{name}/points/{index}", "a point, how often it was met, what closes it"
            )
    return {"percent": percent(value["operations"]), "operations": value["operations"]}


def _is_point(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("point"), str)
        and type(value.get("met")) is int
        and 0 <= value["met"] <= _MAXIMUM_MET
        and isinstance(value.get("closed_by"), dict)
    )


def _check(holds: bool, where: str, expected: str) -> None:
    if not holds:
        raise ValueError(f"{where or '(the file)'}: expected {expected}")


def rows(coverage: Coverage) -> Iterator[tuple[str, int, int, list[str]]]:
    """Iterate over the operations: name, number of covered points, number of points, and the gaps."""
    for name, operation in coverage["operations"].items():
        points = operation["points"]
        gaps = [point["point"] for point in points if not point["met"]]
        yield name, len(points) - len(gaps), len(points), gaps
