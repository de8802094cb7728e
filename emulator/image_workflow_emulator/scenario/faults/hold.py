"""`hold: SPAN`: the request stays in admission, so that a second one with its key is answered 409 (D13)."""

from typing import Self

from image_workflow_emulator.documents.values import parse_span_ms
from image_workflow_emulator.scenario.faults.fault import Fault, FaultContext, Then


class HoldFault(Fault, frozen=True):
    """The request stays in admission for a span of emulator time, in milliseconds."""

    duration_ms: int

    @classmethod
    def read(cls, then: Then) -> Self:
        """Read the mapping under `then`."""
        return cls(parse_span_ms(then["hold"]))

    async def admission(self, context: FaultContext) -> None:
        """Hold it."""
        if self.duration_ms:
            await context.hold(self.duration_ms)
