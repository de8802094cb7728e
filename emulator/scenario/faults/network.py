"""How a file spells what happens on the wire: `network: KIND` or `network: {latency: SPAN}`."""

from typing import cast

from emulator.documents.values import parse_span_ms
from emulator.scenario.faults.base import Fault, Then
from emulator.scenario.faults.latency import LatencyFault
from emulator.scenario.faults.loss import LossFault, LossKind


def read_network(then: Then) -> Fault:
    """Read `network` with `at`."""
    given, at = then["network"], then.get("at", "before_commit")
    if isinstance(given, str):
        return LossFault(cast(LossKind, given), at)
    return LatencyFault(parse_span_ms(given["latency"]), at)
