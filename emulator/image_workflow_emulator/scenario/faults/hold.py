"""`hold: SPAN`: the request stays in admission, so that a second one with its key is answered 409 (D13)."""

from image_workflow_emulator.scenario.faults.fault import Fault, FaultContext


class HoldFault(Fault, frozen=True):
    """The request stays in admission for a span of emulator time, in milliseconds."""

    duration_ms: int

    async def admission(self, context: FaultContext) -> None:
        """Hold it."""
        if self.duration_ms:
            await context.hold(self.duration_ms)
