"""The words of faults under `then` of a rule: a new fault is one more case."""

from image_workflow_emulator.documents.values import optional, parse_span_ms, parse_speed, parse_whole_number
from image_workflow_emulator.kernel.timestamps import parse_timestamp
from image_workflow_emulator.scenario.faults.deprecated import DeprecatedFault
from image_workflow_emulator.scenario.faults.fault import NO_FAULT, Fault, Then
from image_workflow_emulator.scenario.faults.hold import HoldFault
from image_workflow_emulator.scenario.faults.latency import LatencyFault
from image_workflow_emulator.scenario.faults.loss import LossFault
from image_workflow_emulator.scenario.faults.problem import ProblemFault
from image_workflow_emulator.scenario.faults.rate import RateFault


def read_fault(then: Then) -> Fault:
    """Read what happens to a request; the schema ensures that there is one fault."""
    at = then.get("at", "before_commit")
    match then:
        case {"problem": code}:
            return ProblemFault(code, optional(then, "retry_after", parse_whole_number), then.get("detail"), at)
        case {"hold": span}:
            return HoldFault(parse_span_ms(span))
        case {"network": {"latency": span}}:
            return LatencyFault(parse_span_ms(span), at)
        case {"network": {"rate": speed}}:
            return RateFault(parse_speed(speed))
        case {"network": kind}:
            return LossFault(kind, at)
        case {"deprecated": given}:
            return DeprecatedFault(optional(given, "sunset", parse_timestamp), given.get("link"))
    return NO_FAULT
