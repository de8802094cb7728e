"""Values as a JSON body may hold them where something else is expected, and small changes to a good one."""

import copy
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 0.5, -0.0, 1e308, 2**31, 2**53, 2**63 - 1, -(2**63), 2**64 - 1, "", " ", "x", "0",
    "1", "-1", "on", "off", "null", "a\0b", "\u202e", "\U0001f457", "\uffff", "x" * 300, "x" * 9_000,
    "../../etc/passwd", "%00", "{}", "$ref", "__proto__", "1e999", "NaN", "'; --", "\r\nSet-Cookie: a=b", "\x7f", "*",
    [], [[]], [None], [1, 1], {}, {"a": 1}, {"": {}}, [{}] * 50, {"type": "automatic"}, {"use": "x"},
    "2026-01-01T00:00:00.000Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z", "10000-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z", "2026-01-01", "now", "x60", "x1e9", "x-1", "1s", "1000000d", "-1s", "0s",
)  # fmt: skip

Path = tuple[str | int, ...]


def places(value: Any, here: Path = ()) -> Iterator[Path]:
    """Go through the paths of all that is in a value; the way to an item of an array is its index."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inner:
        yield (*here, step)
        yield from places(item, (*here, step))


def at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Any, chance: Random, odd: Sequence[Any] = ODD, times: int = 1) -> Any:
    """Return a copy of a value with some changes: items replaced, left out, doubled, renamed, or put elsewhere."""
    value = copy.deepcopy(value)
    for _ in range(times):
        found = list(places(value))
        if not found:
            return copy.deepcopy(chance.choice(odd))
        path = chance.choice(found)
        _change(value, path, chance, odd, found)
    return value


def _change(value: Any, path: Path, chance: Random, odd: Sequence[Any], found: list[Path]) -> None:
    parent, step = at(value, path[:-1]), path[-1]
    old = parent[step]
    match chance.randrange(7):
        case 0 | 1:
            parent[step] = copy.deepcopy(chance.choice(odd))
        case 2:
            parent[step] = copy.deepcopy(chance.choice([other for other in odd if type(other) is type(old)] or odd))
        case 3:
            del parent[step]
        case 4 if isinstance(parent, list):
            parent.insert(int(step), copy.deepcopy(old))
        case 5 if isinstance(parent, dict):
            parent[chance.choice(("x", "", "name", str(step) + "s", str(step).upper()))] = copy.deepcopy(old)
        case _:
            parent[step] = copy.deepcopy(at(value, chance.choice(found)))
