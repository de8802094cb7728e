"""How a file spells what happens on the wire: `network: KIND` or `network: {latency: SPAN}` or `network: {rate: SIZE}`."""

from typing import Final, cast, get_args

from emulator.documents.values import parse_span_ms, parse_speed
from emulator.scenario.faults.base import MOMENT_SCHEMA, Fault, FaultSpelling, Then
from emulator.scenario.faults.latency import LatencyFault
from emulator.scenario.faults.loss import LossFault, LossKind
from emulator.scenario.faults.rate import RateFault


def _read(then: Then) -> Fault:
    """Read `network` with `at`."""
    given, at = then["network"], then.get("at", "before_commit")
    if isinstance(given, str):
        return LossFault(cast(LossKind, given), at)
    if "rate" in given:
        return RateFault(parse_speed(given["rate"]))
    return LatencyFault(parse_span_ms(given["latency"]), at)


_KINDS: Final = get_args(LossKind)

SPELLING: Final = FaultSpelling(
    "network",
    _read,
    {
        "description": "What happens on the wire, in real time.",
        "oneOf": [
            {
                "description": "reset: the connection breaks off. truncate: the body stops half way, or an answer "
                "without a body does not come. stall: no answer is ever sent. garbage: the body is not JSON.",
                "enum": list(_KINDS),
            },
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["latency"],
                "properties": {
                    "latency": {"description": "The true answer comes this much later.", "$ref": "#/$defs/duration"}
                },
            },
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["rate"],
                "properties": {
                    "rate": {
                        "description": "The speed at which the answer is sent, and at which the bytes of an upload are "
                        "received, in bytes a second.",
                        "$ref": "#/$defs/speed",
                    }
                },
            },
        ],
        "x-expected": f"one of {', '.join(_KINDS)}, or an object such as {{latency: 250ms}} or {{rate: 64KiB}}",
    },
    options={"at": MOMENT_SCHEMA},
    value_of_bytes={},
)
