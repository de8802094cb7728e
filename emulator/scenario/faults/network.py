"""How a file spells what happens on the wire: `network: KIND` or `network: {latency: SPAN}`."""

from typing import Final

from emulator.documents.yaml_nodes import MappingNode
from emulator.scenario.faults.base import Fault
from emulator.scenario.faults.latency import LatencyFault
from emulator.scenario.faults.loss import LOSS_KINDS, LossFault
from emulator.scenario.faults.spelling import Then, read_moment
from emulator.scenario.reading import Cursor

NETWORK_KINDS: Final = ("latency", *LOSS_KINDS)


def read_network(then: Then) -> Fault | None:
    """Read `network` with `at`."""
    then.fields.refuse(["retry_after", "detail"], '"at" alone beside "network"')
    at = read_moment(then.fields)
    cursor = then.fields.cursors["network"]
    if isinstance(cursor.node, MappingNode):
        fields = cursor.fields(("latency",), required=("latency",))
        return LatencyFault(fields.get("latency", Cursor.duration_ms, 0), at)
    found = cursor.word(LOSS_KINDS, also=", or a mapping such as {latency: 250ms}")
    return next((LossFault(kind, at) for kind in LOSS_KINDS if kind == found), None)
