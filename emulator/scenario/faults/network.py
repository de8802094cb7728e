"""How a file spells what happens on the wire: `network: KIND` or `network: {latency: SPAN}` or `network: {rate: SIZE}`."""

from typing import cast

from emulator.documents.values import parse_span_ms, parse_speed
from emulator.scenario.faults.base import Fault, Then
from emulator.scenario.faults.latency import LatencyFault
from emulator.scenario.faults.loss import LossFault, LossKind
from emulator.scenario.faults.rate import RateFault


def read_network(then: Then) -> Fault:
    """Read `network` with `at`."""
    given, at = then["network"], then.get("at", "before_commit")
    if isinstance(given, str):
        return LossFault(cast(LossKind, given), at)
    if "rate" in given:
        return RateFault(parse_speed(given["rate"]))
    return LatencyFault(parse_span_ms(given["latency"]), at)
