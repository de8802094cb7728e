"""The faults by their word in a scenario file."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from emulator.scenario.faults.base import Fault, Then
from emulator.scenario.faults.deprecated import DeprecatedFault
from emulator.scenario.faults.hold import HoldFault
from emulator.scenario.faults.network import read_network
from emulator.scenario.faults.problem import ProblemFault

FAULTS: Final[Mapping[str, Callable[[Then], Fault]]] = MappingProxyType(
    {
        "problem": ProblemFault.read,
        "hold": HoldFault.read,
        "network": read_network,
        "deprecated": DeprecatedFault.read,
    }
)
"""The readers of faults, by their word under `then`."""


def read_fault(then: Then) -> Fault:
    """Read what happens to a request; the schema ensures that there is one fault."""
    return next(read(then) for word, read in FAULTS.items() if word in then)
