"""The faults by their word in a scenario file: a new fault is one more row."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from emulator.scenario.faults import deprecated, hold, network, problem
from emulator.scenario.faults.base import Fault, FaultSpelling, Then

_ROWS: Final = (problem.SPELLING, hold.SPELLING, network.SPELLING, deprecated.SPELLING)

FAULTS: Final[Mapping[str, FaultSpelling]] = MappingProxyType({row.word: row for row in _ROWS})
"""The spellings of faults, by their word under `then`."""


def read_fault(then: Then) -> Fault:
    """Read what happens to a request; the schema ensures that there is one fault."""
    return next(spelling.read(then) for word, spelling in FAULTS.items() if word in then)
