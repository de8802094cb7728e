"""`hold: SPAN`: the request stays in admission, so that a second one with its key is answered 409 (D13)."""

from typing import Final, Self

from emulator.documents.values import parse_span_ms
from emulator.scenario.faults.base import Fault, FaultContext, FaultProgress, FaultSpelling, Then


class HoldFault(Fault, frozen=True):
    """The request stays in admission for a span of emulator time, in milliseconds."""

    duration_ms: int

    async def admission(self, context: FaultContext) -> None:
        """Hold it."""
        if self.duration_ms:
            await context.hold(self.duration_ms)

    def did(self, progress: FaultProgress) -> str:
        """Say whether it was held."""
        span = f"it in admission for {self.duration_ms} ms of emulator time"
        if not progress.is_complete:
            return f"keeps {span}, once it is there"
        return (
            f"kept {span}"
            if progress.has_rule_acted
            else "did nothing: the request was answered before it could be held"
        )

    @classmethod
    def read(cls, then: Then) -> Self:
        """Read `hold: 10s`."""
        return cls(parse_span_ms(then["hold"]))


SPELLING: Final = FaultSpelling(
    "hold",
    HoldFault.read,
    {
        "description": "The request stays in admission for this span of emulator time; a second one with its key gets "
        "409 idempotency_in_progress.",
        "$ref": "#/$defs/duration",
    },
)
