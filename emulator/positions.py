"""Places in files: where in a text something stands. A leaf of its own, so that data can carry one without a parser."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file, counted from 1; line 0 means that there is none (the data came without its text)."""

    line: int = 0
    column: int = 0


NOWHERE: Final = Position()
