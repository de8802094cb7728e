"""The limits of one document, however it is written, and the count that keeps to them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from image_workflow_emulator.documents.complaints import (
    Position,
    error_at,
)

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 32
"""Limit of the levels of arrays and objects; a scalar is on the level of its holder."""
MAX_VALUES: Final = 20_000
"""Limit of the values, those behind an alias counted each time it is used.

So many values are read in 0.1 s.
"""

JsonValue: TypeAlias = (
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
)


class DocumentSize:
    """Counts the values of one document, and refuses more of them than the limit."""

    def __init__(self, file: str) -> None:
        """`file` is the name of the document in a complaint."""
        self._file = file
        self.values = 0

    def add_value(self, depth: int, position: Position) -> None:
        """Count a value on a level. Raises DocumentError beyond a limit."""
        self.values += 1
        self.check(self.values, depth, position)

    def add_all(self, data: JsonValue, depth: int = 0) -> None:
        """Count parsed data with all that is in it. Raises DocumentError."""
        inner = inner_values(data)
        if inner is None:  # a scalar
            self.add_value(depth, Position())
            return
        self.add_value(depth + 1, Position())
        for value in inner:
            self.add_all(value, depth + 1)

    def check(
        self,
        values: int,
        depth: int,
        position: Position,
    ) -> None:
        """Refuse a number of values or a depth beyond the limit.

        Raises:
            DocumentError: at this position of the file.
        """
        if depth > MAX_DEPTH:
            found = "arrays and objects nested too deeply"
            raise error_at(self._file, position, found, f"at most {MAX_DEPTH} levels")
        if values > MAX_VALUES:
            found = f"more than {MAX_VALUES} values"
            raise error_at(self._file, position, found, "a smaller document")


def inner_values(data: JsonValue) -> Iterable[JsonValue] | None:
    """Return the values directly within data; None for a scalar."""
    if isinstance(data, Mapping):
        return data.values()
    if isinstance(data, list | tuple):
        return data
    return None


def has_more_values(data: JsonValue, limit: int) -> bool:
    """Tell whether data has more values than a limit, itself and all within counted."""
    values = 0
    waiting = [data]
    while waiting and values <= limit:
        values += 1
        inner = inner_values(waiting.pop())
        if inner is not None:
            waiting.extend(inner)
    return values > limit
