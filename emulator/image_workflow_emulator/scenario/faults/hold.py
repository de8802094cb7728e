"""`hold: SPAN`: the request stays in admission, so that a second one with its key is answered 409 (D13)."""

from typing import Final

from image_workflow_emulator.documents.values import parse_span_ms
from image_workflow_emulator.scenario.faults.fault import Fault, FaultContext, Word, value_of


class HoldFault(Fault, frozen=True):
    """The request stays in admission for a span of emulator time, in milliseconds."""

    duration_ms: int

    async def admission(self, context: FaultContext) -> None:
        """Hold it."""
        if self.duration_ms:
            await context.hold(self.duration_ms)


_HELD: Final = "Stay in admission for this span of emulator time; a second request with the key gets 409."
HOLD: Final = Word("hold", value_of("duration", _HELD), lambda then: HoldFault(parse_span_ms(then["hold"])))
