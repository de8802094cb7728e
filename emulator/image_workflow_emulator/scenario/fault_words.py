"""The words for faults under `then`, and what makes a fault of each."""

from collections.abc import Callable, Mapping
from typing import Final

from image_workflow_emulator.scenario.client_faults import ClientFault
from image_workflow_emulator.scenario.faults import Fault
from image_workflow_emulator.scenario.network_faults import network_fault
from image_workflow_emulator.scenario.service_faults import (
    DeprecatedFault,
    HoldFault,
    ProblemFault,
)

FAULTS: Final[Mapping[str, Callable[..., Fault]]] = {
    "problem": ProblemFault,
    "hold": HoldFault,
    "network": network_fault,
    "deprecated": DeprecatedFault,
    "client": ClientFault,
}
"""The makers of the faults of rules about requests, from a value and options, by the
word under `then`."""
